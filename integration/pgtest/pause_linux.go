package pgtest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Pause has the server, and all that works for it, stand still until resume is called: it takes
// connections and answers nothing. The test resumes it at its end.
func (s *Server) Pause(t testing.TB) (resume func()) {
	t.Helper()
	signal := func(with syscall.Signal) {
		main := s.process.Process.Pid
		if err := syscall.Kill(main, with); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", main, main))
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
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
