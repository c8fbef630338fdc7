package gitrepo_test

import (
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestMove(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	base := u.Commit("a.cue", "a: 0\n")
	old := u.Commit("a.cue", "a: 1\n")
	r := open(t)
	source := gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"}
	to := func(commit string) string {
		t.Helper()
		u.Git("reset", "-q", "--hard", commit)
		return fetch(t, r, source)
	}
	fetch(t, r, source)
	must.Do(t, r.SetGood(old))
	next := u.Commit("a.cue", "a: 2\n")
	u.Git("reset", "-q", "--hard", base)
	other := u.Commit("b.cue", "b: 1\n")
	u.Git("checkout", "-q", "--orphan", "fresh")
	alone := u.Commit("a.cue", "a: 3\n")
	u.Git("checkout", "-q", "-f", "main")
	for commit, want := range map[string]gitrepo.Move{next: gitrepo.Forward, old: gitrepo.Forward, base: gitrepo.Back, other: gitrepo.Rewritten, alone: gitrepo.Unrelated} {
		if got, err := r.Move(old, to(commit)); err != nil || got != want {
			t.Errorf("from %s to %s: %s, %v, want %s", old, commit, got, err, want)
		}
	}
	_, err := r.Move(old, "0123456789012345678901234567890123456789")
	wantError(t, err, gitrepo.ErrNoCommit, "0123456789")

	cut := open(t)
	source.Shallow, source.URL = true, "file://"+u.Dir
	u.Git("reset", "-q", "--hard", old)
	fetch(t, cut, source)
	must.Do(t, cut.SetGood(old))
	u.Git("reset", "-q", "--hard", other)
	fetch(t, cut, source)
	_, err = cut.Move(old, other)
	wantError(t, err, gitrepo.ErrShallow, "before")
}

// A push mostly follows the commit before it: to see that takes no more of a long history than of
// a short one.
func TestMoveCostsWhatIsBetween(t *testing.T) {
	u, r := gittest.New(t), open(t)
	u.Commit("a.cue", "")
	commits := u.Chain("a.cue", strings.SplitAfter(strings.Repeat("a\n", 200), "\n")...)
	u.Point("refs/heads/main", commits[199])
	fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"})
	cost := func(from int) float64 {
		return testing.AllocsPerRun(3, func() {
			got, err := r.Move(commits[from], commits[from+1])
			if err != nil || got != gitrepo.Forward {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
	if early, late := cost(1), cost(198); late > 1.5*early {
		t.Errorf("%.0f allocations after 2 commits, and %.0f after 199", early, late)
	}
}
