package gitrepo_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

// damages are what happens to a store's files.
var damages = []struct {
	name string
	do   func(*store)
	mild bool // healed where it is met, without fetching anew
}{
	{name: "a pack is cut", do: func(s *store) { s.each("objects/pack/*.pack", cut) }},
	{name: "a pack is emptied", do: func(s *store) { s.each("objects/pack/*.pack", empty) }},
	{name: "a pack is scrambled", do: func(s *store) { s.one("objects/pack/*.pack", scramble) }},
	{name: "packs rot", do: func(s *store) { s.each("objects/pack/*.pack", rot) }},
	{name: "indexes rot", do: func(s *store) { s.each("objects/pack/*.idx", rot) }},
	{name: "packs are gone", do: func(s *store) { s.each("objects/pack/*.pack", remove) }},
	{name: "one pack is gone", do: func(s *store) { s.one("objects/pack/*.pack", remove) }},
	{name: "one pack and its index are gone", do: func(s *store) { s.one("objects/pack/*.pack", remove); s.one("objects/pack/*.idx", remove) }},
	{name: "an index is cut", do: func(s *store) { s.one("objects/pack/*.idx", cut) }},
	{name: "an index is scrambled", do: func(s *store) { s.one("objects/pack/*.idx", scramble) }},
	{name: "an index is gone", do: func(s *store) { s.one("objects/pack/*.idx", remove) }},
	{name: "indexes are emptied", do: func(s *store) { s.each("objects/pack/*.idx", empty) }},
	{name: "all objects are gone", do: func(s *store) { s.each("objects", remove) }},
	{name: "packed-refs is garbage", do: func(s *store) { s.write("packed-refs", "what is this?\x00\n") }},
	{name: "an object beside the packs is garbage", do: func(s *store) {
		tree := s.Git("rev-parse", s.tip+"^{tree}")
		s.write("objects/"+tree[:2]+"/"+tree[2:], "garbage")
	}},
	{name: "the list of cuts is garbage", do: func(s *store) { s.write("shallow", "what is this?\n") }},
	{name: "the fetched ref is garbage", do: func(s *store) { s.write("refs/seawall/fetched", "what is this?\n") }, mild: true},
	{name: "the fetched ref is of elsewhere", do: func(s *store) { s.write("refs/seawall/fetched", strings.Repeat("ab", 20)+"\n") }, mild: true},
	{name: "the fetched ref is gone", do: func(s *store) { s.each("refs/seawall/fetched", remove) }, mild: true},
	{name: "HEAD is gone", do: func(s *store) { s.each("HEAD", remove) }, mild: true},
	{name: "HEAD is garbage", do: func(s *store) { s.write("HEAD", "what is this?\n") }, mild: true},
	{name: "HEAD is empty", do: func(s *store) { s.write("HEAD", "") }, mild: true},
	{name: "the configuration is garbage", do: func(s *store) { s.write("config", "what is this?\n[[[") }, mild: true},
	{name: "the configuration is gone", do: func(s *store) { s.each("config", remove) }, mild: true},
	{name: "everything is zeros", do: func(s *store) {
		for _, name := range []string{"objects/pack/*", "HEAD", "config", "refs/seawall/fetched"} {
			s.each(name, zero)
		}
	}},
}

// store is a store of two fetches, and the repository they were of.
type store struct {
	*gittest.Repository
	t         *testing.T
	repo      *gitrepo.Repo
	dir       string
	source    gitrepo.Source
	good, tip string
	next      []string // commits that follow the tip, a: 3 and a: 4, which no branch has yet
}

func newStore(t *testing.T, shallow bool) *store {
	t.Helper()
	s := &store{Repository: gittest.New(t), t: t}
	s.source = sourceOf(s.Repository, shallow)
	s.repo, s.dir = storeOf(t)
	s.Commit("old.cue", "old: 1\n")
	s.good = s.Commit("a.cue", "a: 1\n", "b/b.cue", "b: 1\n"+strings.Repeat("// long\n", 2000))
	fetch(t, s.repo, s.source)
	must.Do(t, s.repo.SetGood(s.good))
	s.tip = s.Commit("a.cue", "a: 2\n")
	fetch(t, s.repo, s.source)
	if shallow { // what came first is not in the store
		s.good = s.tip
		must.Do(t, s.repo.SetGood(s.good))
	}
	s.next = s.Chain("a.cue", "a: 3\n", "a: 4\n")
	return s
}

