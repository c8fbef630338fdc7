package worker

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/seawall-dev/seawall/desired/failure"
)

// The Go runtime's last words. There is no other way to tell these ends apart:
// all are exit status 2.
var (
	stackWords  = []string{"stack exceeds", "stack overflow"}
	memoryWords = []string{
		"out of memory", "cannot allocate memory", "failed to reserve", "cannot map pages",
		"failed to create new OS thread", "pthread_create failed", "failed to allocate",
	}
)

// diagnose reads from a child's remains why it died on its own.
func (s *session) diagnose(exit error) *BoundError {
	words := s.stderr.String()
	said := func(word string) bool { return strings.Contains(words, word) }
	switch {
	case slices.ContainsFunc(stackWords, said):
		return s.tripped(BoundStack, failure.Bytes(s.limits.Stack))
	case slices.ContainsFunc(memoryWords, said):
		return s.tripped(BoundMemory, failure.Bytes(s.limits.Memory))
	case s.killedByKernel():
		return s.tripped(BoundKilled, "the machine or the container has no memory left")
	case exit == nil:
		return s.tripped(BoundCrash, "it ended without an answer")
	}
	return s.tripped(BoundCrash, exit.Error())
}

// killedByKernel: a SIGKILL that is not ours is the kernel's when the machine,
// or the container, is out of memory.
func (s *session) killedByKernel() bool {
	if s.cmd.ProcessState == nil {
		return false
	}
	status, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// excerpt keeps the beginning and the end of what is written to it: a Go
// process says what is wrong at the beginning, other programs at the end.
type excerpt struct {
	mu   sync.Mutex
	head []byte
	tail []byte
	lost bool
}

const excerptPart = 4 << 10

func (e *excerpt) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(p)
	room := min(excerptPart-len(e.head), len(p))
	e.head = append(e.head, p[:room]...)
	e.tail = append(e.tail, p[room:]...)
	if over := len(e.tail) - excerptPart; over > 0 {
		e.tail = bytes.Clone(e.tail[over:])
		e.lost = true
	}
	return n, nil
}

func (e *excerpt) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	gap := ""
	if e.lost {
		gap = "\n…\n"
	}
	return strings.ToValidUTF8(string(e.head)+gap+string(e.tail), "�")
}
