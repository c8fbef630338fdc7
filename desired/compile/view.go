package compile

import (
	gobytes "bytes"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"
)

// view is a tree as one evaluation sees it. It notes the folders whose files
// had a say, so that the unit need not be evaluated again as long as their
// [Prints] stay; see [Unit.Looked].
//
// It lists files and no folders. CUE asks for none where it is given one
// package, and what is not shown cannot have a say: a new folder beside the
// others changes none of them.
type view struct {
	fsys fs.FS

	mu     sync.Mutex
	looked map[string]bool
	failed bool // something could not be read, which the next time may be different
}

var (
	_ fs.ReadDirFS  = (*view)(nil)
	_ fs.ReadFileFS = (*view)(nil)
	_ fs.StatFS     = (*view)(nil)
)

func newView(fsys fs.FS) *view { return &view{fsys: fsys, looked: map[string]bool{}} }

// folders are those that were looked into, sorted; nil when the answer must not
// be kept.
func (v *view) folders() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.failed {
		return nil
	}
	return slices.Sorted(maps.Keys(v.looked))
}

// note notes a look at a name, which may be a file, a folder or nothing: its
// folder's files tell of a file, and its own of a folder.
func (v *view) note(name string, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if fs.ValidPath(name) {
		v.looked[name], v.looked[path.Dir(name)] = true, true
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
		v.failed = true
	}
}

// doubt notes a file that is there and cannot be read, even where the error says
// that something is not there: it may be a pack of the store.
func (v *view) doubt(name string) {
	if info, err := fs.Stat(v.fsys, name); err == nil && !info.IsDir() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.failed = true
	}
}

// Stat implements [fs.StatFS].
func (v *view) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(v.fsys, name)
	v.note(name, err)
	return info, err
}

// ReadDir implements [fs.ReadDirFS].
func (v *view) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(v.fsys, name)
	v.note(name, err)
	return slices.DeleteFunc(slices.Clone(entries), fs.DirEntry.IsDir), err
}

// ReadFile implements [fs.ReadFileFS].
func (v *view) ReadFile(name string) ([]byte, error) {
	data, err := fs.ReadFile(v.fsys, name)
	v.note(name, err)
	if err != nil {
		v.doubt(name)
	}
	return data, err
}

// Open implements [fs.FS]. Files are read at once, so that no error of reading
// goes past; folders are listed with ReadDir.
func (v *view) Open(name string) (fs.File, error) {
	info, err := v.Stat(name)
	if err != nil {
		return nil, err
	}
	var data []byte
	if !info.IsDir() {
		if data, err = v.ReadFile(name); err != nil {
			return nil, err
		}
	}
	return &viewed{gobytes.NewReader(data), info}, nil
}

// viewed is an open file or folder of a view.
type viewed struct {
	*gobytes.Reader
	info fs.FileInfo
}

func (f *viewed) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *viewed) Close() error               { return nil }