// push moves the branch to a commit.
func (s *store) push(commit string) { s.Point("refs/heads/main", commit) }

func sourceOf(u *gittest.Repository, shallow bool) gitrepo.Source {
	return gitrepo.Source{URL: "file://" + u.Dir, Ref: "refs/heads/main", Shallow: shallow}
}

// copied is a store of a test's own that looks as this one does.
func (s *store) copied(t *testing.T) *store {
	t.Helper()
	c := &store{t: t, good: s.good, tip: s.tip, next: s.next}
	c.Repository, c.dir = copied(t, s.Dir, s.dir)
	c.source = sourceOf(c.Repository, s.source.Shallow)
	c.repo = c.open()
	return c
}

// copied is a copy of a repository and of the folder that Seawall fetched it into, with
// the times of all files.
func copied(t *testing.T, repository, folder string) (*gittest.Repository, string) {
	t.Helper()
	to := t.TempDir()
	for _, from := range []string{repository, folder} {
		run(t, "cp", "-a", from, to)
	}
	return gittest.Open(t, filepath.Join(to, filepath.Base(repository))), filepath.Join(to, filepath.Base(folder))
}

func (s *store) each(glob string, do func(name string) error) {
	s.t.Helper()
	names, err := filepath.Glob(filepath.Join(s.dir, glob))
	if err != nil || len(names) == 0 {
		s.t.Fatalf("there is no %s: %v", glob, err)
	}
	for _, name := range names {
		must.Do(s.t, os.Chmod(name, 0o700))
		must.Do(s.t, do(name))
	}
}

func (s *store) one(glob string, do func(name string) error) {
	s.t.Helper()
	done := false
	s.each(glob, func(name string) error {
		if done {
			return nil
		}
		done = true
		return do(name)
	})
}

func (s *store) write(name, text string) {
	s.t.Helper()
	name = filepath.Join(s.dir, name)
	must.Do(s.t, os.MkdirAll(filepath.Dir(name), 0o700))
	must.Do(s.t, os.WriteFile(name, []byte(text), 0o600))
}

func remove(name string) error { return os.RemoveAll(name) }
func empty(name string) error  { return os.Truncate(name, 0) }

func cut(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	return os.Truncate(name, info.Size()*2/3)
}

func zero(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, make([]byte, info.Size()), 0o600)
}

// scramble changes bytes in the middle.
func scramble(name string) error {
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for i := len(content) / 3; i < len(content)/2; i++ {
		content[i] ^= 0x55
	}
	return os.WriteFile(name, content, 0o600)
}

// rot changes bytes, and leaves length and time as they are.
func rot(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for i := 12; i < len(content)-20; i++ {
		content[i] ^= 0x55
	}
	if err := os.WriteFile(name, content, 0o600); err != nil {
		return err
	}
	return os.Chtimes(name, time.Time{}, info.ModTime())
}

// open opens the store anew, as the next process does.
func (s *store) open() *gitrepo.Repo {
	s.t.Helper()
	r, err := gitrepo.Open(s.dir)
	if err != nil {
		s.t.Fatalf("opening: %v", err)
	}
	return r
}

// wantWhole: the commit can be read and the good one is known, and git finds
// nothing wrong.
func (s *store) wantWhole(commit, text string) {
	s.t.Helper()
	r := s.open()
	if got := content(s.t, r, commit, "a.cue"); got != text {
		s.t.Errorf("a.cue is %q, want %q", got, text)
	}
	if got := content(s.t, r, commit, "b/b.cue"); !strings.HasPrefix(got, "b: 1\n") {
		s.t.Errorf("b.cue is %q", got)
	}
	if hash, ok, err := r.Good(); hash != s.good || !ok || err != nil {
		s.t.Errorf("the good commit is %q, %v, %v, want %s", hash, ok, err, s.good)
	}
	fsck(s.t, s.dir)
	entries, err := os.ReadDir(s.dir)
	must.Do(s.t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "damaged-") || strings.HasPrefix(e.Name(), "refill-") {
			s.t.Errorf("%s is left behind", e.Name())
		}
	}
}

