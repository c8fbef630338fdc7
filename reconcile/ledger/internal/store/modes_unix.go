//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"io/fs"
	"os"
	"syscall"
)

// othersMayWrite reports whether anybody but the owner, and root, may write to a file.
func othersMayWrite(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }

// othersMayEnter reports whether anybody but the owner, and root, may put files into a
// folder. A group that has the number of the owner, or of this process, is taken for that
// user's own: as useradd makes it, and as fsGroup has it on the volumes of Kubernetes,
// which belong to root.
func othersMayEnter(info fs.FileInfo) bool {
	if !othersMayWrite(info) || info.Mode().Perm()&0o002 != 0 {
		return othersMayWrite(info)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || stat.Gid != stat.Uid && int(stat.Gid) != os.Geteuid()
}
