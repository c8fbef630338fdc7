package integration

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// secrets are the values that the platform has issued, as they are and as they
// are easily written.
func (p *platform) secrets() (forms [][]byte) {
	for _, token := range p.Platform.Tokens() {
		forms = append(forms, []byte(token.Value), []byte(base64.StdEncoding.EncodeToString([]byte(token.Value))))
	}
	return forms
}

// nowhere checks that text holds none of them.
func (p *platform) nowhere(what string, text []byte) {
	p.t.Helper()
	for _, form := range p.secrets() {
		if i := bytes.Index(text, form); i >= 0 {
			p.t.Errorf("%s holds a secret, after %q", what, text[max(0, i-80):i])
		}
	}
}

// nowhereBelow checks every file below a folder. Files may come and go meanwhile.
func (p *platform) nowhereBelow(folder string) (searched int) {
	p.t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		searched++
		p.nowhere(path, data)
		return err
	})
	if err != nil {
		p.t.Error(err)
	}
	return searched
}