// fetched fetches as a process does that evaluates what it fetched: where a file
// of the commit cannot be read, the fetch after that finds out.
func (s *store) fetched() gitrepo.Fetched {
	s.t.Helper()
	got, err := s.open().Fetch(s.t.Context(), s.source)
	if err != nil {
		s.t.Fatalf("Fetch: %v", err)
	}
	if s.readable(got.Commit) == nil {
		return got
	}
	again, err := s.open().Fetch(s.t.Context(), s.source)
	if err != nil {
		s.t.Fatalf("Fetch: %v", err)
	}
	again.Rebuilt = again.Rebuilt || got.Rebuilt
	return again
}

func (s *store) readable(commit string) error {
	files, err := s.open().Tree(commit, ".", gitrepo.Limits{})
	if err != nil {
		return err
	}
	for _, name := range []string{"a.cue", "b/b.cue", "old.cue"} {
		if _, err := fs.ReadFile(files, name); err != nil {
			return err
		}
	}
	return nil
}

// Whatever happens to the store's files, fetching heals it by itself, whether
// there is something new or not, and says so once.
func TestFetchHealsTheStore(t *testing.T) {
	t.Parallel()
	stores := map[bool]*store{false: newStore(t, false), true: newStore(t, true)}
	variants := []struct{ shallow, moved bool }{{false, false}, {false, true}, {true, false}}
	for i, damage := range damages {
		for j, v := range variants {
			if !soak.On && j != (i+2)%len(variants) { // the list of cuts in a store that has one
				continue
			}
			t.Run(fmt.Sprintf("%s/shallow=%v/moved=%v", damage.name, v.shallow, v.moved), func(t *testing.T) {
				t.Parallel()
				s := stores[v.shallow].copied(t)
				want, text := s.tip, "a: 2\n"
				if v.moved {
					want, text = s.next[0], "a: 3\n"
					s.push(want)
				}
				damage.do(s)
				got := s.fetched()
				if got.Commit != want || got.Rebuilt == damage.mild {
					t.Errorf("fetched %+v, want commit %s, rebuilt %v", got, want, !damage.mild)
				}
				s.wantWhole(want, text)
				if !soak.On && i%3 != 0 { // a store that is whole goes on in one way
					return
				}
				if again := s.fetched(); again.Rebuilt || again.Commit != want {
					t.Errorf("fetched again: %+v", again)
				}
				s.push(s.next[1])
				if got := s.fetched(); got.Rebuilt || got.Commit != s.next[1] {
					t.Errorf("then fetched %+v, want %s", got, s.next[1])
				}
			})
		}
	}
}

// A good commit that was forced away upstream cannot be had again; one that is
// an ancestor can.
func TestHealingKeepsTheGoodCommit(t *testing.T) {
	t.Parallel()
	s := newStore(t, false)
	s.Git("checkout", "-q", "--orphan", "fresh")
	fresh := s.Commit("a.cue", "a: 7\n")
	s.Git("branch", "-q", "-M", "main")
	s.Git("reflog", "expire", "--expire=now", "--all")
	s.Git("gc", "-q", "--prune=now")
	s.each("objects/pack/*.pack", cut)
	got := s.fetched()
	if got.Commit != fresh || !got.Rebuilt {
		t.Errorf("fetched %+v, want %s", got, fresh)
	}
	if hash, ok, err := s.open().Good(); ok || err != nil {
		t.Errorf("the good commit is %q, %v, %v", hash, ok, err)
	}
}

// While the source cannot be fetched, a damaged store stays what it is.
func TestNothingIsDeletedForASourceThatIsDown(t *testing.T) {
	t.Parallel()
	s := newStore(t, false)
	s.one("objects/pack/*.pack", cut)
	before := s.listing()
	away := s.Dir + "-away"
	must.Do(t, os.Rename(s.Dir, away))
	_, err := s.open().Fetch(t.Context(), s.source)
	wantError(t, err, gitrepo.ErrNotFound, "edge.git")
	if after := s.listing(); after != before {
		t.Errorf("the store was\n%sand is\n%s", before, after)
	}
	must.Do(t, os.Rename(away, s.Dir))
	if got := s.fetched(); !got.Rebuilt {
		t.Errorf("fetched %+v", got)
	}
}

