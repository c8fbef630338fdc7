package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Guarded refuses a state folder, and files in it, that others than their owner may
// write to: whoever writes to a ledger approves, and lets go of tokens. What is not there
// is no matter.
func Guarded(folder string, files ...string) error {
	info, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case !info.IsDir() || !othersMayEnter(info):
	case info.Mode()&fs.ModeSticky != 0:
		return exposed(folder, info, "create a folder only for Seawall and set state.dir to it: mkdir -m 700 "+filepath.Join(folder, "seawall"))
	default:
		return exposed(folder, info, "chmod go-w "+folder)
	}
	for _, path := range files {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() && othersMayWrite(info) {
			return exposed(path, info, "chmod 600 "+path)
		}
	}
	return nil
}

func exposed(path string, info fs.FileInfo, hint string) error {
	return &Error{
		Kind: ErrExposed, Reason: fmt.Sprintf("%s has mode %04o", path, info.Mode().Perm()),
		Hint: hint + "; if another user may have changed the ledger, restore a backup",
	}
}
