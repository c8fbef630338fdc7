package pgtest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Processes are the server, and all that works for it.
func (s *Server) Processes() (pids []int) {
	main := s.process.Process.Pid
	pids = append(pids, main)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", main, main))
	if err != nil {
		return pids
	}
	for _, field := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Pause has the server, and all that works for it, stand still until resume is called: it takes
// connections and answers nothing. The test resumes it at its end.
func (s *Server) Pause(t testing.TB) (resume func()) {
	t.Helper()
	signal := func(with syscall.Signal) {
		for _, pid := range s.Processes() {
			_ = syscall.Kill(pid, with) // one may have ended meanwhile
		}
	}
	signal(syscall.SIGSTOP)
	stopped := true
	resume = func() {
		if stopped {
			stopped = false
			signal(syscall.SIGCONT)
		}
	}
	t.Cleanup(resume)
	return resume
}
