// Package hugepages has the kernel back the heap of this process with pages of 2 MiB. A
// command that plans or applies allocates all the time, and faults for pages of 4 KiB then
// take up to a fifth of its CPU. Go asks for large pages only where the administrator has set
// transparent huge pages to "always"; the default of many systems is "madvise".
//
// It is for processes that end soon. The heap of one that runs for days shrinks and grows,
// and would keep whole large pages for the little that is left in them.
package hugepages

import "runtime"

// size is how much of the heap gets large pages, in bytes. It is address space: memory is
// taken as the heap grows into it.
const size = 64 << 20

// Use asks for large pages for what the heap grows into next. Where the kernel has none,
// nothing changes.
func Use() {
	advise(make([]byte, size)) // Go maps so much at once, and does not touch it
	runtime.GC()               // it is free again, and the advice stays
}
