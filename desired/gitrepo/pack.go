package gitrepo

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// compact writes one pack of all that the store's refs reach and deletes the
// packs it replaces. (go-git has such a method, which fails for repositories
// with submodules and for cut histories.) Readers that lose a pack under
// their hands look again; see [Tree]. The new pack takes at most room, in bytes.
func (r *Repo) compact(st packFiles, old []plumbing.Hash, room int64) error {
	cut, err := isShallow(st)
	if err != nil {
		return err
	}
	tips, err := tips(st.Storage)
	if err != nil {
		return err
	}
	hashes, err := reachable(st.Storage, tips, cut)
	if err != nil {
		return err
	}
	tags, err := keptTags(st.Storage)
	if err != nil {
		return err
	}
	hashes = append(hashes, tags...)
	if cut {
		// Before the packs go: a store killed in between is cut closer than it need
		// be, but it is whole.
		if err := st.SetShallow(tips); err != nil {
			return err
		}
	}
	pack, err := r.writePack(st, hashes, deltaWindow, room)
	if err != nil {
		return err
	}
	return r.replacePacks(st, old, pack)
}

// writePack writes a pack of objects, of which each is compared with so many others: with none
// where the window is 1, but differences that are there are taken over. The caller holds the lock.
func (r *Repo) writePack(st packStore, hashes []plumbing.Hash, window uint, room int64) (pack plumbing.Hash, err error) {
	w, err := st.PackfileWriter()
	if err != nil {
		return pack, err
	}
	pack, err = packfile.NewEncoder(&roomWriter{w, room}, st, false).Encode(hashes, window)
	if err = errors.Join(err, w.Close()); err != nil {
		removeParts(r.dir) // the library leaves them, and a stamp is not to list them
	}
	return pack, err
}

var errNoSpace = errors.New("the store has no room for a compaction")

// roomWriter fails when it is full.
type roomWriter struct {
	w    io.Writer
	room int64
}

func (r *roomWriter) Write(p []byte) (int, error) {
	if r.room -= int64(len(p)); r.room < 0 {
		return 0, errNoSpace
	}
	return r.w.Write(p)
}

// tips lists the commits that the store's refs name.
func tips(st *filesystem.Storage) ([]plumbing.Hash, error) {
	refs, err := refsBelow(st, "")
	var all []plumbing.Hash
	for _, ref := range refs {
		// What is no commit is of no use here: a tag of a file, say, or the name of a ref.
		if c, err := peel(st, ref.Hash()); err == nil && !slices.Contains(all, c.Hash) {
			all = append(all, c.Hash)
		}
	}
	return all, err
}

// reachable lists the objects below the tips: of their whole history, or,
// where it is cut, of the tips alone. Behind those a cut history may have
// gaps, for the server leaves out what it believes to be here.
func reachable(st *filesystem.Storage, tips []plumbing.Hash, cut bool) ([]plumbing.Hash, error) {
	objects := newReach(st)
	for _, tip := range tips {
		if err := objects.history(tip, cut, func(c *object.Commit) error { return objects.tree(c.TreeHash) }); err != nil {
			return nil, err
		}
	}
	return objects.found, nil
}

// reach collects objects, each once.
type reach struct {
	st    *filesystem.Storage
	seen  map[plumbing.Hash]bool
	found []plumbing.Hash

	mayEnd bool // the history is cut: a commit may be missing
	ends   bool // one is
}

func newReach(st *filesystem.Storage) *reach {
	return &reach{st: st, seen: map[plumbing.Hash]bool{}}
}

func (r *reach) add(h plumbing.Hash) (first bool) {
	if r.seen[h] {
		return false
	}
	r.seen[h] = true
	r.found = append(r.found, h)
	return true
}

// history adds a commit, with its ancestors unless tipOnly, and has each looked at.
func (r *reach) history(start plumbing.Hash, tipOnly bool, look func(*object.Commit) error) error {
	for todo := []plumbing.Hash{start}; len(todo) > 0; {
		h := todo[0] // the newest first: who looks for a commit mostly looks for one nearby
		todo = todo[1:]
		if !r.add(h) {
			continue
		}
		c, err := object.GetCommit(r.st, h)
		if err != nil && r.mayEnd {
			r.ends = true
			continue
		}
		if err != nil {
			return fmt.Errorf("reading commit %s: %w", h, err)
		}
		if err := look(c); err != nil {
			return err
		}
		if !tipOnly {
			todo = append(todo, c.ParentHashes...)
		}
	}
	return nil
}

// tree adds a tree and all below it, and fails where an object is missing.
// Submodules are commits of other repositories and never here.
func (r *reach) tree(h plumbing.Hash) error {
	if !r.add(h) {
		return nil
	}
	t, err := object.GetTree(r.st, h)
	if err != nil {
		return fmt.Errorf("reading tree %s: %w", h, err)
	}
	for _, e := range t.Entries {
		switch e.Mode {
		case filemode.Submodule:
		case filemode.Dir:
			if err := r.tree(e.Hash); err != nil {
				return err
			}
		default:
			if !r.add(e.Hash) {
				continue
			}
			if err := r.st.HasEncodedObject(e.Hash); err != nil {
				return fmt.Errorf("reading blob %s: %w", e.Hash, err)
			}
		}
	}
	return nil
}

func isShallow(st storer.ShallowStorer) (bool, error) {
	cuts, err := st.Shallow()
	return len(cuts) > 0, err
}

// trimShallow records the commits at which the history is cut: those known so
// far and more, as far as they are here and their parents are not.
func trimShallow(st *filesystem.Storage, more []plumbing.Hash) error {
	known, err := st.Shallow()
	if err != nil {
		return err
	}
	var cuts []plumbing.Hash
	for _, h := range append(known, more...) {
		if !slices.Contains(cuts, h) && isCut(st, h) {
			cuts = append(cuts, h)
		}
	}
	if len(known) == 0 && len(cuts) == 0 {
		return nil
	}
	return st.SetShallow(cuts)
}

func isCut(st *filesystem.Storage, h plumbing.Hash) bool {
	c, err := object.GetCommit(st, h)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(c.ParentHashes, func(p plumbing.Hash) bool {
		return st.HasEncodedObject(p) != nil
	})
}
