package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// storeScenarios are faults of the daemon's own files.
func storeScenarios() []scenario {
	return []scenario{
		{
			name: "store-damaged", fault: "objects of the local git store are damaged", pushes: pushesNone,
			begin: func(ctx context.Context, f *fixture) error {
				return errors.Join(f.eachObject(damage), pushUnseen(ctx, f))
			},
		},
		{
			name: "store-gone", fault: "objects of the local git store are gone", pushes: pushesNone,
			begin: func(ctx context.Context, f *fixture) error {
				return errors.Join(f.eachObject(os.Remove), pushUnseen(ctx, f))
			},
		},
	}
}

var errNoObjects = errors.New("there is no object in the state folder")

// eachObject does something to all files of git objects in the state folder.
func (f *fixture) eachObject(do func(path string) error) error {
	count := 0
	err := filepath.WalkDir(f.state(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.Contains(path, "/objects/") {
			return err
		}
		count++
		return do(path)
	})
	if err == nil && count == 0 {
		return errNoObjects
	}
	return err
}

// damage overwrites a file with zeros from its middle on, and takes its end away.
func damage(path string) error {
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	data := make([]byte, info.Size()/3)
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(data, info.Size()/2)
	return errors.Join(err, file.Truncate(info.Size()-1), file.Close())
}