// listing is every file of the store but its own notes, with its content.
func (s *store) listing() string {
	s.t.Helper()
	var out bytes.Buffer
	err := filepath.WalkDir(s.dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "seawall.lock" || entry.Name() == "seawall.stamp" || strings.HasPrefix(entry.Name(), "tmp_pack_") {
			return err
		}
		content, err := os.ReadFile(name)
		fmt.Fprintf(&out, "%s %d %x\n", strings.TrimPrefix(name, s.dir), len(content), content[:min(8, len(content))])
		return err
	})
	must.Do(s.t, err)
	return out.String()
}

// A folder that holds anything else is not a store to throw away.
func TestHealingTouchesNothingForeign(t *testing.T) {
	t.Parallel()
	whole := newStore(t, false)
	for _, name := range []string{"thesis.txt", "hooks/post-update"} {
		s := whole.copied(t)
		s.write(name, "years of work")
		s.one("objects/pack/*.pack", cut)
		before := s.listing()
		_, err := s.repo.Fetch(t.Context(), s.source)
		wantError(t, err, gitrepo.ErrStore, "which does not belong to Seawall")
		if after := s.listing(); after != before {
			t.Errorf("the folder was\n%sand is\n%s", before, after)
		}
	}
}

// Two that find the store damaged at once do not stand in each other's way.
func TestHealingTakesTurns(t *testing.T) {
	t.Parallel()
	s := newStore(t, false)
	s.each("objects/pack/*.pack", cut)
	var group sync.WaitGroup
	rebuilt := make(chan bool, 4)
	for range 4 {
		group.Go(func() {
			r, err := gitrepo.Open(s.dir)
			if err != nil {
				t.Error(err)
				return
			}
			got, err := r.Fetch(context.Background(), s.source)
			if err != nil || got.Commit != s.tip {
				t.Errorf("fetched %+v, %v", got, err)
			}
			rebuilt <- got.Rebuilt
		})
	}
	group.Wait()
	close(rebuilt)
	times := 0
	for did := range rebuilt {
		if did {
			times++
		}
	}
	if times != 1 {
		t.Errorf("rebuilt %d times", times)
	}
	s.wantWhole(s.tip, "a: 2\n")
}

// A process that is killed while it puts the new store in place leaves parts of
// both behind.
func TestHealingAfterAKilledOne(t *testing.T) {
	t.Parallel()
	whole := newStore(t, false)
	for _, gone := range [][]string{{"HEAD"}, {"HEAD", "config"}, {"HEAD", "config", "objects"}, {"HEAD", "config", "objects", "refs"}} {
		s := whole.copied(t)
		for _, name := range gone {
			s.write("damaged-123/x", "")
			must.Do(t, os.Rename(filepath.Join(s.dir, name), filepath.Join(s.dir, "damaged-123", name)))
		}
		s.write("refill-456/HEAD", "ref: refs/heads/master\n")
		if got := s.fetched(); got.Commit != s.tip {
			t.Errorf("without %v: fetched %+v", gone, got)
		}
		if got := content(t, s.open(), s.tip, "a.cue"); got != "a: 2\n" {
			t.Errorf("without %v: a.cue is %q", gone, got)
		}
		fsck(t, s.dir)
	}
}

// Pull requests are fetched anew, too.
func TestFetchPullsHealsTheStore(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	u.Commit("a.cue", "a: 0\n", "b/b.cue", "b: 1\n")
	one := pull(u, "refs/pull/1/head", "a: 1\n")
	whole, folder := openPulls(t)
	bringPull(t, whole, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"}, one, one)
	for i, damage := range damages {
		if !soak.On && i%2 == 1 && !damage.mild { // they are all healed in one way: fetched anew
			continue
		}
		t.Run(damage.name, func(t *testing.T) {
			u, folder := copied(t, u.Dir, folder)
			p, err := gitrepo.OpenPulls(folder)
			must.Do(t, err)
			source := gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"}
			s := &store{Repository: u, t: t, dir: p.Store(one.Commit), tip: one.Commit}
			damage.do(s)
			for range 3 { // what cannot be read is known to be damaged from then on
				if here, _ := p.Known(one, source.Limits); !here {
					bringPull(t, p, source, one, one)
				}
				if _, err := s.open().Tree(one.Commit, ".", gitrepo.Limits{}); err == nil {
					break
				}
			}
			if got := content(t, s.open(), one.Commit, "a.cue"); got != "a: 1\n" {
				t.Errorf("a.cue is %q", got)
			}
		})
	}
}
