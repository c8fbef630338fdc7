//go:build unix

package unitcache

import (
	"io/fs"
	"os"
	"syscall"
	"testing"
)

type owned struct {
	fs.FileInfo
	by int
}

func (o owned) Sys() any { return &syscall.Stat_t{Uid: uint32(o.by)} }

type unknown struct{ fs.FileInfo }

func (unknown) Sys() any { return nil }

func TestMine(t *testing.T) {
	me := os.Geteuid()
	if !mine(owned{by: me}) || mine(owned{by: me + 1}) || mine(unknown{}) {
		t.Error("a folder is ours if it says that we own it, and only then")
	}
}
