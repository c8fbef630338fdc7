package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/seawall-dev/seawall/desired/gitrepo/internal/integrity"
)

// errDamaged is a store that holds something else than was written to it. It is
// never said of a store that merely cannot be read.
var errDamaged = integrity.ErrDamaged

// The stamp says what the files of a store looked like after everything in them
// was found whole: name, length and time of each. As long as they look like it,
// a fetch looks no further.
const stampFile = "seawall.stamp"

// sound returns errDamaged where the store is damaged. It looks at contents only
// where the files are not those that were found whole before. The caller holds
// the lock.
func (r *Repo) sound() error {
	now, err := integrity.Listing(r.dir)
	if err != nil {
		return storeError("reading", err)
	}
	before, err := os.ReadFile(filepath.Join(r.dir, stampFile))
	if err == nil && string(before) == now {
		return nil
	}
	for line := range strings.Lines(string(before)) {
		name, _, _ := strings.Cut(line, " ")
		if !strings.Contains("\n"+now, "\n"+name+" ") {
			return integrity.Damaged("%s is gone", name)
		}
	}
	return r.inspect()
}

// stamp notes that all of the store is whole.
func (r *Repo) stamp() error {
	now, err := integrity.Listing(r.dir)
	if err != nil {
		return storeError("reading", err)
	}
	return r.replace(stampFile, now)
}

// suspect has the next fetch look at contents: one could not be read, or files are about
// to change. It writes to a file that is there, and needs no right to the folder.
func (r *Repo) suspect() { _ = os.Truncate(Suspects(r.dir), 0) } // gone is fine

// Suspects is the file of a store that its readers write to, when they find damage.
func Suspects(dir string) string { return filepath.Join(dir, stampFile) }

// inspect reads all of the store, and returns errDamaged for what is not as it
// was written: git's files end in their own checksums. It says nothing of
// history that was never fetched.
func (r *Repo) inspect() error {
	if err := r.inspectFiles(); err != nil {
		return err
	}
	if err := r.inspectRefs(); err != nil {
		return damageOr(err)
	}
	return nil
}

// inspectFiles is the part of it that looks at files by themselves.
func (r *Repo) inspectFiles() error {
	if err := integrity.Files(r.dir); err != nil {
		return damageOr(err)
	}
	return nil
}

// damageOr tells damage from a disk or a permission that fails: what cannot be
// read is not known to be damaged.
func damageOr(err error) error {
	var path *fs.PathError
	switch {
	case errors.Is(err, errDamaged):
		return err
	case errors.As(err, &path) && !errors.Is(err, fs.ErrNotExist):
		return storeError("reading", err)
	}
	return integrity.Damaged("%v", err)
}

// inspectRefs looks at what the store's own refs name: the commits with all
// their files, and their history as far as it was fetched. Where that is cut, a
// server may have left out files of the commit fetched last; see [fetch.bring].
func (r *Repo) inspectRefs() error {
	st := openStorage(r.dir)
	cuts, err := st.Shallow()
	if err != nil {
		return err
	}
	for _, cut := range cuts {
		if cut.IsZero() {
			return integrity.Damaged("its list of cuts cannot be read")
		}
	}
	refs, err := refsBelow(st, refOwn)
	if err != nil {
		return err
	}
	found := newReach(st)
	for _, ref := range refs {
		if len(cuts) > 0 && ref.Name() == refFetched {
			continue
		}
		if err := found.inspect(ref, len(cuts) > 0); err != nil {
			return err
		}
	}
	return nil
}

func (r *reach) inspect(ref *plumbing.Reference, cut bool) error {
	if ref.Type() != plumbing.HashReference || ref.Hash().IsZero() {
		return integrity.Damaged("%s cannot be read", ref.Name())
	}
	hash := target(r.st, ref.Hash())
	if err := r.st.HasEncodedObject(hash); err != nil {
		return fmt.Errorf("%s: %w", ref.Name(), err)
	}
	commit, err := object.GetCommit(r.st, hash)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil // it is here, and of another kind: a ref may name anything
	}
	if err != nil {
		return err
	}
	if err := r.tree(commit.TreeHash); err != nil {
		return err
	}
	return r.history(hash, cut, func(*object.Commit) error { return nil })
}

// complete reports whether every object of a commit's tree is in a store.
func complete(st *filesystem.Storage, commit plumbing.Hash) bool {
	c, err := object.GetCommit(st, commit)
	return err == nil && newReach(st).tree(c.TreeHash) == nil
}
