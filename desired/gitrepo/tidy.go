package gitrepo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seawall-dev/seawall/desired/gitrepo/internal/integrity"
)

// Each fetch that brings something adds a pack, and looking an object up goes
// through all of them.
const (
	fullPacks   = 50        // above this many packs the store is compacted
	deltaWindow = 10        // git's own default
	waitedBytes = 256 << 10 // of packs that are merged while somebody waits
	// grownBy is the part of the largest pack that all others have to take, before a store that
	// takes a third of what it may is compacted; half of what that pack leaves is enough too.
	grownBy = 4
)

// Tidy merges the packs of a store that are small where there are more than a few of these. All
// packs of a store it merges where there are too many, or where it takes a third of what it
// may, and has grown since: what was pushed over is gone then. It is to follow a fetch, after
// its commit was told: it may take as long as that, and its process may die of it. Where
// somebody waits, it compacts only a store with too many packs, and merges what takes a moment:
// packs that come without a pause would be too many soon.
//
// A store that cannot be tidied still serves. What has failed is not tried again for the same
// packs, and the next fetch looks into the store.
func (r *Repo) Tidy(limits FetchLimits, waited bool) error {
	unlock, err := r.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if !r.stamped() {
		return nil // a fetch is to look into it first
	}
	packs, err := openStorage(r.dir).ObjectPacks()
	if err != nil {
		return storeError("reading", err)
	}
	if err := r.tidy(packs, limits.withDefaults().StoreBytes, waited); err != nil {
		return storeError("tidying", err)
	}
	return nil
}

// tidy compacts a store, or merges its small packs. The caller holds the lock.
func (r *Repo) tidy(packs []plumbing.Hash, quota int64, waited bool) error {
	stored, err := r.stored(packs)
	if err != nil {
		return err
	}
	used := usedBytes(r.dir)
	if len(packs) > fullPacks || !waited && used > quota/3 && hasGrown(stored, quota) {
		// One that failed would fail again until there are many more packs, or another largest one.
		attempt := fmt.Sprint(largest(stored).name, len(packs)/fullPacks)
		done, err := r.tryOnce("compaction", attempt, func() error { return r.compact(packsOf(r.dir), packs, quota-used) })
		if done || err != nil { // what it has met, the next fetch looks into
			return err
		}
	}
	room := quota - used
	if waited {
		room = min(room, waitedBytes)
	}
	if small := smallPacks(stored); len(small) > 0 && sum(small) <= room {
		_, err = r.tryOnce("merge", fmt.Sprint(names(small)), func() error { return r.merge(packsOf(r.dir), small, quota-used) })
	}
	return err
}

// makeRoom compacts a store that has no room for what a fetch brings, once for the same packs and
// refs, and reports whether that made any worth a fetch. The caller holds the lock.
func (r *Repo) makeRoom(quota int64) bool {
	removeParts(r.dir) // of what was refused
	st := packsOf(r.dir)
	packs, err := st.ObjectPacks()
	if err != nil {
		return false
	}
	tips, err := tips(st.Storage)
	if err != nil {
		return false
	}
	const worth = 16 // one part in so many of what the store takes
	used := usedBytes(r.dir)
	done, _ := r.tryOnce("room", fmt.Sprint(packs, tips), func() error { return r.compact(st, packs, quota-used) })
	return done && used-usedBytes(r.dir) > used/worth
}

// hasGrown reports whether what came beside the largest pack is a part of it that is worth to
// write all of them again.
func hasGrown(packs []storedPack, quota int64) bool {
	most := largest(packs).bytes
	return sum(packs)-most > min(most/grownBy, (quota-most)/2)
}

func largest(packs []storedPack) (most storedPack) {
	for _, p := range packs {
		if p.bytes > most.bytes {
			most = p
		}
	}
	return most
}

func sum(packs []storedPack) (bytes int64) {
	for _, p := range packs {
		bytes += p.bytes
	}
	return bytes
}

// attemptGlob are the files in which it is noted what was tried last, and not done.
const attemptGlob = "seawall.tried-*"

// begun follows an attempt in its note, once for each time that it has begun, until it has failed.
const begun = " begun"

// tryOnce does what changes the packs of a store, and reports whether it was done. It is noted
// before it begins, and an attempt that has failed is not made again. One that its process has not
// outlived is made once more: the process may have been told to end, or have died of it, and then it
// would die again. Until it is done, the store is suspect.
func (r *Repo) tryOnce(what, attempt string, do func() error) (done bool, err error) {
	note := strings.Replace(attemptGlob, "*", what, 1)
	before, _ := os.ReadFile(filepath.Join(r.dir, note)) // none is as an attempt at something else
	begins := attempt + begun
	switch string(before) {
	case attempt, begins + begun:
		return false, nil
	case begins:
		begins += begun
	}
	if err := r.replace(note, begins); err != nil {
		return false, err
	}
	r.suspect()
	if err = do(); err != nil {
		_ = r.replace(note, attempt) // else it is made once more
	}
	if errors.Is(err, errNoSpace) {
		return false, r.stamp() // nothing has changed
	}
	if err == nil {
		_ = os.Remove(filepath.Join(r.dir, note)) // else the same packs are left alone, if they come again
		err = r.stamp()
	}
	return err == nil, err
}

// stamped reports whether the files of a store are those that were found whole.
func (r *Repo) stamped() bool {
	now, err := integrity.Listing(r.dir)
	if err != nil {
		return false
	}
	before, err := os.ReadFile(filepath.Join(r.dir, stampFile))
	return err == nil && string(before) == now
}
