// Package hugepages has the kernel back the heap of this process with pages of 2 MiB. A
// command allocates all the time until it ends, and faults for pages of 4 KiB then take up to
// a fifth of its CPU. Go asks for large pages only where the administrator has set transparent
// huge pages to "always"; the default of many systems is "madvise".
//
// To link this package is to use it. It imports next to nothing, so that Go initializes it
// before most others: much of what a short command allocates, it allocates before main.
package hugepages

import (
	"runtime"
	"unsafe"
)

// size is how much of the heap gets large pages, in bytes. It is address space: memory is
// taken as the heap grows into it.
const size = 64 << 20

// start is the address of the part of the heap that gets them.
var start uintptr

func init() { //nolint:gochecknoinits // see the package comment
	fresh := make([]byte, size) // Go maps so much at once, and does not touch it
	start = uintptr(unsafe.Pointer(unsafe.SliceData(fresh)))
	advise(start, size, wanted)
	runtime.GC() // it is free again, and the advice stays
}

// Stop is for a process that runs for days: its heap shrinks and grows, and would keep whole
// large pages for the little that is left in them. What it allocates from now on gets none.
func Stop() { advise(start, size, unwanted) }
