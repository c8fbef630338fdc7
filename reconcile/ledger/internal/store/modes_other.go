//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package store

import "io/fs"

// othersMayWrite does not know: modes do not tell here.
func othersMayWrite(fs.FileInfo) bool { return false }

// othersMayEnter does not know either.
func othersMayEnter(fs.FileInfo) bool { return false }
