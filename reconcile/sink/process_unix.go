//go:build unix

package sink

import (
	"os"
	"syscall"
)

// ownGroup starts a command in a process group of its own, so that what it has
// started can be killed with it.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
