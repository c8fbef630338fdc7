package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/source"
)

// Records that are put back to an earlier time name an older commit. While git is away no process writes what
// that declares, nor does one that begins then, and both say why; once git is back all goes on by itself.
func TestRecordsPutBackWaitForGit(t *testing.T) {
	run(t, func(t *testing.T) {
		r, first, second := twoReplicas(t, 3, reconcile.Guards{})
		earlier, err := r.records.Restore(t.Context())
		must.Do(t, err)
		r.push("c2", "sqli")
		r.pass(soon + ticked)
		r.wantAll("sqli")
		r.repo.FetchBy(func(context.Context) error { return errors.New("git is away") })
		r.records.GoBack(earlier.Accepted, 7)
		r.pass(time.Minute)
		second.stop()
		second = r.run("r2")
		r.pass(interval) // each zone has had its turn
		r.wantAll("sqli")
		for _, one := range []*replica{first, second} {
			s := one.Status().Judged()
			if s.Commit.InForce != "c1" || !s.Commit.LedgerPutBack || s.Zones.Here[inspect.Waiting] != 3 || !strings.Contains(strings.Join(s.Reasons, "\n"), "nothing is written until "+diff.ReleasePutBack) {
				t.Errorf("%s says %+v, %v, %q", one.name, s.Commit, s.Zones.Here, s.Reasons)
			}
		}
		told := 0
		for i := 1; i <= 6; i++ { // of which three are those of the second
			list, _ := second.Zones(zoneKey(i))
			for _, d := range list.Zones[0].Decisions {
				if told++; d.Guard != diff.GuardOvertaken || d.Reason != diff.ReasonPutBack || d.Release != diff.ReleasePutBack {
					t.Errorf("of zone %d it is said: %+v", i, d)
				}
			}
		}
		if told != 3 {
			t.Errorf("of %d zones it is said why they wait", told)
		}
		r.repo.FetchBy(nil)
		r.pass(soon + retry.Git.Most)
		for _, one := range []*replica{first, second} {
			if s := one.Status(); s.Commit.InForce != "c2" || s.Commit.LedgerPutBack || s.Zones.Here[inspect.InSync] != 3 {
				t.Errorf("with git %s says %+v, %v", one.name, s.Commit, s.Zones.Here)
			}
		}
		r.push("c3", "xss")
		r.pass(soon + ticked)
		r.wantAll("xss")
	})
}

// Records that are put back while tokens are written stop what is left of that, until git was looked at.
func TestRecordsPutBackStopTokens(t *testing.T) {
	run(t, func(t *testing.T) {
		f, w := withTokens(t, 1)
		w.set(func(ctx context.Context) error {
			f.repo.FetchBy(func(context.Context) error { return errors.New("git is away") })
			record, err := f.records.Restore(ctx)
			f.records.GoBack(record.Accepted, 7)
			return err
		})
		f.pushTokens("c1", fleet(1, "xss"), "ci-dns", "deploy")
		f.start()
		f.pass(20 * time.Minute)
		if w.count() != 1 {
			t.Errorf("%d made", w.count())
		}
		w.set(nil)
		f.repo.FetchBy(nil)
		f.pass(10 * time.Minute)
		if w.count() != 2 {
			t.Errorf("with git %d made", w.count())
		}
	})
}

// A change that was not sent because of that says so, and what ends it: no newer commit is known.
func TestAChangeThatWaitsForGit(t *testing.T) {
	for _, err := range []error{reconcile.ErrPutBack, fmt.Errorf("recording the change before it is sent: %w", reconcile.ErrPutBack)} {
		d := ofChange(diff.Change{}, reconcile.Result{Outcome: reconcile.NotStarted, Err: err}, true)
		if d.Reason != diff.ReasonPutBack || d.Release != diff.ReleasePutBack || strings.Contains(err.Error(), reconcile.ErrSuperseded.Error()) {
			t.Errorf("%v is told as %+v", err, d)
		}
	}
}

// While the newest commit is held, git is looked at ever more slowly: each look may evaluate that commit.
func TestGitIsNotAskedForWithoutEnd(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 1)
		f.sync = nil
		f.repo.Push("c1", fleet(1, "xss")...)
		f.start()
		f.repo.Commit("c2", commit{Err: errors.New("it cannot be evaluated")})
		var fetches atomic.Int32
		f.repo.FetchBy(func(context.Context) error { fetches.Add(1); return nil })
		f.records.GoBack(reconcile.Accepted{Commit: "c1"}, 7)
		f.pass(soon)
		if n := fetches.Load(); n != 1 {
			t.Errorf("git is looked at %d times at first", n)
		}
		f.pass(2 * time.Hour)
		if n := fetches.Load(); n < 5 || n > 20 {
			t.Errorf("git is looked at %d times within two hours", n)
		}
	})
}

// While records that were put back cannot be read, each second finds them so: git is not asked for with each.
func TestGitIsNotAskedForWithEachTick(t *testing.T) {
	c, err := control.New(t.Context(), control.Config{Records: &reconcile.Forgetful{}, Now: time.Now})
	must.Do(t, err)
	looks := ticks{control: c, commits: &commits{source: source.New(source.Config{Now: time.Now}), leases: reconcile.OnlyProcess{}}}
	began := time.Now()
	for passed := time.Duration(0); passed < retry.Unlooked.First; passed += time.Second {
		if looks.lookAtGit(true, began.Add(passed)); looks.looks.next != began.Add(retry.Unlooked.First) {
			t.Fatalf("git is asked for again after %v", passed)
		}
	}
	looks.lookAtGit(false, began)
	if looks.lookAtGit(true, began.Add(time.Second)); looks.looks.next != began.Add(time.Second+retry.Unlooked.First) {
		t.Error("git is not asked for at once when they are put back again")
	}
}
