package sandbox

import (
	"sync"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// Here is what this machine offers. The kernel is asked once.
var Here = sync.OnceValue(func() Support {
	abi, err := landlockABI()
	if err != nil || abi < landlockRename {
		abi = 0 // not built in, not enabled, forbidden by a container, or too old
	}
	return Support{Landlock: abi, Seccomp: seccomp.Supported()}
})

// landlockABI asks the kernel for its version, as package landlock does.
func landlockABI() (int, error) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, errno
	}
	return int(abi), nil
}
