package sink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// folder is the sink of kind file. Everything in it goes through an [os.Root],
// so that no symbolic link leads out of it, whenever it was put there.
type folder struct{ root string }

func newFolder(c File) (place, error) {
	if !filepath.IsAbs(c.Root) {
		return nil, fmt.Errorf("the root %q must be an absolute path", c.Root)
	}
	return folder{c.Root}, nil
}

// unfinished ends the names of files that are being written. The name is the
// same each time: what a killed process left is gone with the next delivery.
const unfinished = ".seawall-new"

func (f folder) check(key string) error {
	if strings.HasSuffix(key, unfinished) {
		return fmt.Errorf("the key cannot end in %s", unfinished)
	}
	root, err := os.OpenRoot(f.root)
	if errors.Is(err, fs.ErrNotExist) {
		_, err := os.Stat(filepath.Dir(f.root)) // the last folder is made when it is needed
		return err
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return mayHold(root, key)
}

// mayHold reports what is in the way of a file: a folder of its name, a file
// where one of its folders is to be, a link that leads out.
func mayHold(root *os.Root, key string) error {
	info, err := root.Lstat(key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("there is a folder of that name")
	}
	return nil
}

func (f folder) deliver(_ context.Context, key string, secret edge.Secret) error {
	if err := f.check(key); err != nil {
		return err
	}
	if err := os.Mkdir(f.root, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := root.MkdirAll(path.Dir(key), 0o700); err != nil {
		return err
	}
	if err := replace(root, key, secret); err != nil {
		return err
	}
	return compare(root, key, secret)
}

// replace writes a file beside its place and moves it there: a reader sees the
// old secret or the new one. atomicwriter does the same by path, and a path is what
// could lead out of the root.
func replace(root *os.Root, key string, secret edge.Secret) error {
	beside := key + unfinished
	if err := root.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, secret.Reveal())
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = root.Rename(beside, key)
	}
	if err != nil {
		return errors.Join(err, root.Remove(beside))
	}
	return syncFolders(root, path.Dir(key))
}

// syncFolders makes the names of a file and of the folders above it last through
// a loss of power.
func syncFolders(root *os.Root, name string) error {
	for {
		dir, err := root.Open(name)
		if err != nil {
			return err
		}
		if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
			return err
		}
		if name == "." {
			return nil
		}
		name = path.Dir(name)
	}
}

// compare reads the file back.
func compare(root *os.Root, key string, secret edge.Secret) error {
	file, err := root.Open(key)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	got, err := io.ReadAll(io.LimitReader(file, int64(len(secret.Reveal()))+1))
	if err != nil {
		return err
	}
	if !edge.NewSecret(string(got)).Equal(secret) {
		return errors.New("the file does not contain what was written")
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if mode := info.Mode(); mode != 0o600 {
		return fmt.Errorf("the file has mode %v instead of -rw-------: the file system does not support modes", mode)
	}
	return nil
}
