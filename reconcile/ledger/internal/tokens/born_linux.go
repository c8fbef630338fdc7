package tokens

import (
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// BornAt returns when a file was made, which no copy can take along. It is empty
// where the file system does not tell.
func BornAt(path string) (string, error) {
	var s unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_BTIME, &s); err != nil {
		return "", &fs.PathError{Op: "statx", Path: path, Err: err}
	}
	if s.Mask&unix.STATX_BTIME == 0 {
		return "", nil
	}
	return fmt.Sprintf("%d.%09d", s.Btime.Sec, s.Btime.Nsec), nil
}
