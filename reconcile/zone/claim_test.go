package zone

import (
	"errors"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
)

// A zone to which another process has written since it was read is read and planned again:
// what is there already is not sent.
func TestZoneThatAnotherProcessWrote(t *testing.T) {
	for name, c := range map[string]struct {
		wrote []string // tags that the other process switched off
		calls []string
		made  bool // by the other process
	}{
		"the same change":  {[]string{"xss"}, []string{"read 1"}, true},
		"something else":   {[]string{"php"}, []string{"read 1", "write 1", "read 1"}, false},
		"nothing, it died": {nil, []string{"read 1", "write 1", "read 1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 1)
			asked := 0
			f.gate.permit = func(_, now diff.Change) (*diff.Refusal, error) {
				if asked++; asked > 1 {
					if got := now.Do().Seen(); got != f.Entry(1).Version {
						t.Errorf("version %s is about to be written over, and %s was seen", f.Entry(1).Version, got)
					}
					return nil, nil
				}
				if c.wrote != nil {
					f.Click(1, switchedOff(c.wrote...))
				}
				return nil, &reconcile.ElsewhereError{Process: 7}
			}
			d := f.work(declare(1, removing(core("xss"))))
			f.wantCalls(d.calls, c.calls...)
			f.wantOutcomes(d, converged)
			if r := d.results[0]; r.Elsewhere != c.made || r.Concurrent {
				t.Errorf("made elsewhere: %v, by another client: %v", r.Elsewhere, r.Concurrent)
			}
			if f.gate.ended == 0 {
				t.Error("the zone was not given back")
			}
		})
	}
}

// A zone that this process has got, and must not write after all, is given back.
func TestZoneThatIsRefusedAfterAnotherProcessWrote(t *testing.T) {
	f := newFixture(t, 1)
	asked := 0
	f.gate.permit = func(diff.Change, diff.Change) (*diff.Refusal, error) {
		if asked++; asked == 1 {
			return nil, &reconcile.ElsewhereError{Process: 7}
		}
		return &diff.Refusal{Guard: diff.GuardHold, Reason: "the zone is held"}, nil
	}
	d := f.work(declare(1, core("xss")))
	f.wantCalls(d.calls, "read 1")
	f.wantOutcomes(d, notStarted)
	if f.gate.ended == 0 {
		t.Error("the zone was not given back")
	}
}

// A zone to which another process goes on writing is left for later, and for a person who
// waits it is asked for again for a while.
func TestZoneThatAnotherProcessWrites(t *testing.T) {
	f := newFixture(t, 1)
	asked := 0
	f.gate.permit = func(diff.Change, diff.Change) (*diff.Refusal, error) {
		asked++
		f.clock.Advance(patience / 3) // the gate waits
		return nil, &reconcile.ElsewhereError{Process: 7, Writing: true}
	}
	for _, patient := range []bool{false, true} {
		asked = 0
		f.Patient = patient
		d := f.work(declare(1, core("xss")))
		f.wantCalls(d.calls)
		f.wantOutcomes(d, notStarted)
		if elsewhere := (*reconcile.ElsewhereError)(nil); !errors.As(d.results[0].Err, &elsewhere) {
			t.Errorf("it was not started because of %v", d.results[0].Err)
		}
		if want := map[bool]int{false: 1, true: 3}[patient]; asked != want {
			t.Errorf("patient %v: asked %d times, want %d", patient, asked, want)
		}
	}
}
