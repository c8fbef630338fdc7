package evaluate

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/integration/must"
)

// packs are the packs of the store.
func (c *commits) packs() []string {
	c.t.Helper()
	names, err := filepath.Glob(filepath.Join(c.state, "git", "objects", "pack", "*.pack"))
	if err != nil || len(names) == 0 {
		c.t.Fatalf("packs %v, %v", names, err)
	}
	return names
}

// damage changes the packs behind their checksums, and leaves their length and
// time as they are: what a disk does by itself.
func (c *commits) damage() {
	c.t.Helper()
	for _, name := range c.packs() {
		info, err := os.Stat(name)
		must.Do(c.t, err)
		content, err := os.ReadFile(name)
		must.Do(c.t, err)
		for i := 12; i < len(content)-20; i++ {
			content[i] ^= 0x55
		}
		must.Do(c.t, os.Remove(name))
		must.Do(c.t, os.WriteFile(name, content, 0o600))
		must.Do(c.t, os.Chtimes(name, time.Time{}, info.ModTime()))
	}
}

func (c *commits) fetch(r *Repository) string {
	c.t.Helper()
	commit, err := r.Fetch(c.t.Context())
	must.Do(c.t, err)
	return commit
}

// A store that is damaged is fetched anew, and that is told once.
func TestRebuiltStoreIsTold(t *testing.T) {
	c := newCommits(t)
	r := c.start()
	want := c.commit(r, map[string]string{"a/a.cue": "package a\n"})
	must.Do(t, os.Truncate(c.packs()[0], 40))
	for _, times := range []int{1, 1} {
		if got := c.fetch(r); got != want {
			t.Errorf("commit %s, want %s", got, want)
		}
		if n := strings.Count(c.log.String(), `"level":"WARN","msg":"the local git store was damaged and has been rebuilt"`); n != times {
			t.Errorf("told %d times in\n%s", n, &c.log)
		}
	}
}

// A file that the store cannot hand out is no mistake of the commit: it is not
// told as one, and not kept as one.
func TestUnreadableFileIsNoMistake(t *testing.T) {
	c := newCommits(t)
	r := c.start()
	long := "package a\n" + strings.Repeat("// long enough not to be read with the list of files\n", 100)
	commit := c.commit(r, map[string]string{"a/a.cue": long, "b/b.cue": "package b\n"})
	at := tree{Store: r.store, Commit: commit}
	// The list of files is read before the file is.
	files, _, err := at.open()
	must.Do(t, err)
	c.damage()
	if _, err := files.(*gitrepo.Tree).ReadFile("a/a.cue"); err == nil {
		t.Fatal("the damaged file can be read")
	}
	if err := unreadable(files); err == nil || !strings.Contains(err.Error(), "the local store failed") {
		t.Errorf("unreadable: %v", err)
	}
	if _, problems, err := r.Compile(t.Context(), commit); err == nil {
		t.Errorf("compiled with the problems %v", problems)
	}
	if got := c.fetch(r); got != commit || !strings.Contains(c.log.String(), "has been rebuilt") {
		t.Errorf("commit %s, and told\n%s", got, &c.log)
	}
	if _, problems, err := r.Compile(t.Context(), commit); err != nil || len(problems) > 0 {
		t.Errorf("after it: problems %v, %v", problems, err)
	}
}

// A server that takes connections and says nothing is given up by the
// configuration's bound.
func TestFetchGivesUpSilentServer(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	t.Cleanup(func() { silent.Close() })
	c := newCommits(t)
	c.source.URL = "http://" + silent.Addr().String() + "/edge.git"
	c.source.Idle = 300 * time.Millisecond
	want := "no data from " + silent.Addr().String() + " for 300ms"
	if _, err := c.start().Fetch(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	p := newPulled(t)
	p.source.URL, p.source.Idle = c.source.URL, c.source.Idle
	if _, _, err := p.heads.Fetch(t.Context(), []int{1}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("pull requests: error %v, want %q", err, want)
	}
	c.source.Idle, c.source.Timeout = time.Hour, 300*time.Millisecond
	if _, err := c.start().Fetch(t.Context()); err == nil || !strings.Contains(err.Error(), "it took longer than 300ms") {
		t.Errorf("error %v", err)
	}
}

// TestSparesAskForPushes: before a process is started ahead, for either kind of job, it is asked whether a
// push is under way.
func TestSparesAskForPushes(t *testing.T) {
	t.Parallel()
	r, err := OpenRepository(t.TempDir(), Remote{}, slog.New(slog.DiscardHandler))
	must.Do(t, err)
	t.Cleanup(r.Close)
	asked, over := make(chan struct{}), make(chan struct{})
	closeAll := r.KeepSpares(func() time.Duration {
		asked <- struct{}{}
		<-over
		return 0
	})
	for range 2 { // neither asks twice: it waits for the answer
		select {
		case <-asked:
		case <-time.After(time.Minute):
			t.Fatal("a process is started that has not asked whether a push is under way")
		}
	}
	closeAll()
	close(over)
}

// A worker tidies the store after each fetch, and keeps nobody waiting for a new commit: what takes longer than a
// moment follows a fetch that brought nothing.
func TestFetchTidies(t *testing.T) {
	t.Parallel()
	c := newCommits(t)
	r := c.start()
	c.origin.Commit("a/a.cue", "package a\n")
	c.fetch(r)
	const pushes = 10
	random := rand.NewChaCha8([32]byte{})
	for _, test := range []struct{ noise, least, most int }{{1, 1, pushes - 1}, {64 << 10, pushes, 2 * pushes}} {
		noise := make([]byte, test.noise)
		for range pushes {
			_, _ = random.Read(noise)
			c.origin.Commit("a/a.cue", fmt.Sprintf("package a\n// %x\n", noise))
			c.fetch(r)
		}
		if n := len(c.packs()); n < test.least || n > test.most {
			t.Errorf("%d packs after %d pushes of %d bytes, one after the other; logged\n%s", n, pushes, test.noise, &c.log)
		}
	}
	r = c.start() // nor does the first fetch of a process, which a push may have begun
	before := len(c.packs())
	c.origin.Commit("a/a.cue", "package a\n// last\n")
	c.fetch(r)
	if n := len(c.packs()); n != before+1 {
		t.Errorf("%d packs after the first fetch of a process, want %d; logged\n%s", n, before+1, &c.log)
	}
	c.fetch(r)
	if n := len(c.packs()); n > 2 {
		t.Errorf("%d packs after a fetch that brought nothing; logged\n%s", n, &c.log)
	}
}
