package gitrepo

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/seawall-dev/seawall/desired"
)

// Tree is the part of a commit that can hold desired state, as a read-only
// file system: the *.cue files and all of cue.mod below one folder. Names are
// relative to the repository's root, so that a position in a file reads the
// same here and in a pull request. Folders without visible files are not
// listed.
//
// Contents are read from the object store when asked for. Sys of a file's
// [fs.FileInfo] is the content's hash as a string: equal hashes, equal
// contents. A Tree is safe for concurrent use and outlives a compaction of the
// store as long as its commit is the one fetched last, or the good one.
type Tree struct {
	dir  string
	open func(dir string) *filesystem.Storage // readStorage for who closes it

	mu      sync.Mutex // go-git's storage is not safe for concurrent use
	nodes   map[string]*node
	storage *filesystem.Storage
	failed  error
}

var (
	_ fs.ReadDirFS  = (*Tree)(nil)
	_ fs.ReadFileFS = (*Tree)(nil)
	_ fs.StatFS     = (*Tree)(nil)
)

// TreeError says everything that is wrong with a commit's files, at once.
type TreeError struct{ Problems []desired.Problem }

func (e *TreeError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Tree returns the visible files of a commit below root, a folder of the
// repository; "" and "." stand for all of it.
//
// It returns [ErrNoCommit], [ErrPathNotFound] where root is no folder, and a
// [*TreeError] where something below root would be silently left out or read
// wrongly: files and trees over the limits, *.cue files that are symlinks or
// LFS pointers, symlinks to folders or out of the repository, submodules, and
// names that no tool can show. Everything else is ignored.
func (r *Repo) Tree(hash, root string, limits Limits) (*Tree, error) {
	t, err := again(r, func() (*Tree, error) { return r.tree(hash, root, limits) })
	return t, r.suspectAfter(err)
}

// suspectAfter has the next fetch look into the store after an error that may be its own.
func (r *Repo) suspectAfter(err error) error {
	if errors.Is(err, ErrStore) || errors.Is(err, ErrNoCommit) {
		r.suspect()
	}
	return err
}

func (r *Repo) tree(hash, root string, limits Limits) (*Tree, error) {
	st := readStorage(r.dir)
	defer st.Close()
	root = path.Clean(root)
	top, below, err := find(st, hash, root)
	if err != nil {
		return nil, err
	}
	w := &walk{storage: st, top: top, commit: hash, limits: limits.withDefaults(), tree: newTree(r.dir, openStorage, root)}
	if err := w.folder(below, root, 0, inModule(root)); err != nil && !errors.Is(err, errOverBound) {
		return nil, storeError("reading", err)
	}
	if len(w.problems) > 0 {
		desired.SortProblems(w.problems)
		return nil, &TreeError{w.problems}
	}
	return w.tree, nil
}

// readStorage is for whoever reads many objects: the pack is not opened for each of them, and
// none is looked for in a file of its own. All were there when the commit was.
func readStorage(dir string) *filesystem.Storage {
	return storageWith(dir, filesystem.Options{KeepDescriptors: true, ExclusiveAccess: true})
}

// find finds the tree of a commit, and that of root in it.
func find(st *filesystem.Storage, hash, root string) (top, below *object.Tree, err error) {
	c, err := findCommit(st, hash)
	if err != nil {
		return nil, nil, err
	}
	if !fs.ValidPath(root) {
		return nil, nil, badPath(hash, root, "it is not a relative path inside the repository", "")
	}
	if top, err = object.GetTree(st, c.TreeHash); err != nil {
		return nil, nil, storeError("reading", err)
	}
	below, err = descend(st, top, hash, root)
	return top, below, err
}

// descend finds root's tree, one folder at a time.
func descend(st *filesystem.Storage, t *object.Tree, hash, root string) (*object.Tree, error) {
	if root == "." {
		return t, nil
	}
	at := "."
	for name := range strings.SplitSeq(root, "/") {
		entry, err := t.FindEntry(name)
		if err != nil {
			return nil, badPath(hash, root, fmt.Sprintf("%s has no folder %q", shown(at), name), foldersHint(at, t))
		}
		at = path.Join(at, name)
		if what := notFolder(*entry); what != "" {
			return nil, badPath(hash, root, fmt.Sprintf("%s is %s", at, what), "name a folder")
		}
		below, err := object.GetTree(st, entry.Hash)
		if err != nil {
			return nil, storeError("reading", err)
		}
		t = below
	}
	return t, nil
}

func badPath(hash, root, reason, hint string) error {
	return &Error{Kind: ErrPathNotFound, Doing: fmt.Sprintf("opening %s in commit %.12s", root, hash), Reason: reason, Hint: hint}
}

func shown(folder string) string {
	if folder == "." {
		return "the repository"
	}
	return folder
}

func foldersHint(at string, t *object.Tree) string {
	const most = 8
	var names []string
	for _, e := range t.Entries {
		if notFolder(e) == "" {
			names = append(names, e.Name)
		}
	}
	if len(names) == 0 {
		return shown(at) + " has no folders at all"
	}
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return "folders there: " + strings.Join(names, ", ")
}

func inModule(p string) bool { return slices.Contains(strings.Split(p, "/"), "cue.mod") }

// read returns a content, which it looks for again as [again] does.
func (t *Tree) read(hash plumbing.Hash) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var data []byte
	err := t.twice(func() (err error) {
		data, err = readBlob(t.storage, hash)
		return err
	})
	return data, err
}

// twice reads, and once more from a storage that was opened anew.
func (t *Tree) twice(read func() error) error {
	err := read()
	if err != nil {
		(&Repo{t.dir}).suspectUnread(storeError("reading", err))
		_ = t.storage.Close() // it was only read
		t.storage = t.open(t.dir)
		err = read()
	}
	if err != nil {
		(&Repo{t.dir}).suspect()
		t.failed = cmp.Or(t.failed, storeError("reading", err))
	}
	return err
}

// Failed returns the first error with which a content could not be read. Whoever
// reads by way of [fs.FS] may take it for a mistake of the file's; it is the
// store's, which the next fetch looks into.
func (t *Tree) Failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

func readBlob(st *filesystem.Storage, hash plumbing.Hash) ([]byte, error) {
	o, err := st.EncodedObject(plumbing.BlobObject, hash)
	if err != nil {
		return nil, err
	}
	return contentOf(o)
}

func contentOf(o plumbing.EncodedObject) ([]byte, error) {
	in, err := o.Reader()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var out bytes.Buffer
	out.Grow(int(min(o.Size(), largeObject)))
	_, err = io.Copy(&out, io.LimitReader(in, o.Size()+1))
	return out.Bytes(), err
}
