//go:build !linux

package sandbox

// Here is what this machine offers: nothing, for it is not Linux.
func Here() Support { return Support{} }
