// Package restrict takes from this process what a [sandbox.Policy] does not allow. It is
// apart from the policies because Landlock's library brings C code wherever cgo is on: only
// a program that is a worker itself needs it, and those that merely start workers are linked
// without a C compiler.
package restrict

import (
	"fmt"
	"os"
	"slices"
	"syscall"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/landlock-lsm/go-landlock/landlock"

	"github.com/seawall-dev/seawall/desired/worker/sandbox"
)

// Process restricts this process and all that it starts, for good. Threads that exist
// are restricted, too. An error says that a restriction that the kernel offers was not
// made.
func Process(p sandbox.Policy) error {
	// Landlock opens what it allows; the filter comes after it.
	if sandbox.Here().Landlock > 0 {
		if err := landlock.V7.BestEffort().Restrict(rules(p)...); err != nil {
			return fmt.Errorf("landlock: %w", err)
		}
	}
	if !sandbox.Here().Seccomp {
		return nil
	}
	filter, err := filterOf(p)
	if err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	if err := seccomp.LoadFilter(filter); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}

func rules(p sandbox.Policy) []landlock.Rule {
	// What the Go runtime and its libraries look at, whatever the job.
	allowed := []landlock.Rule{landlock.RWFiles("/dev/null").IgnoreIfMissing(), landlock.ROFiles("/dev/urandom").IgnoreIfMissing()}
	for _, path := range p.Read {
		info, err := os.Stat(path)
		switch {
		case err != nil: // a rule for what is not there allows nothing
		case info.IsDir():
			allowed = append(allowed, landlock.RODirs(path))
		default:
			allowed = append(allowed, landlock.ROFiles(path))
		}
	}
	for _, path := range p.Write {
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case info.IsDir():
			allowed = append(allowed, landlock.RWDirs(path).WithRefer())
		default:
			allowed = append(allowed, landlock.RWFiles(path))
		}
	}
	for _, port := range p.Connect {
		allowed = append(allowed, landlock.ConnectTCP(port))
	}
	return allowed
}

// Calls that no job makes. They change what a process is or sees, or look into others.
var refused = []string{
	"ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd",
	"mount", "umount2", "pivot_root", "chroot", "fsopen", "fsmount", "move_mount", "open_tree", "mount_setattr",
	"unshare", "setns", "bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key",
	"io_uring_setup", "io_uring_enter", "io_uring_register",
	"init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff",
	"setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "capset", "personality",
	"open_by_handle_at", "name_to_handle_at", "acct", "quotactl", "settimeofday", "clock_settime", "adjtimex",
}

// sockets are how a process speaks to others than its parent.
var sockets = []string{"socket", "connect", "bind", "listen", "accept", "accept4", "sendto", "sendmsg", "sendmmsg", "recvfrom", "recvmsg", "recvmmsg"}

var programs = []string{"execve", "execveat"}

func filterOf(p sandbox.Policy) (f seccomp.Filter, err error) {
	names := slices.Clone(refused)
	if len(p.Connect) == 0 {
		names = append(names, sockets...)
	} else {
		names = append(names, "listen", "accept", "accept4")
	}
	if !p.Programs {
		names = append(names, programs...)
	}
	info, err := arch.GetInfo("")
	if err != nil {
		return f, err
	}
	// Not every architecture has every call, nor the library each new one.
	names = slices.DeleteFunc(names, func(name string) bool {
		_, known := info.SyscallNames[name]
		return !known
	})
	return seccomp.Filter{
		NoNewPrivs: true,
		Flag:       seccomp.FilterFlagTSync,
		Policy: seccomp.Policy{
			DefaultAction: seccomp.ActionAllow,
			Syscalls:      []seccomp.SyscallGroup{{Action: seccomp.ActionErrno | seccomp.Action(syscall.EPERM), Names: names}},
		},
	}, nil
}
