//go:build unix

package trusted

import (
	"io/fs"
	"os"
	"syscall"
)

const nonBlocking = syscall.O_NONBLOCK

// othersMayWrite reports whether anybody but the owner, and root, may write. A group that
// has the number of the owner, or of this process, is taken for that user's own: as useradd
// makes it, and as fsGroup has it on the volumes of Kubernetes.
func othersMayWrite(info fs.FileInfo) bool {
	mode := info.Mode().Perm()
	if mode&0o020 == 0 || mode&0o002 != 0 {
		return mode&0o002 != 0
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || stat.Gid != stat.Uid && int(stat.Gid) != os.Geteuid()
}
