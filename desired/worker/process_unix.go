//go:build unix

package worker

import (
	"os"
	"syscall"
)

// ownGroup lets the child be killed with all that it starts. The kernel could
// also kill the child at its parent's death, but then the child could not take
// its own children along; see dieWithParent.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) } // gone is fine

// killOwnGroup ends this process with all that it started. A process that
// leads no group of its own was not started by a Runner and spares the others.
func killOwnGroup() {
	if syscall.Getpgrp() == os.Getpid() {
		_ = syscall.Kill(0, syscall.SIGKILL)
	}
}
