package gitrepo_test

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/must"
)

// A full disk is told as one, and nothing is thrown away for it.
func TestFetchToAFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "disk")
	must.Do(t, os.Mkdir(dir, 0o700))
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=400k"); err != nil {
		t.Skipf("a disk to fill takes the right to mount one: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	s := &store{Repository: gittest.New(t), t: t, dir: filepath.Join(dir, "store")}
	first := s.Commit("a.cue", "a: 1\n")
	s.source = gitrepo.Source{URL: s.HTTP("", ""), Ref: "refs/heads/main"}
	fetch(t, s.open(), s.source)
	before := s.listing()
	s.Commit("noise.bin", noise(t, 600<<10))
	for range 2 {
		_, err := s.open().Fetch(t.Context(), s.source)
		wantError(t, err, gitrepo.ErrStore, "the disk is full")
	}
	s.fill(dir)
	for range 2 {
		_, err := s.open().Fetch(t.Context(), s.source)
		wantError(t, err, gitrepo.ErrStore, "the disk is full")
	}
	if got := content(t, s.open(), first, "a.cue"); got != "a: 1\n" {
		t.Errorf("a.cue is %q", got)
	}
	if after := s.listing(); after != before {
		t.Errorf("the store was\n%sand is\n%s", before, after)
	}
	// Damaged and full: told as full, and still not thrown away.
	s.one("objects/pack/*.pack", cut)
	before = s.listing()
	_, err := s.open().Fetch(t.Context(), s.source)
	wantError(t, err, gitrepo.ErrStore, "the disk is full")
	if after := s.listing(); after != before {
		t.Errorf("the store was\n%sand is\n%s", before, after)
	}
	must.Do(t, os.Remove(filepath.Join(dir, "filler")))
	s.awaitRoom(dir)
	s.Git("reset", "-q", "--hard", first)
	if got := s.fetched(); !got.Rebuilt || got.Commit != first {
		t.Errorf("with room again: fetched %+v", got)
	}
}

// awaitRoom waits until files are closed that were deleted: the library forgets
// to close the packs that it failed to write. A worker ends.
func (s *store) awaitRoom(dir string) {
	s.t.Helper()
	for range 500 {
		var disk syscall.Statfs_t
		must.Do(s.t, syscall.Statfs(dir, &disk))
		if disk.Bavail*uint64(disk.Bsize) > 300<<10 {
			return
		}
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatal("the disk stays full")
}

// fill leaves no room on a disk.
func (s *store) fill(dir string) {
	s.t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	must.Do(s.t, err)
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 512))
	}
}
