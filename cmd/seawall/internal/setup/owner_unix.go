//go:build unix

package setup

import (
	"io/fs"
	"os"
	"syscall"
)

// OwnerOf returns the user and the group of a file; false where the system knows none.
func OwnerOf(info fs.FileInfo) (uid, gid int, links uint64, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, 0, false
	}
	return int(stat.Uid), int(stat.Gid), uint64(stat.Nlink), true //nolint:unconvert // it has other types on other systems
}

// OthersWrite reports whether someone other than this user and root may write to a
// file.
func OthersWrite(info fs.FileInfo) bool {
	uid, _, _, ok := OwnerOf(info)
	return info.Mode().Perm()&0o022 != 0 || ok && uid != 0 && uid != os.Geteuid()
}

// FreeBytes returns how much a user may still write to the file system of a folder.
func FreeBytes(dir string) (uint64, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return 0, err
	}
	return uint64(stat.Bavail) * uint64(stat.Bsize), nil //nolint:unconvert // they have other types on other systems
}
