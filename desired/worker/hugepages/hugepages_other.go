//go:build !linux

package hugepages

const wanted, unwanted = 0, 0

func advise(_, _, _ uintptr) {}
