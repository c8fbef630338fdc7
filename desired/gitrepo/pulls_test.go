package gitrepo_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/must"
)

func openPulls(t testing.TB) (*gitrepo.Pulls, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "pulls")
	p, err := gitrepo.OpenPulls(dir)
	must.Do(t, err)
	return p, dir
}

// pull makes a commit on main's head that only a pull request's ref holds.
func pull(u *gittest.Repository, ref, content string) gitrepo.Pull {
	u.Git("checkout", "-q", "--detach", "main")
	head := u.Commit("a.cue", content)
	u.Point(ref, head)
	u.Git("checkout", "-q", "main")
	number, _ := strconv.Atoi(strings.Split(ref, "/")[2])
	return gitrepo.Pull{Number: number, Ref: ref, Commit: head}
}

func TestListPulls(t *testing.T) {
	t.Parallel()
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
	source := gitrepo.Source{URL: u.HTTP("", ""), Ref: "refs/heads/main"}
	got, err := p.List(t.Context(), source)
	must.Do(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pull requests (-want +got):\n%s", diff)
	}
	_, err = p.List(t.Context(), gitrepo.Source{URL: u.Dir + "x", Ref: "refs/heads/main"})
	wantError(t, err, gitrepo.ErrNotFound, "edge.gitx")
}

