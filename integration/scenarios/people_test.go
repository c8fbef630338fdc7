package scenarios

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/once"
	"github.com/seawall-dev/seawall/reconcile/revert"
)

// guards are what the profile does not offer, and those that the scenario has.
func (s *scene) guards() reconcile.Guards {
	g := reconcile.Guards{Documented: !s.extended, Looking: reconcile.Looking{Phases: s.looking, Every: 24 * time.Hour}}
	for _, word := range s.guarded {
		switch word {
		case "observe":
			g.Observe = []guard.Observe{{}}
		case "limit":
			g.Rules = append(g.Rules, guard.Rule{Name: "none", Changes: &guard.Limit{Count: new(0)}})
		case "approve":
			g.Rules = append(g.Rules, guard.Rule{Name: "weakening", Approve: guard.ApproveWeakening})
		default:
			s.t.Fatalf("unknown guard %s", word)
		}
	}
	return g
}

func openLedger(t *testing.T) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(filepath.Join(t.TempDir(), "ledger.db"))
	must.Do(t, err)
	l.Now = time.Now
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// approve shows an apply with the digests that release what guards held back in the last plan.
func (s *scene) approve() string {
	s.t.Helper()
	order := once.Order{Who: "kim"}
	for _, c := range s.last.Changes {
		if c.Refused != nil && !slices.Contains(order.Approve, c.Refused.Digest) {
			order.Approve = append(order.Approve, c.Refused.Digest)
		}
	}
	return s.apply(order)
}

// revert shows what a revert of the newest commit sends, and its results.
func (s *scene) revert() string {
	s.t.Helper()
	records, is := s.records.(*ledger.Ledger)
	if !is {
		s.t.Fatal("a revert needs a line \"records: ledger\"")
	}
	s.wire.forget()
	commit, _ := s.Fetch(s.t.Context())
	r := &revert.Run{
		Records: records, Guards: s.guards(), Lanes: reconcile.OneLane(s.lane()), Requests: s.client.Requests, Now: time.Now,
	}
	p, err := r.Plan(s.t.Context(), revert.Order{Filter: reconcile.HistoryFilter{Commit: commit}, Who: "kim"})
	must.Do(s.t, err)
	var b strings.Builder
	b.WriteString(text(s.t, p.Plan))
	report := r.Apply(s.t.Context(), p)
	must.Do(s.t, report.Err)
	b.WriteString(s.sent())
	must.Do(s.t, report.TextOfResults(&b, false))
	return b.String()
}
