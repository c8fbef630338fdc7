package gitrepo

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/seawall-dev/seawall/integration/must"
)

// put stores an object as it is, without any check.
func put(t *testing.T, st *filesystem.Storage, kind plumbing.ObjectType, content []byte) plumbing.Hash {
	t.Helper()
	o := st.NewEncodedObject()
	o.SetType(kind)
	w, err := o.Writer()
	if err == nil {
		_, err = w.Write(content)
		err = errors.Join(err, w.Close())
	}
	must.Do(t, err)
	hash, err := st.SetEncodedObject(o)
	must.Do(t, err)
	return hash
}

// FuzzTree: whatever a tree object holds, its files are a file system by Go's rules, with
// no name that leads out of it, or an error.
func FuzzTree(f *testing.F) {
	blob := plumbing.ComputeHash(plumbing.BlobObject, []byte("a: 1\n"))
	entry := func(mode, name string, hash plumbing.Hash) string {
		return mode + " " + name + "\x00" + string(hash[:])
	}
	f.Add([]byte(entry("100644", "a.cue", blob)))
	f.Add([]byte(entry("100644", "../a.cue", blob) + entry("100644", "/etc/a.cue", blob)))
	f.Add([]byte(entry("100644", "a.cue", blob) + entry("100755", "a.cue", blob)))
	f.Add([]byte(entry("120000", "link", blob) + entry("160000", "lib", blob) + entry("40000", "dir", blob)))
	f.Add([]byte("100644 a.cue\x00short"))
	dir := filepath.Join(f.TempDir(), "store") // for all inputs: objects have the names of their content
	r, err := Open(dir)
	must.Do(f, err)
	f.Fuzz(func(t *testing.T, content []byte) {
		st := openStorage(dir)
		put(t, st, plumbing.BlobObject, []byte("a: 1\n"))
		root := put(t, st, plumbing.TreeObject, content)
		commit := put(t, st, plumbing.CommitObject, []byte("tree "+root.String()+"\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\nx\n"))
		tree, err := r.Tree(commit.String(), ".", Limits{})
		if err != nil {
			return
		}
		var names []string
		err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				names = append(names, name)
			}
			if !fs.ValidPath(name) {
				t.Errorf("%q is no path", name)
			}
			return err
		})
		if err != nil {
			t.Errorf("walking: %v", err)
		}
		if len(names) > 0 {
			if err := fstest.TestFS(tree, names...); err != nil {
				t.Error(err)
			}
		}
	})
}
