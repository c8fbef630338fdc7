// Package hugepages has the kernel back the heap of this process with pages of 2 MiB. A
// process that lives for seconds and allocates all the time spends a fifth of its time on
// faults for pages of 4 KiB, and Go asks for larger ones only where the administrator has
// set transparent huge pages to "always".
//
// It is for processes that end soon. One that runs for days would keep large pages for
// what little is left of them.
package hugepages

import "runtime"

// heap is how much of the heap gets large pages, in bytes. It is address space; memory is
// taken as the heap grows into it.
const heap = 64 << 20

// Use asks for large pages for what the heap grows into next. Where the kernel has none,
// nothing changes.
func Use() {
	advise(make([]byte, heap)) // Go maps it, and does not touch it
	runtime.GC()               // it is free again, and still advised
}
