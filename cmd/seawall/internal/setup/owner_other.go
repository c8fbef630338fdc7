//go:build !unix

package setup

import (
	"errors"
	"io/fs"
)

// OwnerOf knows no owner here.
func OwnerOf(fs.FileInfo) (uid, gid int, links uint64, ok bool) { return 0, 0, 0, false }

// OthersWrite: modes say nothing here about who may write.
func OthersWrite(fs.FileInfo) bool { return false }

// FreeBytes cannot say here.
func FreeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }
