package pgtest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Pooler runs PgBouncer before the server, in transaction mode: each transaction may have another
// connection. It returns how to make the URL of a database.
func (s *Server) Pooler(t testing.TB) (urlOf func(database string) string) {
	t.Helper()
	return s.PoolerIn(t, "transaction")
}

// PoolerIn is [Server.Pooler] in another mode.
func (s *Server) PoolerIn(t testing.TB, mode string) (urlOf func(database string) string) {
	t.Helper()
	bin, err := exec.LookPath("pgbouncer")
	if err != nil {
		if bin = "/usr/sbin/pgbouncer"; !executable(bin) {
			skipOrFail(t, errMissing)
		}
	}
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(s.dir, fmt.Sprintf("pgbouncer-%d.ini", port))
	text := fmt.Sprintf(`[databases]
* = host=%s port=%d user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
auth_type = any
pool_mode = %s
default_pool_size = 20
max_client_conn = 500
server_idle_timeout = 15
ignore_startup_parameters = extra_float_digits
unix_socket_dir =
logfile = %s
`, s.dir, s.port, port, mode, filepath.Join(s.dir, "pgbouncer.log"))
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-q", config)
	cmd.Dir, cmd.SysProcAttr = s.dir, attributes(s.as)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGQUIT)
		_ = cmd.Wait()
	})
	urlOf = func(database string) string { return pgURL(port, database) }
	await(t, urlOf("postgres"))
	return urlOf
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o111 != 0
}

// await waits until a server answers.
func await(t testing.TB, url string) {
	t.Helper()
	db, err := sql.Open("pgx", url+"&default_query_exec_mode=simple_protocol")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		_, err := db.ExecContext(ctx, "SELECT 1")
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("PgBouncer does not answer: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
