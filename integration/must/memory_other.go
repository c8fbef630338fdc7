//go:build !linux

package must

// InMemory does nothing where temporary files cannot be kept in memory.
func InMemory() (remove func()) { return func() {} }
