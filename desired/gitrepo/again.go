package gitrepo

import (
	"errors"
	"path/filepath"
	"slices"
	"time"
)

// mostReads and readPause bound how often something is read again, and how long after: the packs
// of a merge go one after the other, within milliseconds.
const (
	mostReads = 5
	readPause = 5 * time.Millisecond // doubled each time
)

// again reads what a store has, and anew where that fails while packs come and go: one may vanish
// under a reader when another process merges some, and a fresh look finds the one that replaced it.
func again[T any](r *Repo, read func() (T, error)) (T, error) {
	for try := range mostReads {
		before := r.packNames()
		got, err := read()
		unread := errors.Is(err, ErrStore) || errors.Is(err, ErrNoCommit) || errors.Is(err, ErrShallow)
		if !unread || try == mostReads-1 || slices.Equal(before, r.packNames()) {
			return got, err
		}
		r.suspectUnread(err)
		time.Sleep(readPause << try)
	}
	panic("the last try returns")
}

// suspectUnread has the next fetch look into the store after an error that is no pack that went:
// of an object that two packs have, a damaged copy may be read first and a good one later.
func (r *Repo) suspectUnread(err error) {
	if errors.Is(err, ErrStore) && !errors.Is(err, errVanished) {
		r.suspect()
	}
}

// packNames are the packs of a store, sorted; none where they cannot be listed.
func (r *Repo) packNames() []string {
	names, _ := filepath.Glob(filepath.Join(r.dir, "objects", "pack", "pack-*.pack"))
	return names
}
