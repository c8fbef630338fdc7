package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// cache is where the files of a new server are kept; empty for nowhere. It is asked for before a
// test's Main, which may hide where the home of the user is.
var cache, _ = os.UserCacheDir()

// initdb are the arguments of the program. With small segments a new server has 20 MB, not 40.
var initdb = strings.Fields("--username postgres --auth trust --no-sync --encoding UTF8 --locale C --wal-segsize 1")

// without drops what nobody makes a database of, a third of the files. Each line is a statement.
const without = "UPDATE pg_database SET datistemplate = false WHERE datname = 'template0'\nDROP DATABASE template0\n"

// version is that of the programs.
var version = sync.OnceValue(func() string {
	path, err := program("initdb")
	if err != nil {
		return ""
	}
	said, _ := exec.Command(path, "--version").Output() //nolint:gosec // it is a program of PostgreSQL
	return strings.TrimSpace(string(said))
})

// fill makes the files of a new server. initdb takes a second of processor time, and a copy of what
// it has once made for a version of PostgreSQL a tenth of it.
func (s *Server) fill() error {
	kept := s.kept()
	if kept != "" && copyAll(kept, s.data()) == nil {
		return nil
	}
	if err := os.RemoveAll(s.data()); err != nil {
		return err
	}
	if out, err := s.command("initdb", append([]string{"--pgdata", s.data()}, initdb...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	alone := s.command("postgres", "--single", "-F", "-D", s.data(), "postgres")
	alone.Stdin = strings.NewReader(without)
	if out, err := alone.CombinedOutput(); err != nil {
		return fmt.Errorf("a database that nobody uses: %w: %s", err, out)
	}
	if kept != "" {
		keep(s.data(), kept)
	}
	return nil
}

// kept is the folder that a new server is a copy of, whether it is there or not. It is of one
// version, one user and the same arguments.
func (s *Server) kept() string {
	if version() == "" || cache == "" {
		return ""
	}
	user := os.Geteuid()
	if s.as != nil {
		user = int(s.as.Uid)
	}
	key := fmt.Sprint(version(), " user ", user, " ", strings.Join(initdb, " "), " without template0")
	return filepath.Join(cache, "seawall-test", regexp.MustCompile(`[^\w.+]+`).ReplaceAllString(key, "-"))
}

// keep copies the files of a new server to where others find them. Two that do so at once have both
// made the same, and one of them is kept. Where it fails the next server is made as this one was.
func keep(made, kept string) {
	if os.MkdirAll(filepath.Dir(kept), 0o700) != nil {
		return
	}
	whole, err := os.MkdirTemp(filepath.Dir(kept), "new-")
	if err != nil {
		return
	}
	defer os.RemoveAll(whole)
	if copyAll(made, filepath.Join(whole, "data")) == nil {
		_ = os.Rename(filepath.Join(whole, "data"), kept)
	}
}

// copyAll copies a folder with the modes and the owners of its files.
func copyAll(from, to string) error {
	return exec.Command("cp", "-a", from, to).Run() //nolint:gosec // both are folders of a test
}
