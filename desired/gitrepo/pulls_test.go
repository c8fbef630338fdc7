package gitrepo_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
)

func openPulls(t testing.TB) (*gitrepo.Pulls, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "pulls")
	p, err := gitrepo.OpenPulls(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p, dir
}

// pull makes a commit on main's head that only a pull request's ref holds.
func pull(u *gittest.Repository, ref, content string) gitrepo.Pull {
	u.Git("checkout", "-q", "--detach", "main")
	head := u.Commit("a.cue", content)
	u.Git("update-ref", ref, head)
	u.Git("checkout", "-q", "main")
	number := 0
	_, _ = fmt.Sscanf(strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, ref), "%d", &number)
	return gitrepo.Pull{Number: number, Ref: ref, Commit: head}
}

func TestListPulls(t *testing.T) {
	u := gittest.New(t)
	u.Commit("a.cue", "a: 0\n")
	var want []gitrepo.Pull
	for _, n := range []int{12, 9, 2} {
		want = append(want, pull(u, fmt.Sprintf("refs/pull/%d/head", n), fmt.Sprintf("a: %d\n", n)))
	}
	want = append([]gitrepo.Pull{pull(u, "refs/merge-requests/30/head", "a: 30\n")}, want...)
	for _, other := range []string{"refs/pull/3/merge", "refs/pull/x/head", "refs/pull/07/head", "refs/pull/4/head/more", "refs/pull/9999999999/head", "refs/heads/refs/pull/5/head"} {
		u.Git("update-ref", other, "main")
	}
	p, _ := openPulls(t)
	source := gitrepo.Source{URL: u.HTTP("", ""), Ref: "main"}
	got, err := p.List(context.Background(), source, gitrepo.PullLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pull requests (-want +got):\n%s", diff)
	}
	got, err = p.List(context.Background(), source, gitrepo.PullLimits{Newest: 2})
	if diff := cmp.Diff(want[:2], got); diff != "" || err != nil {
		t.Errorf("the newest two (-want +got):\n%s%v", diff, err)
	}
	_, err = p.List(context.Background(), gitrepo.Source{URL: u.Dir + "x"}, gitrepo.PullLimits{})
	wantError(t, err, gitrepo.ErrNotFound, "edge.gitx")
}

func TestFetchPulls(t *testing.T) {
	u := gittest.New(t)
	base := u.Commit("a.cue", "a: 0\n")
	main := open(t)
	source := gitrepo.Source{URL: u.HTTP("", ""), Ref: "main"}
	fetch(t, main, source)
	one, two := pull(u, "refs/pull/1/head", "a: 1\n"), pull(u, "refs/merge-requests/2/head", "a: 2\n")
	p, dir := openPulls(t)
	store, err := gitrepo.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	bringPulls(t, p, source, []gitrepo.Pull{one, two}, one, two)
	if got := content(t, store, two.Commit, "a.cue"); got != "a: 2\n" {
		t.Errorf("a.cue is %q", got)
	}
	if _, err := store.Commit(base); err == nil {
		t.Error("the history came along")
	}
	if _, err := main.Commit(one.Commit); err == nil {
		t.Error("a pull request's commit is in the store that is acted on")
	}
	// Nothing new asks nobody: the server is gone.
	bringPulls(t, p, gitrepo.Source{URL: "http://127.0.0.1:1/edge.git"}, []gitrepo.Pull{two, one}, two, one)

	// Pushed again, by force; and one that is closed.
	again := pull(u, "refs/pull/1/head", "a: 11\n")
	bringPulls(t, p, source, []gitrepo.Pull{again}, again)
	if got := content(t, store, again.Commit, "a.cue"); got != "a: 11\n" {
		t.Errorf("a.cue is %q", got)
	}
	refs, err := filepath.Glob(filepath.Join(dir, "refs", "seawall", "pulls", "*"))
	if err != nil || len(refs) != 1 || filepath.Base(refs[0]) != "pull-1" {
		t.Errorf("refs %v, %v", refs, err)
	}
	// The ref that is followed goes on as before, with its history.
	second := u.Commit("b.cue", "b: 1\n")
	if got := fetch(t, main, source); got != second {
		t.Errorf("commit %s, want %s", got, second)
	}
	ancestry(t, main, base, second, true)
}

