package revert_test

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/revert"
)

// putBack are records that were put back to an earlier time, from when that is said.
type putBack struct {
	revert.Records
	back  bool
	stops int
}

func (p *putBack) Restore(ctx context.Context) (reconcile.Record, error) {
	record, err := p.Records.Restore(ctx)
	if p.back {
		record.PutBack = 7
	}
	return record, err
}

func (p *putBack) Standing(ctx context.Context) (reconcile.Standing, error) {
	standing, err := p.Records.Standing(ctx)
	if p.back {
		standing.PutBack = 7
	}
	return standing, err
}

func (p *putBack) Stop(ctx context.Context, commit string, holds []diff.Hold, ends func(reconcile.Approval) bool, order reconcile.Entry) error {
	p.stops++
	return p.Records.Stop(ctx, commit, holds, ends, order)
}

// While git was not looked at after records were put back, a revert refuses before it puts anything on record.
func TestRevertOfRecordsPutBack(t *testing.T) {
	soak.Draws(t, 2)
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rt, dir)
		w.push("c1good", func(int) string { return "xss" })
		w.sweep()
		w.push("c2bad", func(int) string { return "php" })
		w.sweep()
		records := &putBack{Records: w.open()}
		run := revert.Run{Records: records, Lanes: reconcile.OneLane(reconcile.Lane{Reader: w.platform, Writer: w.platform, Concurrency: 1}), Now: w.Now}
		order := revert.Order{Filter: reconcile.HistoryFilter{Commit: "c2bad"}, Who: "lee"}
		planned, err := run.Plan(t.Context(), order)
		must.Do(w, err)
		records.back = true
		report := run.Apply(t.Context(), planned)
		order.Agreed = true
		_, err = run.Plan(t.Context(), order)
		for _, err := range []error{report.Err, err} {
			advised, ok := errors.AsType[interface {
				error
				Advice() string
			}](err)
			if !errors.Is(err, reconcile.ErrPutBack) || !errors.Is(err, reconcile.ErrSuperseded) || !ok || advised.Advice() == "" {
				w.Errorf("error %v", err)
			}
		}
		if records.stops > 0 || len(report.Results) > 0 {
			w.Errorf("%d stops, results %+v", records.stops, report.Results)
		}
		records.back = false
		order.Agreed = false
		planned, err = run.Plan(t.Context(), order)
		must.Do(w, err)
		must.Do(w, run.Apply(t.Context(), planned).Err)
		w.wantOff("after the revert", func(int) string { return "xss" })
	})
}
