//go:build !linux

package heap

const wanted, unwanted = 0, 0

func advise(_, _, _ uintptr) {}
