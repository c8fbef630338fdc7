package compile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Dir opens a folder of the host as a tree to compile. The tree holds the
// folder's CUE files and what is in cue.mod, nothing else, and nothing outside
// of the folder can be reached through it. A symbolic link to a CUE file, to
// another folder or out is an error, as is exceeding [DefaultLimits]: what a
// person believes to be declared must not be left out unsaid. A link that is none of
// the desired state's is named with a leading "_" or ".".
//
// Errors are [RefusedError], with the file relative to the folder.
func Dir(name string) (fs.FS, error) {
	tree, err := open(name)
	if err != nil {
		return nil, err
	}
	count := counter{limits: DefaultLimits}
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return refuse(name, fmt.Sprintf("reading the folder: %v", err), "")
		case entry.IsDir():
			return nil
		}
		return tree.check(name, entry, &count)
	})
	if err != nil {
		return nil, err
	}
	return tree, nil
}

// Checked is [Dir] of a folder that Dir has just opened without an error: nothing is looked
// for in all of it again.
func Checked(name string) (fs.FS, error) { return open(name) }

func open(name string) (dir, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		reason := err
		if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
			reason = pathErr.Err
		}
		return dir{}, refuse(name, fmt.Sprintf("opening the folder: %v", reason), "name a folder that holds desired state")
	}
	return dir{root.FS()}, nil
}

// dir shows only what can be desired state.
type dir struct{ fs fs.FS }

func (d dir) check(name string, entry fs.DirEntry, count *counter) error {
	info, err := fs.Stat(d.fs, name)
	switch {
	case entry.Type()&fs.ModeSymlink != 0 && err != nil:
		return refuse(name, "the target of the symbolic link is outside the folder or does not exist", "replace it with the file itself")
	case err != nil:
		return refuse(name, fmt.Sprintf("reading the file: %v", err), "")
	case info.IsDir():
		return refuse(name, "the target of the symbolic link is a folder", `move the folder here, or start the name of the link with "_"`)
	case !wanted(name):
		return nil
	case entry.Type()&fs.ModeSymlink != 0:
		return refuse(name, "the symbolic link is not followed", "replace it with the file itself, or share definitions in the folder above")
	case !info.Mode().IsRegular():
		return refuse(name, "is not a regular file", "replace it by one")
	}
	return count.add(name, info.Size())
}

func (d dir) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	info, err := fs.Stat(d.fs, name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() && !wanted(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return d.fs.Open(name)
}

// ReadDir lists folders, wanted files, and links to be judged.
func (d dir) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(d.fs, name)
	if err != nil {
		return nil, err
	}
	kept := entries[:0]
	for _, e := range entries {
		full := path.Join(name, e.Name())
		isLink := e.Type()&fs.ModeSymlink != 0
		switch {
		case e.Name() != "cue.mod" && skipped(e.Name()):
		case e.IsDir(), wanted(full), isLink && !strings.Contains(e.Name(), "."):
			kept = append(kept, e)
		case isLink:
			if info, err := fs.Stat(d.fs, full); err == nil && info.IsDir() {
				kept = append(kept, e)
			}
		}
	}
	return kept, nil
}

// wanted reports whether a file can be part of desired state.
func wanted(name string) bool { return strings.HasSuffix(name, ".cue") }
