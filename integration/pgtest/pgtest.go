// Package pgtest starts a real PostgreSQL, and PgBouncer before it, for tests.
//
//	url := pgtest.Database(t)             // an empty database of its own
//	url := pgtest.Filled(t, "x", fill)    // one with what fill puts into the first of them
//	server := pgtest.Start(t)             // a server of its own, to be stopped and started again
//	pooled := server.Pooler(t)            // the same through PgBouncer, in transaction mode
//
// Without the programs a test is skipped, but where SEAWALL_TEST_POSTGRES=required says that it must
// not be.
package pgtest

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

// Server is a PostgreSQL in a folder of its own. It does not wait for the disk, and ends with the
// process that has started it.
type Server struct {
	dir, bin string
	lock     *os.File // on the folder, until the process ends
	port     int
	as       *syscall.Credential // nil: as the user of the test
	process  *exec.Cmd           // nil: it does not run
	settings []string            // beside those of each server

	asking   sync.Once // of Ask
	asked    *sql.DB
	askedErr error

	databases
}

// brief are the settings of a server that lasts for a test: there is nothing to clean up, and nobody
// follows what a single table has.
var brief = []string{"autovacuum=off", "max_logical_replication_workers=0"}

// patience bounds how long a server may take to start or to stop. A machine may be slow.
const patience = 2 * time.Minute

// Start starts a server that the test has for itself.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := start(brief...)
	skipOrFail(t, err)
	t.Cleanup(func() { s.close() })
	return s
}

// New starts a server for a program that is no test, with settings of its own, each NAME=VALUE. The
// error says what is missing.
func New(settings ...string) (*Server, error) { return start(settings...) }

// Close ends a server of [New] and removes its files.
func (s *Server) Close() { s.close() }

// Crash is [Server.Stop] for a program.
func (s *Server) Crash() error { return s.stop(syscall.SIGQUIT) }

// Again is [Server.Restart] for a program.
func (s *Server) Again() error { return s.run() }

// CutAll is [Server.Cut] for a program.
func (s *Server) CutAll() error { return s.try(cut) }

// Main runs the tests of a package, and ends the server that they share. The files of servers are in
// memory but in a soak: a server has a thousand, and where as many were just deleted ext4 looks for
// an inode for longer than all else takes.
func Main(m *testing.M) int {
	if !soak.On {
		defer must.InMemory()()
	}
	code := m.Run()
	if shared.server != nil {
		shared.server.close()
	}
	return code
}

// URL is that of a database of the server.
func (s *Server) URL(database string) string { return pgURL(s.port, database) }

func pgURL(port int, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Path: database, RawQuery: "sslmode=disable"}
	return u.String()
}

// Stop ends the server at once, as a crash does. Connections are cut.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.stop(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
}

// Restart starts it again, over what it has left behind.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
}

const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`

// Cut ends all connections to the server.
func (s *Server) Cut(t testing.TB) {
	t.Helper()
	s.exec(t, cut)
}

var errMissing = errors.New("PostgreSQL is missing: install postgresql")

// Need skips a test where the programs are missing.
func Need(t testing.TB) {
	t.Helper()
	_, err := program("initdb")
	skipOrFail(t, err)
}

// skipOrFail skips a test where the programs are missing, unless they must be there.
func skipOrFail(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, errMissing) && os.Getenv("SEAWALL_TEST_POSTGRES") != "required" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// start makes the files of a server, and runs it.
func start(settings ...string) (*Server, error) {
	path, err := program("initdb")
	if err != nil {
		return nil, err
	}
	s := &Server{bin: filepath.Dir(path), settings: settings}
	if s.as, err = unprivileged(); err != nil {
		return nil, err
	}
	if err := s.place(); err != nil {
		return nil, err
	}
	if err := s.fill(); err != nil {
		s.close()
		return nil, err
	}
	if err := s.run(); err != nil { // what it is a copy of may be damaged
		s.close()
		return nil, errors.Join(err, os.RemoveAll(s.kept()))
	}
	return s, nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// command is a program of the server, as the user that it runs as.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "LC_ALL=C")
	cmd.SysProcAttr = attributes(s.as)
	return cmd
}

func (s *Server) run() error {
	args := []string{"-D", s.data(), "-p", strconv.Itoa(s.port), "-k", s.dir}
	for _, setting := range append([]string{"listen_addresses=127.0.0.1", "fsync=off", "full_page_writes=off", "shared_buffers=32MB", "max_connections=200"}, s.settings...) {
		args = append(args, "-c", setting)
	}
	cmd := s.command("postgres", args...)
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	s.process = cmd
	itself := fmt.Sprintf("SELECT 1 / (current_setting('data_directory') = '%s')::int", s.data()) // another one may have the port
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := s.try(itself)
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			said, _ := os.ReadFile(log.Name())
			return fmt.Errorf("PostgreSQL does not answer: %w\n%s", err, said)
		}
	}
}

func (s *Server) stop(signal os.Signal) error {
	s.forget()
	if s.process == nil {
		return nil
	}
	process := s.process
	s.process = nil
	if err := process.Process.Signal(signal); err != nil {
		return err
	}
	_ = process.Wait() // it was told to end, and says so by its code
	return nil
}

func (s *Server) close() {
	if s.asked != nil {
		_ = s.asked.Close()
	}
	_ = s.stop(syscall.SIGQUIT)
	_ = os.RemoveAll(s.dir)
	if s.lock != nil {
		_ = s.lock.Close()
	}
}

// program finds one of PostgreSQL's, which Debian has outside of the path.
func program(name string) (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) > 0 {
		return slices.MaxFunc(found, func(a, b string) int { return strings.Compare(a, b) }), nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", errMissing
	}
	return filepath.EvalSymlinks(path)
}

// unprivileged is the user that a server runs as where the test runs as root, which PostgreSQL
// refuses.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("there is no user to run PostgreSQL as")
}
