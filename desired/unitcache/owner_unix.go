//go:build unix

package unitcache

import (
	"io/fs"
	"os"
	"syscall"
)

func mine(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
