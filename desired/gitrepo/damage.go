package gitrepo

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// errDamaged is a store that holds something else than was written to it. It is
// never said of a store that merely cannot be read.
var errDamaged = errors.New("the store is damaged")

// The stamp says what the files of a store looked like after everything in them
// was found whole: name, length and time of each. As long as they look like it,
// a fetch looks no further.
const stampFile = "seawall.stamp"

// sound returns errDamaged where the store is damaged. It looks at contents only
// where the files are not those that were found whole before. The caller holds
// the lock.
func (r *Repo) sound() error {
	now, err := r.look()
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
			return damaged("%s is gone", name)
		}
	}
	return r.inspect()
}

// stamp notes that all of the store is whole.
func (r *Repo) stamp() error {
	now, err := r.look()
	if err != nil {
		return storeError("reading", err)
	}
	return r.replace(stampFile, now)
}

// suspect has the next fetch look at contents: somebody could not read one, or
// files are about to change.
func (r *Repo) suspect() { _ = os.Remove(filepath.Join(r.dir, stampFile)) } // gone is fine

// look lists the files that do not change but by a fetch.
func (r *Repo) look() (string, error) {
	var seen strings.Builder
	note := func(path string, entry fs.DirEntry) error {
		info, err := entry.Info()
		if err == nil {
			fmt.Fprintf(&seen, "%s %d %d\n", filepath.ToSlash(path), info.Size(), info.ModTime().UnixNano())
		}
		return err
	}
	err := fs.WalkDir(os.DirFS(r.dir), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && path != "objects" && !strings.HasPrefix(path, "objects/"):
			return fs.SkipDir
		case entry.Type().IsRegular() && (strings.HasPrefix(path, "objects/") || path == "packed-refs" || path == "shallow"):
			return note(path, entry)
		}
		return nil
	})
	return seen.String(), err
}

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
	err := r.inspectPacks()
	if err == nil {
		err = r.inspectLoose()
	}
	if err != nil {
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
	return damaged("%v", err)
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errDamaged, fmt.Sprintf(format, args...))
}

func (r *Repo) inspectPacks() error {
	if _, err := os.ReadDir(filepath.Join(r.dir, "objects")); err != nil {
		return err
	}
	packs, err := filepath.Glob(filepath.Join(r.dir, "objects", "pack", "pack-*.pack"))
	if err != nil {
		return err
	}
	for _, pack := range packs {
		name := strings.TrimSuffix(pack, ".pack")
		sum, _, err := checksum(pack)
		if err != nil {
			return err
		}
		_, of, err := checksum(name + ".idx")
		if err != nil {
			return err
		}
		if !bytes.Equal(sum, of) || filepath.Base(name) != "pack-"+hex.EncodeToString(sum) {
			return damaged("%s does not fit its index", filepath.Base(pack))
		}
	}
	return nil
}

// checksum returns the last 20 bytes of a file, which have to be the SHA-1 of
// all before them, and the 20 before those: in an index, the checksum of its
// pack.
func checksum(name string) (sum, before []byte, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	const least = 12 + sha1.Size // a pack without objects
	if info.Size() < least {
		return nil, nil, damaged("%s is cut", filepath.Base(name))
	}
	hash, end := sha1.New(), make([]byte, min(2*sha1.Size, info.Size()))
	if _, err := io.Copy(hash, io.NewSectionReader(file, 0, info.Size()-sha1.Size)); err != nil {
		return nil, nil, err
	}
	if _, err := file.ReadAt(end, info.Size()-int64(len(end))); err != nil {
		return nil, nil, err
	}
	before, sum = end[:len(end)-sha1.Size], end[len(end)-sha1.Size:]
	if !bytes.Equal(hash.Sum(nil), sum) {
		return nil, nil, damaged("%s does not have its checksum", filepath.Base(name))
	}
	return sum, before, nil
}

// inspectLoose looks at objects outside of packs. Fetches make none, but where
// there is one it is read first.
func (r *Repo) inspectLoose() error {
	names, err := filepath.Glob(filepath.Join(r.dir, "objects", "[0-9a-f][0-9a-f]", "*"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := inspectObject(name); err != nil {
			return err
		}
	}
	return nil
}

func inspectObject(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	want := filepath.Base(filepath.Dir(name)) + filepath.Base(name)
	in, err := objfile.NewReader(file)
	if err != nil {
		return damaged("object %s: %v", want, err)
	}
	defer in.Close()
	if _, _, err := in.Header(); err != nil {
		return damaged("object %s: %v", want, err)
	}
	if _, err := io.Copy(io.Discard, in); err != nil || in.Hash().String() != want {
		return damaged("object %s has another content", want)
	}
	return nil
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
			return damaged("its list of cuts cannot be read")
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
		return damaged("%s cannot be read", ref.Name())
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
	if err := r.tree(commit.TreeHash); err != nil || cut {
		return err
	}
	return r.commits(commit)
}

// commits looks for all ancestors of a commit.
func (r *reach) commits(c *object.Commit) error {
	for todo := []*object.Commit{c}; len(todo) > 0; {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !r.add(c.Hash) {
			continue
		}
		for _, hash := range c.ParentHashes {
			parent, err := object.GetCommit(r.st, hash)
			if err != nil {
				return fmt.Errorf("reading commit %s: %w", hash, err)
			}
			todo = append(todo, parent)
		}
	}
	return nil
}

// complete reports whether every object of a commit's tree is in a store.
func complete(st *filesystem.Storage, commit plumbing.Hash) bool {
	c, err := object.GetCommit(st, commit)
	return err == nil && newReach(st).tree(c.TreeHash) == nil
}