// A head that moved since it was listed is told as what it is now.
func TestFetchPullThatMoved(t *testing.T) {
	u := gittest.New(t)
	u.Commit("a.cue", "a: 0\n")
	old := pull(u, "refs/pull/1/head", "a: 1\n")
	moved := pull(u, "refs/pull/1/head", "a: 2\n")
	p, _ := openPulls(t)
	bringPulls(t, p, gitrepo.Source{URL: u.Dir}, []gitrepo.Pull{old}, moved)
}

func bringPulls(t *testing.T, p *gitrepo.Pulls, s gitrepo.Source, asked []gitrepo.Pull, want ...gitrepo.Pull) {
	t.Helper()
	got, failed, err := p.Fetch(context.Background(), s, asked, gitrepo.PullLimits{})
	if err != nil || len(failed) > 0 {
		t.Fatalf("failed %+v, %v", failed, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pull requests (-want +got):\n%s", diff)
	}
}

// One that is too large, gone, or no pull request at all keeps none of the
// others away.
func TestFetchPullsInBounds(t *testing.T) {
	u := gittest.New(t)
	u.Commit("a.cue", "a: 0\n")
	noise := make([]byte, 300<<10)
	_, _ = rand.Read(noise)
	large := pull(u, "refs/pull/1/head", string(noise))
	small := pull(u, "refs/pull/2/head", "a: 2\n")
	gone := gitrepo.Pull{Number: 3, Ref: "refs/pull/3/head", Commit: strings.Repeat("ab", 20)}
	branch := gitrepo.Pull{Number: 4, Ref: "refs/heads/main", Commit: strings.Repeat("cd", 20)}
	p, dir := openPulls(t)
	source := gitrepo.Source{URL: u.HTTP("", "")}
	limits := gitrepo.PullLimits{PackBytes: 200 << 10}
	for range 2 {
		got, failed, err := p.Fetch(context.Background(), source, []gitrepo.Pull{large, gone, branch, small}, limits)
		if err != nil || len(got) != 1 || got[0] != small || len(failed) != 3 {
			t.Fatalf("here %+v, failed %+v, %v", got, failed, err)
		}
		for i, want := range []struct {
			kind gitrepo.Kind
			say  string
		}{{gitrepo.ErrTooLarge, "more than the limit of 200 KiB"}, {gitrepo.ErrRefNotFound, "pull/3"}, {gitrepo.ErrSource, "refs/heads/main"}} {
			wantError(t, failed[i].Err, want.kind, want.say)
		}
	}
	used := 0
	_ = filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil {
			used += int(info.Size())
		}
		return err
	})
	if used > 150<<10 {
		t.Errorf("the store takes %d bytes", used)
	}
	_, _, err := p.Fetch(context.Background(), source, []gitrepo.Pull{small, gone}, gitrepo.PullLimits{Newest: 1})
	wantError(t, err, gitrepo.ErrSource, "more than the bound of 1")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := p.Fetch(ctx, source, []gitrepo.Pull{gone}, limits); err == nil {
		t.Error("a cancelled fetch succeeded")
	}
}

// Pushing again and again fills no disk.
func TestPullsAreTidied(t *testing.T) {
	u := gittest.New(t)
	u.Commit("a.cue", "a: 0\n")
	p, dir := openPulls(t)
	source, limits := gitrepo.Source{URL: u.Dir}, gitrepo.PullLimits{PackBytes: 40 << 10}
	noise := make([]byte, 30<<10)
	var last gitrepo.Pull
	for range 12 {
		_, _ = rand.Read(noise)
		last = pull(u, "refs/pull/1/head", string(noise))
		if _, failed, err := p.Fetch(context.Background(), source, []gitrepo.Pull{last}, limits); err != nil || len(failed) > 0 {
			t.Fatalf("failed %+v, %v", failed, err)
		}
		if used := packBytes(t, dir); used > 5*limits.PackBytes {
			t.Fatalf("the packs take %d bytes", used)
		}
	}
	store, err := gitrepo.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, store, last.Commit, "a.cue"); got != string(noise) {
		t.Error("the head that is kept has lost its content")
	}
	// All of them are closed: what is left is of no use, and goes.
	if _, _, err := p.Fetch(context.Background(), source, nil, gitrepo.PullLimits{PackBytes: 1}); err != nil {
		t.Fatal(err)
	}
	if used := packBytes(t, dir); used > 1<<10 {
		t.Errorf("without pull requests the packs take %d bytes", used)
	}
	bringPulls(t, p, source, []gitrepo.Pull{last}, last)
}

func packBytes(t *testing.T, dir string) (used int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		used += info.Size()
	}
	return used
}
