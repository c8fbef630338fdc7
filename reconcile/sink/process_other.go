//go:build !unix

package sink

import (
	"os"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return nil }

func killGroup(p *os.Process) error { return p.Kill() }
