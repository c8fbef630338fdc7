package compile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
)

// RefusedError is a problem of a whole tree, as an error.
type RefusedError struct{ desired.Problem }

func (r *RefusedError) Error() string { return r.String() }

// AsProblem makes a problem of an error of this package, or of any other.
func AsProblem(err error) desired.Problem {
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return refused.Problem
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok && fs.ValidPath(at.Path) {
		return desired.Problem{Origin: desired.Origin{File: at.Path}, Message: fmt.Sprintf("cannot be read: %v", at.Err)}
	}
	return desired.Problem{Message: err.Error()}
}

func refuse(file, message, hint string) error {
	return &RefusedError{desired.Problem{Origin: desired.Origin{File: file}, Message: message, Hint: hint}}
}

// Folders lists the evaluation units at or below root, sorted: every folder
// with CUE files. Folders named cue.mod and those whose names start with "_" or
// "." are left out with all below them, and so are the files that CUE itself
// leaves out of a package. A tree without any CUE file is an error: what
// cannot be read is never empty. So is one that exceeds [DefaultLimits].
func Folders(fsys fs.FS, root string) ([]string, error) {
	root = path.Clean(root)
	if !fs.ValidPath(root) {
		return nil, refuse("", fmt.Sprintf("path %q leaves the repository", root), "give a folder in the repository, separated with /")
	}
	walk := walk{root: root, count: counter{limits: DefaultLimits}, found: map[string]bool{}}
	err := fs.WalkDir(fsys, root, walk.visit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, refuse(root, "there is no such folder", "check the path; it is relative to the repository's root")
	case err != nil:
		return nil, err
	case len(walk.found) == 0:
		return nil, refuse(root, "there is no CUE file here", "check the path and the branch; to declare nothing on purpose, write a file with: account: {}")
	}
	return slices.Sorted(maps.Keys(walk.found)), nil
}

// walk collects the folders of a tree and holds it to its limits.
type walk struct {
	root  string
	count counter
	found map[string]bool
}

func (w *walk) visit(name string, entry fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("reading %s: %w", name, err)
	case entry.IsDir() && name != w.root && skipped(entry.Name()):
		return fs.SkipDir
	case entry.IsDir() || !strings.HasSuffix(name, ".cue") || !entry.Type().IsRegular():
		return nil
	}
	info, err := entry.Info()
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	if inPackage(entry.Name()) {
		w.found[path.Dir(name)] = true
	}
	return w.count.add(name, info.Size())
}

// skipped reports whether a folder is none of the desired state's.
func skipped(name string) bool {
	return name == "cue.mod" || strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".")
}

// inPackage reports whether CUE takes a file as part of its folder's package.
func inPackage(name string) bool {
	return strings.HasSuffix(name, ".cue") &&
		!strings.HasPrefix(name, "_") && !strings.HasPrefix(name, ".") &&
		!strings.HasSuffix(name, "_tool.cue") && !strings.HasSuffix(name, "_test.cue")
}
