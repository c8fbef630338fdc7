package inspect

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// socketName is the socket of a daemon in its state folder; until it may be used, it has
// another name.
const (
	socketName  = "status.sock"
	newSockName = "status.new"
)

// longestPath is how long the path of a socket may be, in bytes: systems hold it in a
// field of 104 bytes or more, with an end.
const longestPath = 103

// SocketPath is where the daemon of a state folder answers.
func SocketPath(dir string) string { return filepath.Join(dir, socketName) }

// Listen opens the socket of a state folder. Only its owner, and root, may connect: its
// mode is 0600 from the beginning. One that an earlier process has left is replaced; a file
// that is no socket is an error. The caller has the lock of the folder, so no other daemon
// uses it. Closing removes it.
func Listen(dir string) (*Socket, error) {
	path, fresh := SocketPath(dir), filepath.Join(dir, newSockName)
	if len(path) > longestPath {
		return nil, fmt.Errorf("the path %s has %d bytes, but a socket path has at most %d", path, len(path), longestPath)
	}
	for _, name := range []string{path, fresh} {
		info, err := os.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case info.Mode().Type() != fs.ModeSocket:
			return nil, fmt.Errorf("%s is not a socket; it was not changed", name)
		}
	}
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false) // it gets another name
	s := &Socket{UnixListener: listener, path: path}
	var errs [2]error
	s.folder, errs[0] = os.Stat(dir)
	s.file, errs[1] = os.Lstat(fresh)
	if err := errors.Join(errs[0], errs[1], os.Chmod(fresh, 0o600), os.Rename(fresh, path)); err != nil {
		return nil, errors.Join(err, listener.Close(), os.Remove(fresh))
	}
	return s, nil
}

// Socket is a [net.Listener] that removes its file when it is closed. Make it with [Listen].
type Socket struct {
	*net.UnixListener
	path         string
	folder, file fs.FileInfo
}

// Removed reports whether someone has removed the file, so that no one can connect any more. It does
// not in a folder that is another one by now: that may be another daemon's.
func (s *Socket) Removed() bool {
	_, err := os.Lstat(s.path)
	if !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	folder, err := os.Stat(filepath.Dir(s.path))
	return err == nil && os.SameFile(folder, s.folder)
}

// Close implements [net.Listener]. Closing again does nothing. A file that another one has made in the
// meantime stays.
func (s *Socket) Close() error {
	if err := s.UnixListener.Close(); err != nil {
		return err
	}
	file, err := os.Lstat(s.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(file, s.file) {
		return nil
	}
	return errors.Join(err, os.Remove(s.path))
}
