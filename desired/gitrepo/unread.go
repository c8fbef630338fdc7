package gitrepo

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Files is [Repo.Tree] of a commit that Tree has accepted: it reads a folder when one asks for
// something in it, and checks nothing again. It lists no folders. It has the packs open until it
// is closed.
func (r *Repo) Files(hash, root string) (*Tree, error) {
	t, err := again(r, func() (*Tree, error) { return r.files(hash, root) })
	return t, r.suspectAfter(err)
}

func (r *Repo) files(hash, root string) (*Tree, error) {
	root = path.Clean(root)
	t := newTree(r.dir, readStorage, root)
	_, top, err := find(t.storage, hash, root)
	if err == nil && t.twice(func() error { return t.list(root, t.nodes[root], top.Hash) }) != nil {
		err = t.failed
	}
	if err != nil {
		_ = t.Close() // it was only read
		return nil, err
	}
	return t, nil
}

// Close closes what was opened to read contents.
func (t *Tree) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.storage.Close()
}

// reach returns the node of a name, nil for none, and reads the folders on the way. The caller
// has the lock.
func (t *Tree) reach(name string) (*node, error) {
	n := t.nodes[name]
	if n == nil && name != "." {
		above, err := t.reach(path.Dir(name))
		if err != nil || above == nil {
			return nil, err
		}
		n = t.nodes[name]
	}
	if n != nil && n.below == unread {
		if err := t.look(name, n); err != nil {
			return nil, err
		}
	}
	if n != nil && n.below == hidden {
		return nil, nil
	}
	return n, nil
}

// look reads a folder, and those below it up to the first visible file.
func (t *Tree) look(name string, n *node) error {
	if err := t.twice(func() error { return t.list(name, n, n.hash) }); err != nil {
		return err
	}
	n.below = hidden
	if len(n.listed()) > 0 {
		n.below = known
		return nil
	}
	for _, e := range n.children {
		switch shown, err := t.reach(path.Join(name, e.Name())); {
		case err != nil:
			return err
		case shown != nil:
			n.below = known
			return nil
		}
	}
	return nil
}

// list reads a folder and the visible files in it.
func (t *Tree) list(name string, n *node, hash plumbing.Hash) error {
	n.hash = hash
	listed, err := object.GetTree(t.storage, hash)
	if err != nil {
		return err
	}
	module := inModule(name)
	for _, e := range listed.Entries {
		below := path.Join(name, e.Name)
		switch {
		case !usable(e.Name) || t.nodes[below] != nil:
		case e.Mode == filemode.Dir:
			folder := t.addFolder(below)
			folder.hash, folder.below = e.Hash, unread
		case isFile(e.Mode) && (module || strings.HasSuffix(e.Name, ".cue")):
			content, err := readBlob(t.storage, e.Hash)
			if err != nil {
				return fmt.Errorf("%s: %w", below, err)
			}
			t.addFile(below, e.Hash, int64(len(content)), content)
		}
	}
	return nil
}

// usable reports whether an entry of a folder has a name that all tools can show.
func usable(name string) bool {
	return !strings.Contains(name, "/") && fs.ValidPath(name) && name != "." && !strings.ContainsFunc(name, unicode.IsControl)
}
