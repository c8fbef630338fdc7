package hugepages

import "syscall"

const (
	wanted   = syscall.MADV_HUGEPAGE
	unwanted = syscall.MADV_NOHUGEPAGE
)

// advise is a wish; see madvise(2).
func advise(start, size, advice uintptr) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, start, size, advice)
}
