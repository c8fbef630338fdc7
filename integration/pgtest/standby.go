package pgtest

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
)

// Standby starts a second server that follows s. From then on a change of s counts only once the
// second one has it, too: that may take the place of s ([Server.Promote]).
func (s *Server) Standby() (_ *Server, err error) {
	b := &Server{bin: s.bin, as: s.as}
	if err = b.place(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	args := []string{"--dbname", pgURL(s.port, ""), "--pgdata", b.data(), "--write-recovery-conf", "--checkpoint", "fast", "--no-sync"}
	if out, err := b.command("pg_basebackup", args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("pg_basebackup: %w: %s", err, out)
	}
	if err := b.run(); err != nil {
		return nil, err
	}
	for _, statement := range []string{`ALTER SYSTEM SET synchronous_standby_names = '*'`, `SELECT pg_reload_conf()`} {
		if err := s.try(statement); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Promote has a standby take writes, once the server that it follows has ended.
func (s *Server) Promote() error { return s.try(`SELECT pg_promote()`) }

// URLOfBoth is that of a database on whichever of two servers takes writes.
func URLOfBoth(one, other *Server, database string) string {
	u, err := url.Parse(one.URL(database))
	if err != nil {
		panic(err) // it is made of nothing else than a port and a name
	}
	u.Host += "," + net.JoinHostPort("127.0.0.1", strconv.Itoa(other.port))
	u.RawQuery += "&target_session_attrs=read-write"
	return u.String()
}

// place finds a folder and a port for a server.
func (s *Server) place() (err error) {
	removeLeft()
	if s.dir, err = os.MkdirTemp("", folder); err != nil {
		return err
	}
	if s.lock, err = lock(s.dir); err != nil {
		return errors.Join(err, os.RemoveAll(s.dir))
	}
	if s.as != nil {
		if err := os.Chown(s.dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			s.close()
			return err
		}
	}
	if s.port, err = freePort(); err != nil {
		s.close()
	}
	return err
}
