package pgtest

import (
	"os"
	"path/filepath"
	"syscall"
)

// Keep keeps all that the server has now for [Server.PutBack], in the place of what was kept before.
// Connections are cut.
func (s *Server) Keep() error {
	if err := s.stop(syscall.SIGINT); err != nil {
		return err
	}
	if err := os.RemoveAll(s.keptData()); err != nil {
		return err
	}
	if err := copyAll(s.data(), s.keptData()); err != nil {
		return err
	}
	return s.run()
}

// PutBack has the server be as it was when it was kept: it has forgotten all since. Connections are cut.
func (s *Server) PutBack() error {
	if err := s.stop(syscall.SIGQUIT); err != nil {
		return err
	}
	if err := os.RemoveAll(s.data()); err != nil {
		return err
	}
	if err := copyAll(s.keptData(), s.data()); err != nil {
		return err
	}
	return s.run()
}

func (s *Server) keptData() string { return filepath.Join(s.dir, "kept") }
