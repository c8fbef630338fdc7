// Package integrity looks at the files of a git store by themselves: packs and indexes
// end in their own checksums, and a loose object is named by its content. It follows no
// reference and reads no history.
package integrity

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/objfile"
)

// ErrDamaged is a store that holds something else than was written to it. It is
// never said of a store that merely cannot be read.
var ErrDamaged = errors.New("the store is damaged")

// Damaged says what is damaged: an [ErrDamaged].
func Damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// Listing is name, length and time of the files of a store that only a fetch changes,
// one a line.
func Listing(dir string) (string, error) {
	var seen strings.Builder
	note := func(path string, entry fs.DirEntry) error {
		info, err := entry.Info()
		if err == nil {
			fmt.Fprintf(&seen, "%s %d %d\n", filepath.ToSlash(path), info.Size(), info.ModTime().UnixNano())
		}
		return err
	}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && path != "objects" && !strings.HasPrefix(path, "objects/"):
			return fs.SkipDir
		case entry.Type().IsRegular() && (strings.HasPrefix(path, "objects/") || path == "packed-refs" || path == "shallow"):
			return note(path, entry)
		}
		return nil
	})
	return seen.String(), err
}

// Files reads all files of a store, and returns [ErrDamaged] for one that is not as it
// was written. Any other error is a file that cannot be read.
func Files(dir string) error {
	if err := packs(dir); err != nil {
		return err
	}
	return loose(dir)
}

func packs(dir string) error {
	if _, err := os.ReadDir(filepath.Join(dir, "objects")); err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "pack-*.pack"))
	if err != nil {
		return err
	}
	for _, pack := range names {
		name := strings.TrimSuffix(pack, ".pack")
		sum, _, err := checksum(pack)
		if err != nil {
			return err
		}
		_, of, err := checksum(name + ".idx")
		if err != nil {
			return err
		}
		if !bytes.Equal(sum, of) || filepath.Base(name) != "pack-"+hex.EncodeToString(sum) {
			return Damaged("%s does not fit its index", filepath.Base(pack))
		}
	}
	return nil
}

// checksum returns the last 20 bytes of a file, which have to be the SHA-1 of
// all before them, and the 20 before those: in an index, the checksum of its
// pack.
func checksum(name string) (sum, before []byte, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	const least = 12 + sha1.Size // a pack without objects
	if info.Size() < least {
		return nil, nil, Damaged("%s is cut", filepath.Base(name))
	}
	hash, end := sha1.New(), make([]byte, min(2*sha1.Size, info.Size()))
	if _, err := io.Copy(hash, io.NewSectionReader(file, 0, info.Size()-sha1.Size)); err != nil {
		return nil, nil, err
	}
	if _, err := file.ReadAt(end, info.Size()-int64(len(end))); err != nil {
		return nil, nil, err
	}
	before, sum = end[:len(end)-sha1.Size], end[len(end)-sha1.Size:]
	if !bytes.Equal(hash.Sum(nil), sum) {
		return nil, nil, Damaged("%s does not have its checksum", filepath.Base(name))
	}
	return sum, before, nil
}

// loose looks at objects outside of packs. Fetches make none, but where
// there is one it is read first.
func loose(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "objects", "[0-9a-f][0-9a-f]", "*"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := looseObject(name); err != nil {
			return err
		}
	}
	return nil
}

func looseObject(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	want := filepath.Base(filepath.Dir(name)) + filepath.Base(name)
	in, err := objfile.NewReader(file)
	if err != nil {
		return Damaged("object %s: %v", want, err)
	}
	defer in.Close()
	if _, _, err := in.Header(); err != nil {
		return Damaged("object %s: %v", want, err)
	}
	if _, err := io.Copy(io.Discard, in); err != nil || in.Hash().String() != want {
		return Damaged("object %s has another content", want)
	}
	return nil
}
