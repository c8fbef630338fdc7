package heap

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

// StopLargePages is for a process that runs for days: its heap shrinks and grows, and would keep whole
// large pages for the little that is left in them. What it allocates from now on gets none.
func StopLargePages() { advise(start, size, unwanted) }
