//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
)

// TestADaemonStartsWhateverItsDatabaseDoes: the database goes away for a moment, at several places of
// the start. The daemon begins as soon as it is back. What the database refuses for good ends it.
func TestADaemonStartsWhateverItsDatabaseDoes(t *testing.T) {
	t.Parallel()
	o := shared(t)
	o.replicas, o.log = 1, new(bytes.Buffer)
	f, err := newFixture(t.Context(), o, t.TempDir())
	must.Do(t, err)
	defer f.stop()
	r := f.replicas[0]
	must.Do(t, r.end())
	front := frontOf(t, strings.Split(f.database.url(), "/")[2])
	config, err := os.ReadFile(r.config)
	must.Do(t, err)
	over := func(url string) {
		must.Do(t, os.WriteFile(r.config, bytes.ReplaceAll(config, []byte(f.database.url()), []byte(url)), 0o600))
	}
	over(strings.Replace(f.database.url(), front.to, "postgres@"+front.listener.Addr().String(), 1))
	start := func() {
		t.Helper()
		must.Do(t, r.start(t.Context()))
		var said string
		err := f.await(t.Context(), "the daemon is ready", func() bool {
			code, body, err := r.daemon.Get(t.Context(), "/readyz")
			said = fmt.Sprintf("%d %s %v", code, body, err)
			return err == nil && code == http.StatusOK
		})
		if err != nil {
			log, _ := os.ReadFile(filepath.Join(r.dir, "log"))
			t.Fatalf("%v\n/readyz: %s\n%s", err, said, log)
		}
	}
	whole := 0
	for range 2 { // the first one writes to zones, too: the second says what a start needs
		front.cutAfter(1 << 30)
		start()
		whole = 1<<30 - front.remaining()
		must.Do(t, r.end())
	}
	early := 0
	for part := range 5 {
		front.cutAfter(whole * part / 5)
		start()
		if front.remaining() <= 0 {
			early++
		}
		// A start does not always need as many messages, and then it is cut after it: a daemon looks at its
		// database each second.
		must.Do(t, f.await(t.Context(), "the connections are cut", func() bool { return front.remaining() <= 0 }))
		must.Do(t, f.await(t.Context(), "the database answers again", func() bool { return front.answers() }))
		must.Do(t, r.end())
	}
	if early < 2 { // how many messages a start needs is not the same each time
		t.Errorf("of 5 starts %d were cut", early)
	}
	for name, url := range map[string]string{
		"a user that there is not":     strings.Replace(f.database.url(), "postgres@", "nobody@", 1),
		"a database that there is not": strings.Replace(f.database.url(), "/postgres?", "/nothing?", 1),
	} {
		over(url)
		if err := r.start(t.Context()); err == nil || !strings.Contains(err.Error(), "does not exist") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// front is in front of a database, and cuts all connections once.
type front struct {
	listener net.Listener
	to       string // USER@HOST:PORT

	mu    sync.Mutex
	left  int       // messages, until it cuts
	until time.Time // nobody gets through
	open  []net.Conn
}

func frontOf(t *testing.T, to string) *front {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	f := &front{listener: listener, to: to}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go f.serve(conn)
		}
	}()
	return f
}

func (f *front) cutAfter(messages int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = messages
}

func (f *front) remaining() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.left
}

// answers reports whether connections get through.
func (f *front) answers() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().After(f.until)
}

func (f *front) serve(conn net.Conn) {
	defer conn.Close()
	_, address, _ := strings.Cut(f.to, "@")
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	if !f.passes(conn, server) {
		return
	}
	go func() {
		defer conn.Close()
		_, _ = io.Copy(conn, server)
	}()
	for buffer := make([]byte, 1<<16); ; {
		n, err := conn.Read(buffer)
		if err != nil || !f.passes() {
			return
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// passes counts a message, or a connection.
func (f *front) passes(opened ...net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = append(f.open, opened...)
	if f.left--; f.left == -1 {
		f.until = time.Now().Add(time.Second)
	}
	if time.Now().After(f.until) {
		return true
	}
	for _, conn := range f.open {
		_ = conn.Close()
	}
	f.open = nil
	return false
}
