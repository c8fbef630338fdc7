package controller

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// TestOutages: each fault is one outage, of what it is in, that begins and ends once.
func TestOutages(t *testing.T) {
	const n = 40
	for name, test := range map[string]struct {
		begin func(f *fixture)
		want  string
	}{
		"the platform":   {func(f *fixture) { f.calls.set(func(context.Context, call) error { return errDown }) }, "platform "},
		"the credential": {func(f *fixture) { f.calls.set(func(context.Context, call) error { return errUnauthenticated }) }, "credential credentials.rulesets"},
		"a zone":         {func(f *fixture) { f.calls.set(failing(errForbidden, 3)) }, "zone zone-00003.example"},
		"the state folder": {func(f *fixture) {
			f.records.FailBy(func(o string) error { return fmt.Errorf("%s: %w", o, errDisk) })
		}, "state "},
	} {
		runNamed(t, name, func(t *testing.T) {
			f := newFixture(t, n)
			var told []string
			f.Outages = outage.New(outage.Config{Now: time.Now, Tell: func(e outage.Event) {
				if e.Kind != outage.Changed {
					told = append(told, fmt.Sprint(e.Kind, " ", e.Outage.Subject, " ", e.Outage.Name))
				}
			}})
			f.repo.Push("c1", fleet(n, "xss")...)
			f.start()
			test.begin(f)
			f.repo.Push("c2", fleet(n, "rce")...)
			f.source.Poke()
			f.pass(20 * time.Minute)
			if list := f.Outages.Outages(); len(list) != 1 {
				t.Errorf("outages %+v", list)
			}
			f.calls.set(nil)
			f.records.FailBy(nil)
			f.pass(time.Hour)
			f.want(n, "rce")
			if want := []string{"began " + test.want, "ended " + test.want}; !slices.Equal(told, want) {
				t.Errorf("told %q, want %q", told, want)
			}
		})
	}
}

// TestAFullDiskThatHasSpaceAgain: however long it was full, seconds after there is space
// nothing says that it is full, and what could not be written is.
func TestAFullDiskThatHasSpaceAgain(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 40
		f := newFixture(t, n)
		f.Outages = outage.New(outage.Config{Now: time.Now})
		f.repo.Push("c1", fleet(n, "xss")...)
		f.start()
		f.records.FailBy(func(o string) error {
			if o == "standing" || o == "accept" {
				return nil // the disk was full just after the commit was accepted
			}
			return fmt.Errorf("%s: %w: %w", o, reconcile.ErrState, syscall.ENOSPC)
		})
		f.push("c2", fleet(n, "rce")...)
		f.pass(20 * time.Minute)
		f.want(n, "xss")
		if lasts, fails := f.Outages.State(); !lasts || !fails {
			t.Errorf("outages %+v", f.Outages.Outages())
		}
		f.records.FailBy(nil)
		f.pass(soon)
		if list := f.Outages.Outages(); len(list) != 0 {
			t.Errorf("outages %+v", list)
		}
		f.want(n, "rce")
	})
}

// TestALedgerThatFailsInPart: where the ledger can be written, and what zones put on record
// fails all the same, the zones are not asked again and again.
func TestALedgerThatFailsInPart(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 40
		f := newFixture(t, n)
		f.Outages = outage.New(outage.Config{Now: time.Now})
		f.repo.Push("c1", fleet(n, "xss")...)
		f.start()
		f.records.FailBy(func(o string) error {
			if o != "widen" {
				return nil
			}
			return fmt.Errorf("%s: %w: a table is damaged", o, reconcile.ErrState)
		})
		f.push("c2", fleet(n, "rce")...)
		f.pass(time.Hour)
		f.calls.take()
		f.pass(time.Hour)
		if reads := len(f.calls.take()); reads > 12*n {
			t.Errorf("%d requests in an hour for %d zones", reads, n)
		}
		if lasts, fails := f.Outages.State(); !lasts || !fails {
			t.Errorf("outages %+v", f.Outages.Outages())
		}
	})
}

// TestAnAnswerCountsFromItsRequest: what is told of a look is as old as the last request that was
// answered, however long the rest of the look takes.
func TestAnAnswerCountsFromItsRequest(t *testing.T) {
	began := time.Now()
	at := func(seconds int, err error) zone.Seen {
		return zone.Seen{At: began.Add(time.Duration(seconds) * time.Second), Observed: diff.Observed[edge.Ruleset]{Err: err}}
	}
	for name, test := range map[string]struct {
		places zone.Places
		want   time.Duration
	}{
		"all were answered":           {zone.Places{at(1, nil), at(3, edge.ErrEntryPointNotFound)}, 3 * time.Second},
		"the last one was not":        {zone.Places{at(1, nil), at(3, edge.ErrUnavailable)}, time.Second},
		"it was written to since":     {zone.Places{{}}, 0},
		"nothing was answered at all": {zone.Places{at(2, edge.ErrUnavailable)}, 0},
	} {
		l := look{began: began, sight: zone.Sight{Places: test.places}}
		if got := l.askedAt().Sub(began); got != test.want {
			t.Errorf("%s: asked after %v, want %v", name, got, test.want)
		}
	}
}
