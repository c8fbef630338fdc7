package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
)

// Prints are the fingerprints of a tree's folders: of the names and contents of
// the files that lie in each, not of what lies in folders below. A folder that
// is not there has the empty one.
type Prints map[string]string

// PrintsOf takes the fingerprints of all folders of fsys, cue.mod and those that
// hold no desired state too: their files may be imported. Where Sys of a file's
// [fs.FileInfo] is text, it is taken as the hash of the content, which then is
// not read; git's trees have it at hand.
func PrintsOf(fsys fs.FS) (Prints, error) {
	sums := map[string]hash.Hash{}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("reading %s: %w", name, err)
		case entry.IsDir():
			sums[name] = sha256.New()
			return nil
		}
		content, err := contentHash(fsys, name, entry)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		field(sums[path.Dir(name)], entry.Name(), entry.Type().String(), content)
		return nil
	})
	if err != nil {
		return nil, err
	}
	prints := make(Prints, len(sums))
	for folder, sum := range sums {
		prints[folder] = hex.EncodeToString(sum.Sum(nil))
	}
	return prints, nil
}

func contentHash(fsys fs.FS, name string, entry fs.DirEntry) (string, error) {
	info, err := entry.Info()
	if err != nil {
		return "", err
	}
	if known, ok := info.Sys().(string); ok && known != "" {
		return "git " + known, nil
	}
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return "sha256 " + hex.EncodeToString(sum[:]), nil
}

// field adds texts so that no two lists of them are hashed alike.
func field(sum io.Writer, texts ...string) {
	for _, text := range texts {
		fmt.Fprintf(sum, "%d:%s", len(text), text)
	}
}

// Address says under which name to look for the unit of a folder. It stands for
// what is sure to count before anything is read: the program that evaluates, the
// folder's name and files, and those of the folders above with their cue.mod. What a
// folder imports is not in it; so a unit that is found there holds only if
// what it read is as it was, which [Prints.Agree] tells.
func (p Prints) Address(program, dir string) string {
	sum := sha256.New()
	field(sum, program, path.Clean(dir))
	for at := path.Clean(dir); ; at = path.Dir(at) {
		field(sum, p[at], p[path.Join(at, "cue.mod")])
		if at == "." {
			return hex.EncodeToString(sum.Sum(nil))
		}
	}
}

// Of returns the fingerprints of some folders, the empty one for those that
// are not there.
func (p Prints) Of(folders []string) Prints {
	some := make(Prints, len(folders))
	for _, folder := range folders {
		some[folder] = p[folder]
	}
	return some
}

// Agree reports whether the folders of looked are in p as they are there, those
// that are missing too.
func (p Prints) Agree(looked Prints) bool {
	for folder, fingerprint := range looked {
		if p[folder] != fingerprint {
			return false
		}
	}
	return true
}
