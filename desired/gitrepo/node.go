package gitrepo

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// node is one file or folder of a [Tree]. It is its own [fs.FileInfo] and
// [fs.DirEntry].
type node struct {
	name     string // the last element
	dir      bool
	hash     plumbing.Hash
	size     int64
	content  []byte // kept when it was read already
	children []fs.DirEntry
	below    below
}

// below says what is known of what is below a folder.
type below int

const (
	known  below = iota
	unread       // nothing; hash is its tree
	hidden       // there is no visible file
)

func (n *node) Name() string               { return n.name }
func (n *node) Size() int64                { return n.size }
func (n *node) ModTime() time.Time         { return time.Time{} }
func (n *node) IsDir() bool                { return n.dir }
func (n *node) Type() fs.FileMode          { return n.Mode().Type() }
func (n *node) Info() (fs.FileInfo, error) { return n, nil }

func (n *node) Mode() fs.FileMode {
	if n.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

func (n *node) Sys() any {
	if n.dir {
		return nil
	}
	return n.hash.String()
}

func newTree(dir string, open func(string) *filesystem.Storage, root string) *Tree {
	t := &Tree{dir: dir, open: open, storage: open(dir), nodes: map[string]*node{".": {name: ".", dir: true}}}
	t.addFolder(root)
	return t
}

// addFile reports false when there already is something of that name.
func (t *Tree) addFile(name string, hash plumbing.Hash, size int64, content []byte) bool {
	if t.nodes[name] != nil {
		return false
	}
	t.add(name, &node{name: path.Base(name), hash: hash, size: size, content: content})
	return true
}

func (t *Tree) addFolder(name string) *node {
	if n := t.nodes[name]; n != nil {
		return n
	}
	n := &node{name: path.Base(name), dir: true}
	t.add(name, n)
	return n
}

func (t *Tree) add(name string, n *node) {
	parent := t.addFolder(path.Dir(name))
	at, _ := slices.BinarySearchFunc(parent.children, n.name, func(e fs.DirEntry, name string) int {
		return strings.Compare(e.Name(), name)
	})
	parent.children = slices.Insert(parent.children, at, fs.DirEntry(n))
	t.nodes[name] = n
}

func (t *Tree) find(op, name string) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.reach(name)
	if err == nil && n == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return n, nil
}

// Stat implements [fs.StatFS].
func (t *Tree) Stat(name string) (fs.FileInfo, error) {
	n, err := t.find("stat", name)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// ReadDir implements [fs.ReadDirFS].
func (t *Tree) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := t.find("readdir", name)
	if err != nil {
		return nil, err
	}
	if !n.dir {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	return n.listed(), nil
}

// listed are the files and folders in a folder; of a tree of [Repo.Files], the files.
func (n *node) listed() []fs.DirEntry {
	if n.hash.IsZero() {
		return slices.Clone(n.children)
	}
	return slices.DeleteFunc(slices.Clone(n.children), fs.DirEntry.IsDir)
}

// ReadFile implements [fs.ReadFileFS].
func (t *Tree) ReadFile(name string) ([]byte, error) {
	n, err := t.find("read", name)
	if err != nil {
		return nil, err
	}
	return t.contentOf(n, name)
}

func (t *Tree) contentOf(n *node, name string) ([]byte, error) {
	if n.dir {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	if n.content != nil {
		return bytes.Clone(n.content), nil
	}
	data, err := t.read(n.hash)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return data, nil
}

// Open implements [fs.FS].
func (t *Tree) Open(name string) (fs.File, error) {
	n, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	if n.dir {
		return &openFolder{node: n, name: name}, nil
	}
	data, err := t.contentOf(n, name)
	if err != nil {
		return nil, err
	}
	return &openFile{Reader: bytes.NewReader(data), node: n}, nil
}

type openFile struct {
	*bytes.Reader
	node *node
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.node, nil }
func (f *openFile) Close() error               { return nil }

type openFolder struct {
	node *node
	name string
	next int
}

func (f *openFolder) Stat() (fs.FileInfo, error) { return f.node, nil }
func (f *openFolder) Close() error               { return nil }

func (f *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.name, Err: fs.ErrInvalid}
}

// ReadDir implements [fs.ReadDirFile].
func (f *openFolder) ReadDir(count int) ([]fs.DirEntry, error) {
	left := f.node.listed()[f.next:]
	if count > 0 && len(left) == 0 {
		return nil, io.EOF
	}
	if count > 0 {
		left = left[:min(count, len(left))]
	}
	f.next += len(left)
	return left, nil
}
