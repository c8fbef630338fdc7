package gitrepo_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/must"
)

// idle is long enough for a busy machine to say something in, and short enough
// to wait for.
const idle = 700 * time.Millisecond

// line is a way to a server that hands on so many bytes of what it says, at a
// pace, and then says nothing and stays open.
type line struct {
	bytes int64         // in each connection; negative for all
	piece int           // handed on at once; zero for any number
	pause time.Duration // after each piece
}

// to returns the address of a way to address.
func (l line) to(t *testing.T, address string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", address)
			if err != nil {
				client.Close()
				return
			}
			t.Cleanup(func() { client.Close(); server.Close() })
			go func() { _, _ = io.Copy(server, client) }()
			go l.copy(client, server)
		}
	}()
	return listener.Addr().String()
}

func (l line) copy(client, server net.Conn) {
	piece := make([]byte, max(l.piece, 1))
	if l.piece == 0 {
		piece = make([]byte, 4096)
	}
	for left := l.bytes; left != 0; {
		if left > 0 {
			piece = piece[:min(int64(len(piece)), left)]
		}
		n, err := server.Read(piece)
		if err != nil {
			client.Close()
			return
		}
		if _, err := client.Write(piece[:n]); err != nil {
			return
		}
		left -= int64(n)
		time.Sleep(l.pause)
	}
}

// server is a repository of 20 KB that does not compress, and how to reach it.
type server struct {
	*gittest.Repository
	head      string
	http, ssh string // addresses, host:port
	auth      func(address string) gitrepo.Auth
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{Repository: gittest.New(t)}
	s.head = s.Commit("a.cue", "// "+base64.StdEncoding.EncodeToString([]byte(noise(t, 15<<10)))+"\n")
	at, err := url.Parse(s.HTTP("", ""))
	must.Do(t, err)
	key := gittest.NewKey(t)
	address, host := s.SSH("git", key.Public)
	s.http, s.ssh = at.Host, address
	s.auth = func(address string) gitrepo.Auth { return sshAuth(t, key, gittest.KnownHosts(address, host)) }
	return s
}

func (s *server) overHTTP(address string) gitrepo.Source {
	return gitrepo.Source{URL: "http://" + address + "/edge.git", Ref: "refs/heads/main", Idle: idle}
}

func (s *server) overSSH(address string) gitrepo.Source {
	return gitrepo.Source{URL: "ssh://git@" + address + s.Dir, Ref: "refs/heads/main", Auth: s.auth(address), Idle: idle}
}

// Wherever in a conversation a server falls silent, it is given up.
func TestFetchGivesUpSilence(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, sent := range []int64{0, 10, 100, 600, 1500, 3000, 10_000} {
		for _, way := range []struct {
			server string
			source func(string) gitrepo.Source
		}{{s.http, s.overHTTP}, {s.ssh, s.overSSH}} {
			address := line{bytes: sent}.to(t, way.server)
			source := way.source(address)
			t.Run(strings.SplitN(source.URL, ":", 2)[0], func(t *testing.T) {
				t.Parallel()
				_, err := open(t).Fetch(t.Context(), source)
				wantError(t, err, gitrepo.ErrUnreachable, "no data from "+address+" for 700ms")
				p, _ := openPulls(t)
				_, err = p.List(t.Context(), source)
				if err != nil || sent < 600 {
					wantError(t, err, gitrepo.ErrUnreachable, "no data from "+address+" for 700ms")
				}
				if sent < 600 {
					_, err = p.Fetch(t.Context(), source, gitrepo.Pull{Number: 1, Ref: "refs/pull/1/head"})
					wantError(t, err, gitrepo.ErrUnreachable, "no data from "+address+" for 700ms")
				}
			})
		}
	}
}

// A transfer that is slow goes on, for longer than any silence may be, and only
// the bound of the whole fetch ends it.
func TestFetchIsPatientWithSlowness(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	slow := line{bytes: -1, piece: 500, pause: 50 * time.Millisecond}
	for _, source := range []gitrepo.Source{s.overHTTP(slow.to(t, s.http)), s.overSSH(slow.to(t, s.ssh))} {
		t.Run(strings.SplitN(source.URL, ":", 2)[0], func(t *testing.T) {
			t.Parallel()
			source.Idle = 3 * idle
			begun := time.Now()
			if got := fetch(t, open(t), source); got != s.head {
				t.Errorf("commit %s, want %s", got, s.head)
			}
			if took := time.Since(begun); took < 1500*time.Millisecond {
				t.Errorf("it took %s, which proves nothing", took)
			}
			source.Timeout = idle
			_, err := open(t).Fetch(context.Background(), source)
			wantError(t, err, gitrepo.ErrFetch, "it took longer than 700ms")
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v is not a deadline's error", err)
			}
		})
	}
}

// A server that takes its time to greet is not silent either.
func TestListIsPatientWithSlowness(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, source := range []gitrepo.Source{
		s.overHTTP(line{bytes: -1, piece: 25, pause: 100 * time.Millisecond}.to(t, s.http)),
		s.overSSH(line{bytes: -1, piece: 100, pause: 100 * time.Millisecond}.to(t, s.ssh)),
	} {
		t.Run(strings.SplitN(source.URL, ":", 2)[0], func(t *testing.T) {
			t.Parallel()
			source.Idle = 2 * idle
			begun := time.Now()
			p, _ := openPulls(t)
			if _, err := p.List(t.Context(), source); err != nil {
				t.Error(err)
			}
			if took := time.Since(begun); took < source.Idle {
				t.Errorf("it took %s, which proves nothing", took)
			}
		})
	}
}

// A local repository is read by git's own program, which may hang on its disk.
func TestFetchGivesUpASilentProgram(t *testing.T) {
	u := gittest.New(t)
	u.Commit("a.cue", "a: 1\n")
	programs := t.TempDir()
	hanging := "#!/bin/sh\nexec sleep 60\n"
	must.Do(t, os.WriteFile(filepath.Join(programs, "git-upload-pack"), []byte(hanging), 0o700))
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	_, err := open(t).Fetch(t.Context(), gitrepo.Source{URL: u.Dir, Idle: idle, Ref: "refs/heads/main"})
	wantError(t, err, gitrepo.ErrUnreachable, "no data from "+u.Dir+" for 700ms")
}
