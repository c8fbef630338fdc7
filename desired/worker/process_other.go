//go:build !unix

package worker

import (
	"os"
	"syscall"
)

func self() (string, error) { return os.Executable() }

func ownGroup() *syscall.SysProcAttr { return nil }

func limitProcess(uint64) error { return nil }

func awaitExit(*os.Process) bool { return false }

func killGroup(p *os.Process) { _ = p.Kill() }

func killOwnGroup() {}
