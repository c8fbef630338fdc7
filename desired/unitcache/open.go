package unitcache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// private is what the cache's folder must have: whoever could write to it could
// have anything deployed.
const private fs.FileMode = 0o700

// Open opens the cache below a state folder, at cache/units, and makes that where
// it is missing. The Cache it returns works in any case: the error says why it
// keeps nothing on disk. That is so where the folder is someone else's or a
// symbolic link, or where the state folder is someone else's, who
// could then not use what is made there. A folder of our own that others may
// write to is closed to them and emptied.
func Open(state string) (*Cache, error) {
	c := &Cache{}
	program, err := identity()
	if err != nil {
		return c, fmt.Errorf("opening the cache of evaluated folders: %w", err)
	}
	root, err := openPrivate(state)
	if err != nil {
		return c, fmt.Errorf("opening the cache of evaluated folders: %w", err)
	}
	c.program, c.disk = program, &shelf{root}
	return c, nil
}

func openPrivate(state string) (*os.Root, error) {
	at, err := os.OpenRoot(state)
	if err != nil {
		return nil, err
	}
	if err := ours(at); err != nil {
		return nil, errors.Join(err, at.Close())
	}
	for _, name := range []string{"cache", "units"} {
		below, err := openBelow(at, name)
		if err := errors.Join(err, at.Close()); err != nil {
			return nil, err
		}
		at = below
	}
	if err := closed(at); err != nil {
		return nil, errors.Join(err, at.Close())
	}
	return at, nil
}

// openBelow judges the folder that it has opened, and not one by that name.
func openBelow(at *os.Root, name string) (*os.Root, error) {
	if err := at.Mkdir(name, private); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	path := filepath.Join(at.Name(), name)
	if info, err := at.Lstat(name); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", path)
	}
	below, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if err := ours(below); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), below.Close())
	}
	return below, nil
}

func ours(root *os.Root) error {
	info, err := root.Stat(".")
	if err != nil {
		return err
	}
	if !mine(info) {
		return errors.New("the folder belongs to another user")
	}
	return nil
}

// closed makes sure of a folder's permissions. Where others could write until
// now, as in a volume whose group Kubernetes sets at each mount, nothing in
// it is to be trusted.
func closed(root *os.Root) error {
	info, err := root.Stat(".")
	if err != nil {
		return err
	}
	if info.Mode().Perm() == private {
		return nil
	}
	if err := root.Chmod(".", private); err != nil {
		return err
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		err = errors.Join(err, root.RemoveAll(e.Name()))
	}
	return err
}
