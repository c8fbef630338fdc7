package gitrepo

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/moby/sys/atomicwriter"
)

// writeRef points one of our own refs at a commit. go-git would empty the file
// before it writes it, and a process that is killed in between leaves a store
// that cannot be read; so the file is replaced whole.
func (r *Repo) writeRef(name plumbing.ReferenceName, commit plumbing.Hash) error {
	return r.replace(name.String(), commit.String()+"\n")
}

// replace writes a file of the store whole, unless it holds that already: a full
// disk does not matter to a fetch that brings nothing.
func (r *Repo) replace(name, text string) error {
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	if before, err := os.ReadFile(path); err == nil && string(before) == text {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return storeError("writing", err)
	}
	if err := atomicwriter.WriteFile(path, []byte(text), 0o600); err != nil {
		return storeError("writing", err)
	}
	return nil
}

// removeEmptyRefs removes the refs that go-git was writing when a process was
// killed: what they named is fetched again. The good commit is never one of
// them, and what is wrong with that is for a person to know. The caller holds
// the lock.
func removeEmptyRefs(dir string) {
	root := filepath.Join(dir, "refs")
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || path == filepath.Join(dir, filepath.FromSlash(refGood.String())) {
			return nil //nolint:nilerr // the fetch reports what cannot be read
		}
		if info, err := entry.Info(); err == nil && info.Size() == 0 {
			_ = os.Remove(path)
		}
		return nil
	})
}

// refsBelow lists the store's refs with a prefix.
func refsBelow(st *filesystem.Storage, prefix string) (below []*plumbing.Reference, err error) {
	refs, err := st.IterReferences()
	if err != nil {
		return nil, storeError("reading", err)
	}
	err = refs.ForEach(func(ref *plumbing.Reference) error {
		if strings.HasPrefix(ref.Name().String(), prefix) {
			below = append(below, ref)
		}
		return nil
	})
	return below, err
}

// checkRef refuses names that are no full names of refs, among them those that would turn
// into a pattern. A short name would leave it to who may push which ref is meant.
func checkRef(ref string) error {
	if err := plumbing.ReferenceName(ref).Validate(); err != nil || !strings.HasPrefix(ref, "refs/") || strings.ContainsAny(ref, "*:") {
		return badSource("the ref is not a ref's full name", "write refs/heads/main or refs/tags/v1")
	}
	return nil
}
