package reconcile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// watch is a horizon, a clock and the lines it writes.
type watch struct {
	t   *testing.T
	h   *Horizon
	out bytes.Buffer
	now time.Time
}

func newWatch(t *testing.T) *watch {
	w := &watch{t: t, now: time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC)}
	w.h = &Horizon{Log: slog.New(slog.NewJSONHandler(&w.out, nil))}
	return w
}

// inUse is a token in use that ends after a time from now.
func (w *watch) inUse(key string, left time.Duration) diff.Expiry {
	return diff.Expiry{Token: key, ID: edge.TokenID("id-" + key), At: w.now.Add(left), Current: true}
}

func (w *watch) full(expiries ...diff.Expiry) Report {
	return Report{Finished: w.now, Scope: Scope{Full: true}, Plan: diff.Plan{Expiries: expiries}}
}

// tells returns what a report has it write: token and message.
func (w *watch) tells(r Report) (lines []string) {
	w.t.Helper()
	w.out.Reset()
	w.h.Report(w.t.Context(), r)
	for line := range strings.Lines(w.out.String()) {
		var record struct{ Level, Msg, When, Token string }
		if err := json.Unmarshal([]byte(line), &record); err != nil || record.Level != "WARN" {
			w.t.Errorf("%s: %v", line, err)
		}
		lines = append(lines, strings.TrimSpace(record.Token+" "+cmp.Or(record.When, record.Msg)))
	}
	return lines
}

func (w *watch) want(r Report, want ...string) {
	w.t.Helper()
	if got := w.tells(r); !slices.Equal(got, want) {
		w.t.Errorf("tells %q, want %q", got, want)
	}
}

func TestHorizonWarnsOnceADay(t *testing.T) {
	const day = 24 * time.Hour
	w := newWatch(t)
	rotates := w.inUse("rotates", day)
	rotates.Rotates = true
	superseded := w.inUse("superseded", day)
	superseded.Current = false
	all := []diff.Expiry{rotates, superseded, w.inUse("ended", -2*day), w.inUse("soon", 5*day), w.inUse("week", 7*day), w.inUse("late", 7*day+time.Second)}
	w.want(w.full(all...), "ended expired 2 days ago", "soon expires in 5 days", "week expires in 7 days")
	for _, field := range []string{`"id":"id-soon"`, `"expires_on":"2026-06-06T10:00:00Z"`, `"hint":"set a later expires_on`} {
		if !strings.Contains(w.out.String(), field) {
			t.Errorf("%s is not in %s", field, w.out.String())
		}
	}
	w.now = w.now.Add(2 * time.Hour)
	w.want(w.full(all...), "late expires in 6 days")
	w.now = w.now.Add(11 * time.Hour)
	w.want(w.full(all...))
	w.now = w.now.Add(time.Hour) // 2026-06-02 in UTC
	w.want(w.full(all...), "ended expired 2 days ago", "soon expires in 4 days", "week expires in 6 days", "late expires in 6 days")
}

// A new token of the same declaration is news.
func TestHorizonTellsTokensApart(t *testing.T) {
	w := newWatch(t)
	first := w.inUse("k", time.Hour)
	second := first
	second.ID = "another"
	w.want(w.full(first), "k expires in 1 hour")
	w.want(w.full(second), "k expires in 1 hour")
}

// A run over a part, or one that failed, has not seen all: it forgets nothing.
func TestHorizonRemembersOverPartialRuns(t *testing.T) {
	w := newWatch(t)
	a, b := w.inUse("a", time.Hour), w.inUse("b", time.Hour)
	w.want(w.full(a), "a expires in 1 hour")
	part, failed := w.full(b), w.full()
	part.Full, failed.Err = false, errors.New("stopped")
	w.want(part, "b expires in 1 hour")
	w.want(failed)
	w.want(w.full(a, b))
	w.want(w.full())
	if len(w.h.told) != 0 {
		t.Errorf("remembers tokens that are gone: %v", w.h.told)
	}
}

func TestHorizonIsNoFlood(t *testing.T) {
	w := newWatch(t)
	var expiries []diff.Expiry
	for i := range 500 {
		expiries = append(expiries, w.inUse(fmt.Sprint(i), time.Hour))
	}
	lines := w.tells(w.full(expiries...))
	if len(lines) != 21 || lines[20] != "further lines of this kind are left out" || !strings.Contains(w.out.String(), `"left_out":480`) {
		t.Errorf("%d lines: %s", len(lines), w.out.String())
	}
	w.want(w.full(expiries...))
}

func TestExpiringLeavesOutWhatWasReplaced(t *testing.T) {
	w := newWatch(t)
	r := w.full(w.inUse("replaced", time.Hour), w.inUse("failed", time.Hour), w.inUse("delivered", time.Hour), w.inUse("zone", time.Hour), w.inUse("tidied", time.Hour))
	call := func(operation diff.Operation, token string) diff.Change {
		return diff.Change{Scope: edge.CredentialScope(""), Token: token, Operation: operation}
	}
	r.Results = []Result{
		{Change: call(diff.Creation{}, "replaced"), Outcome: Converged},
		{Change: call(diff.Creation{}, "failed"), Outcome: Failed},
		{Change: call(diff.Delivery{}, "delivered"), Outcome: Converged},
		{Change: call(diff.RuleOperation{Do: diff.ActionUpdate}, "zone"), Outcome: Converged},
		{Change: call(diff.Deletion{}, "tidied"), Outcome: Converged},
	}
	var got []string
	for _, e := range r.Expiring(24 * time.Hour) {
		got = append(got, e.Token)
	}
	if want := []string{"failed", "delivered", "zone", "tidied"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
