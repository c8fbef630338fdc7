// Package trusted reads files whose content is believed: keys, host keys, certificates,
// saved plans. What another user may write to is not believed, and what is no regular file,
// such as a FIFO, is not waited for.
//
//	data, err := trusted.Read("/etc/seawall/allowed_signers", 4<<20)
//
// It is a package of its own because those who read such files have nothing else in common.
// It imports the standard library only.
package trusted

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Error says that others may write to a file, or may put another into its place.
type Error struct {
	Path string // the file, or its folder
	Mode fs.FileMode
}

func (e *Error) Error() string {
	return fmt.Sprintf("others may write to %s (mode %04o), so its content cannot be trusted", e.Path, e.Mode.Perm())
}

// Advice is what to try.
func (e *Error) Advice() string { return "chmod go-w " + e.Path + ", after checking its content" }

// Check returns [*Error] where others may write to a file, or put another into its place. It
// does not read it.
func Check(path string) error {
	if err := Own(path); err != nil {
		return err
	}
	return Folder(path)
}

// Own is [Check] without the folder, for programs: those of a system stand in folders of many
// kinds.
func Own(path string) error {
	info, err := os.Stat(path)
	if err == nil && othersMayWrite(info) {
		err = &Error{path, info.Mode()}
	}
	return err
}

// ErrIrregular: it is a folder, a FIFO, a socket or a device.
var ErrIrregular = errors.New("it is not a regular file")

// Read reads a file of at most so many bytes that no one may write to but its owner and root.
// It returns [*Error] where others may, and [ErrIrregular].
func Read(path string, most int64) ([]byte, error) {
	file, _, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if err := Check(path); err != nil {
		return nil, err
	}
	return ReadAll(file, most)
}

// Input opens a file that a person names on the command line or in a configuration: a regular
// file, or what a shell hands over below /dev or /proc, as <(…) and /dev/stdin are. Its mode
// does not matter.
func Input(path string) (*os.File, error) {
	if abs, err := filepath.Abs(path); err == nil && (strings.HasPrefix(abs, "/dev/") && !strings.HasPrefix(abs, "/dev/shm/") || strings.HasPrefix(abs, "/proc/")) {
		return os.Open(path)
	}
	file, _, err := Open(path)
	return file, err
}

// ReadSmall reads what [Input] opens, of at most so many bytes: a path that leads to a device
// or a disk image must not eat the machine's memory, and one that leads to a FIFO must not
// wait for ever.
func ReadSmall(path string, most int64) ([]byte, error) {
	file, err := Input(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s is larger than %d KiB", path, most>>10)
	}
	return data, err
}

// Open opens a regular file for reading. It never waits, as opening a FIFO does for a writer.
func Open(path string) (*os.File, fs.FileInfo, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrIrregular}
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// ReadAll reads at most so many bytes, and fails where there are more.
func ReadAll(file *os.File, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it is over the bound of %d bytes", most)
	}
	return data, err
}

// Folder returns [*Error] where others may put another file into the place of this one: into
// its folder, or that of the file that it links to. In a folder such as /tmp they may add
// files and cannot replace one.
func Folder(path string) error {
	folders := []string{filepath.Dir(path)}
	if target, err := filepath.EvalSymlinks(path); err == nil && filepath.Dir(target) != folders[0] {
		folders = append(folders, filepath.Dir(target))
	}
	for _, folder := range folders {
		info, err := os.Stat(folder)
		if err != nil {
			return err
		}
		if othersMayWrite(info) && info.Mode()&fs.ModeSticky == 0 {
			return &Error{folder, info.Mode()}
		}
	}
	return nil
}
