package worker

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitProcess bounds the address space, and keeps credentials out of core files.
func limitProcess(addressSpace uint64) error {
	// Where memory runs out the kernel ends a worker, and not the daemon.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0o600) // without /proc it chooses by size
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return err
	}
	if addressSpace == 0 {
		return nil
	}
	var has syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &has); err != nil {
		return err
	}
	addressSpace = min(addressSpace, has.Max) // LimitAS of a unit may be below
	return syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: addressSpace, Max: addressSpace})
}

// awaitExit returns when the child has ended, and leaves it to be waited for;
// it is false when that cannot be done.
func awaitExit(p *os.Process) bool {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}
