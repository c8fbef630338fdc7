package hugepages

import "golang.org/x/sys/unix"

// advise is a wish; see madvise(2), MADV_HUGEPAGE.
func advise(fresh []byte) { _ = unix.Madvise(fresh, unix.MADV_HUGEPAGE) }
