package gitrepo

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/failure"
)

// walk fills a [Tree] and notes what is wrong on the way.
type walk struct {
	storage  *filesystem.Storage
	top      *object.Tree // of the commit: where symlinks lead
	commit   string
	limits   Limits
	tree     *Tree
	problems []desired.Problem

	entries int
	files   int
	bytes   int64
}

// errOverBound ends a walk whose problem is already noted.
var errOverBound = errors.New("over a bound")

func (w *walk) note(name, message, hint string) {
	w.problems = append(w.problems, desired.Problem{
		Origin: desired.Origin{Commit: w.commit, File: name}, Message: message, Hint: hint,
	})
}

// stop notes a problem with which there is no point in looking further.
func (w *walk) stop(name, message, hint string) error {
	w.note(name, message, hint)
	return errOverBound
}

func (w *walk) folder(t *object.Tree, at string, depth int, module bool) error {
	if depth > maxDepth {
		return w.stop(at, fmt.Sprintf("folders nest more than %d deep", maxDepth), "flatten them")
	}
	for _, e := range t.Entries {
		if w.entries++; w.entries > w.limits.Entries {
			return w.stop(at, fmt.Sprintf("the repository lists more than the bound of %d files and folders", w.limits.Entries),
				"keep the desired state in a separate folder and set path to it")
		}
		if err := w.entry(e, at, depth, module); err != nil {
			return err
		}
		if len(w.problems) >= maxProblems {
			return w.stop(at, fmt.Sprintf("there are already %d problems; the rest is not checked", maxProblems), "")
		}
	}
	return nil
}

func (w *walk) entry(e object.TreeEntry, at string, depth int, module bool) error {
	name := path.Join(at, e.Name)
	visible := module || strings.HasSuffix(e.Name, ".cue")
	if !usable(e.Name) {
		if visible || e.Mode == filemode.Dir {
			w.note(at, fmt.Sprintf("contains the name %q, which cannot be used", e.Name), "rename it")
		}
		return nil
	}
	switch {
	case e.Mode == filemode.Dir:
		return w.subfolder(e, name, depth, module || e.Name == "cue.mod")
	case e.Mode == filemode.Submodule:
		w.note(name, "is a submodule, which is not fetched", "keep these files in this repository, or set path to another folder")
	case e.Mode == filemode.Symlink:
		return w.symlink(e, name, visible)
	case isFile(e.Mode) && visible:
		return w.file(e, name)
	}
	return nil
}

func (w *walk) subfolder(e object.TreeEntry, name string, depth int, module bool) error {
	if n := w.tree.nodes[name]; n != nil {
		w.note(name, "is listed twice", "the tree is damaged; commit it again")
		return nil
	}
	o, err := w.storage.EncodedObject(plumbing.TreeObject, e.Hash)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if n := o.Size(); n > maxListing {
		return w.stop(name, fmt.Sprintf("its listing is %s, over the bound of %s", failure.Bytes(n), failure.Bytes(maxListing)), "split the folder")
	}
	t, err := object.DecodeTree(w.storage, o)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return w.folder(t, name, depth+1, module)
}

// symlink refuses a link whose loss would go unnoticed: links are never
// followed, so a reader would find less here than in a work tree.
func (w *walk) symlink(e object.TreeEntry, name string, visible bool) error {
	if visible {
		w.note(name, "is a symlink, which is not followed", "commit the file itself")
		return nil
	}
	const longest = 4096 // PATH_MAX; a longer target leads nowhere
	n, err := w.storage.EncodedObjectSize(e.Hash)
	if err != nil || n > longest {
		return err
	}
	target, err := readBlob(w.storage, e.Hash)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	to := string(target)
	if resolved := path.Join(path.Dir(name), to); path.IsAbs(to) || resolved == ".." || strings.HasPrefix(resolved, "../") {
		w.note(name, "is a symlink to a target outside the repository", "remove it, or commit the target")
	} else if folder, err := w.isFolder(resolved); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	} else if folder {
		w.note(name, fmt.Sprintf("is a symlink to the folder %s, which is not followed", resolved), "commit the folder itself")
	}
	return nil
}

func (w *walk) isFolder(name string) (bool, error) {
	if name == "." {
		return true, nil
	}
	e, err := entryAt(w.storage, w.top, name)
	return e != nil && e.Mode == filemode.Dir, err
}

// entryAt is what a tree has under a name; nil for nothing. A folder on the way that cannot be
// read is an error.
func entryAt(st *filesystem.Storage, t *object.Tree, name string) (*object.TreeEntry, error) {
	for {
		first, rest, deeper := strings.Cut(name, "/")
		e, err := t.FindEntry(first)
		if err != nil || deeper && e.Mode != filemode.Dir {
			return nil, nil //nolint:nilnil,nilerr // of a name without a folder, nothing is read
		}
		if !deeper {
			return e, nil
		}
		if t, err = object.GetTree(st, e.Hash); err != nil {
			return nil, err
		}
		name = rest
	}
}

func (w *walk) file(e object.TreeEntry, name string) error {
	n, err := w.storage.EncodedObjectSize(e.Hash)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if n > w.limits.FileBytes {
		w.note(name, fmt.Sprintf("is %s, over the bound of %s for one file", failure.Bytes(n), failure.Bytes(w.limits.FileBytes)), "split the file")
		return nil
	}
	if w.files++; w.files > w.limits.Files {
		return w.stop(name, fmt.Sprintf("is one file more than the bound of %d", w.limits.Files), "set path to a folder with fewer files")
	}
	if w.bytes += n; w.bytes > w.limits.TreeBytes {
		return w.stop(name, fmt.Sprintf("takes the files over the bound of %s together", failure.Bytes(w.limits.TreeBytes)), "set path to a folder with fewer files")
	}
	content, err := w.peek(e.Hash, n, name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !w.tree.addFile(name, e.Hash, n, content) {
		w.note(name, "is listed twice", "the tree is damaged; commit it again")
	}
	return nil
}

// peek reads a file small enough to be an LFS pointer; its content is kept for
// the reader to come.
func (w *walk) peek(hash plumbing.Hash, n int64, name string) ([]byte, error) {
	const pointerBytes = 1024 // by the format, a pointer is smaller
	if n >= pointerBytes {
		return nil, nil
	}
	content, err := readBlob(w.storage, hash)
	if err == nil && bytes.HasPrefix(content, []byte("version https://git-lfs")) {
		w.note(name, "is a pointer of Git LFS, whose content is not fetched", "take *.cue out of .gitattributes and commit the file itself")
	}
	return content, err
}

// notFolder says what an entry is that is no folder.
func notFolder(e object.TreeEntry) string {
	switch {
	case e.Mode == filemode.Dir:
		return ""
	case e.Mode == filemode.Submodule:
		return "a submodule, which is not fetched"
	case e.Mode == filemode.Symlink:
		return "a symlink, which is not followed"
	}
	return "a file"
}