func TestFetchPulls(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	base := u.Commit("a.cue", "a: 0\n")
	main := open(t)
	source := gitrepo.Source{URL: u.HTTP("", ""), Ref: "refs/heads/main"}
	fetch(t, main, source)
	one, two := pull(u, "refs/pull/1/head", "a: 1\n"), pull(u, "refs/merge-requests/2/head", "a: 2\n")
	p, dir := openPulls(t)
	bringPull(t, p, source, one, one)
	bringPull(t, p, source, two, two)
	store, err := gitrepo.Open(p.Store(two.Commit))
	must.Do(t, err)
	if got := content(t, store, two.Commit, "a.cue"); got != "a: 2\n" {
		t.Errorf("a.cue is %q", got)
	}
	for _, other := range []string{base, one.Commit} {
		if _, err := store.Commit(other); err == nil {
			t.Errorf("%s came along", other)
		}
	}
	if _, err := main.Commit(one.Commit); err == nil {
		t.Error("a pull request's commit is in the store that is acted on")
	}
	if here, refused := p.Known(one, source.Limits); !here || refused != nil {
		t.Errorf("a head that was fetched: here %v, %v", here, refused)
	}

	// Pushed again, by force; and one that is closed.
	again := pull(u, "refs/pull/1/head", "a: 11\n")
	bringPull(t, p, source, again, again)
	must.Do(t, p.KeepOnly([]string{again.Commit}))
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != again.Commit {
		t.Errorf("kept %v, %v", entries, err)
	}
	if used, all := p.Used(again.Commit), p.UsedBytes(); used == 0 || used != all {
		t.Errorf("a head takes %d bytes of %d", used, all)
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
	bringPull(t, p, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"}, old, moved)
}

func bringPull(t *testing.T, p *gitrepo.Pulls, s gitrepo.Source, asked, want gitrepo.Pull) {
	t.Helper()
	got, err := p.Fetch(t.Context(), s, asked)
	if err != nil || got != want {
		t.Fatalf("got %+v, %v, want %+v", got, err, want)
	}
}

// A head over a limit is remembered by its commit, and by the limits. One that is gone,
// and what is no pull request, are errors of their own.
func TestRefusedPull(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	u.Commit("a.cue", "a: 0\n")
	large := pull(u, "refs/pull/1/head", noise(t, 300<<10))
	p, dir := openPulls(t)
	source := gitrepo.Source{URL: u.HTTP("", ""), Limits: gitrepo.FetchLimits{PackBytes: 200 << 10, Setting: "forge.limits"}, Ref: "refs/heads/main"}
	const say = "more than the limit of 200 KiB"
	_, err := p.Fetch(t.Context(), source, large)
	wantError(t, err, gitrepo.ErrTooLarge, say)
	if e := (*gitrepo.Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Hint, "forge.limits.pack") {
		t.Errorf("the hint is %q", e.Hint)
	}
	again, err := gitrepo.OpenPulls(dir) // another process
	must.Do(t, err)
	here, refused := again.Known(large, source.Limits)
	if here {
		t.Error("a refused head is here")
	}
	wantError(t, refused, gitrepo.ErrTooLarge, say)
	if used := p.UsedBytes(); used > 2<<10 {
		t.Errorf("%d bytes are left of what was refused", used)
	}
	source.Limits.PackBytes = 400 << 10
	if _, refused := again.Known(large, source.Limits); refused != nil {
		t.Errorf("with another limit: %v", refused)
	}
	bringPull(t, p, source, large, large)

	for _, test := range []struct {
		pull gitrepo.Pull
		kind gitrepo.Kind
		say  string
	}{
		{gitrepo.Pull{Number: 3, Ref: "refs/pull/3/head", Commit: strings.Repeat("ab", 20)}, gitrepo.ErrRefNotFound, "pull/3"},
		{gitrepo.Pull{Number: 4, Ref: "refs/heads/main", Commit: strings.Repeat("cd", 20)}, gitrepo.ErrSource, "refs/heads/main"},
	} {
		_, err := p.Fetch(t.Context(), source, test.pull)
		wantError(t, err, test.kind, test.say)
		if here, refused := p.Known(test.pull, source.Limits); here || refused != nil {
			t.Errorf("%s is remembered: %v, %v", test.pull.Ref, here, refused)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Fetch(ctx, source, large); err == nil {
		t.Error("a cancelled fetch succeeded")
	}
}

// Where other heads take the room, a head is refused for now, and not remembered.
func TestNoRoomForAPull(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	u.Commit("a.cue", "a: 0\n")
	head := pull(u, "refs/pull/1/head", noise(t, 300<<10))
	p, _ := openPulls(t)
	source := gitrepo.Source{URL: u.HTTP("", ""), Limits: gitrepo.FetchLimits{StoreBytes: 1 << 30, RoomBytes: 100 << 10}, Ref: "refs/heads/main"}
	_, err := p.Fetch(t.Context(), source, head)
	wantError(t, err, gitrepo.ErrTooLarge, "the local store would take more than the limit of 1 GiB")
	if !gitrepo.Later(err) {
		t.Errorf("%v is for ever", err)
	}
	if _, refused := p.Known(head, source.Limits); refused != nil {
		t.Errorf("it is remembered: %v", refused)
	}
}

// What is damaged, or was left half done, is fetched anew. The store that an earlier
// version had there goes, and nothing that is not Seawall's.
func TestPullsAreTidied(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	u.Commit("a.cue", "a: 0\n")
	head := pull(u, "refs/pull/1/head", "a: 1\n")
	p, dir := openPulls(t)
	source := gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"}
	bringPull(t, p, source, head, head)
	packs, err := filepath.Glob(filepath.Join(p.Store(head.Commit), "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	must.Do(t, os.Chmod(packs[0], 0o600))
	must.Do(t, os.Truncate(packs[0], 50))
	if here, refused := p.Known(head, source.Limits); here || refused != nil {
		t.Errorf("a damaged head: here %v, %v", here, refused)
	}
	bringPull(t, p, source, head, head)
	if here, _ := p.Known(head, source.Limits); !here {
		t.Error("it is not here after it was fetched anew")
	}
	for _, name := range []string{"HEAD", "objects", "new-123", "refs", "seawall.lock", "notes"} {
		must.Do(t, os.Mkdir(filepath.Join(dir, name), 0o700))
	}
	must.Do(t, p.KeepOnly([]string{head.Commit}))
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || entries[0].Name() != head.Commit || entries[1].Name() != "notes" {
		t.Errorf("kept %v, %v", entries, err)
	}
}
