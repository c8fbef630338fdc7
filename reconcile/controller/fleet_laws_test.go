package controller

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

const rowsOfLaw = 6

// drawState draws what is declared: zones of two accounts, where the same name may be in both.
func drawState(t *rapid.T, commit string) desired.State {
	state := stateOf(commit)
	other := state.Accounts[0]
	other.Key, other.ID = "other", "0123456789abcdef0123456789abcdef"
	state.Accounts = append(state.Accounts, other)
	for i := 1; i <= rowsOfLaw; i++ {
		in := rapid.IntRange(0, min(i, 2)).Draw(t, "account") // the first is always declared
		if in == 2 {
			continue
		}
		z := zoneOf(i, core(rapid.SampledFrom([]string{"xss", "rce"}).Draw(t, "tag")))
		z.Key = rapid.SampledFrom([]string{z.Key, "Shop.example", "a.example"}).Draw(t, "name")
		if team := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "team"); team != "" {
			z.Labels = map[string]string{"team": team}
		}
		state.Accounts[in].Zones = append(state.Accounts[in].Zones, z)
	}
	return state
}

// drawPlan draws what a look has found: most often nothing.
func drawPlan(t *rapid.T, id edge.Scope) (plan diff.Plan) {
	for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "findings") {
		if rapid.Bool().Draw(t, "problem") {
			state := rapid.SampledFrom([]diff.ProblemState{diff.Unknown, diff.Forbidden, diff.NotDeployed, diff.Undecided, diff.Blocked}).Draw(t, "state")
			plan.Problems = append(plan.Problems, diff.Problem{Scope: id, State: state, Reason: string(state)})
			continue
		}
		refusal := rapid.SampledFrom([]*diff.Refusal{
			nil,
			{Guard: diff.GuardHold, Until: time.Unix(1, 0), Reason: "held"},
			{Guard: diff.GuardLimit, Digest: "d1", Reason: "too many"},
			{Guard: diff.GuardObserve, Reason: "observed"},
			{Guard: diff.GuardReverted, Reason: "put back"},
			{Guard: diff.GuardNonConvergent, Reason: "not kept"},
		}).Draw(t, "refusal")
		plan.Changes = append(plan.Changes, diff.Change{Scope: id, Deployment: "core", Refused: refusal})
	}
	return plan
}

// drawQuery draws what is asked for.
func drawQuery(t *rapid.T) inspect.FleetQuery {
	q := inspect.FleetQuery{
		Account: rapid.SampledFrom([]string{"", "", "prod", "other", "none"}).Draw(t, "account"),
		Text:    rapid.SampledFrom([]string{"", "", "SHOP", "f1ee", ".example", "nothing"}).Draw(t, "text"),
		Limit:   rapid.IntRange(0, 3).Draw(t, "limit"),
	}
	if rapid.Bool().Draw(t, "by outcome") {
		q.Outcomes = rapid.SliceOfN(rapid.SampledFrom(inspect.Outcomes()), 0, 4).Draw(t, "outcomes")
	}
	if rapid.Bool().Draw(t, "by label") {
		q.Labels = map[string]string{"team": "a"}
	}
	if rapid.Bool().Draw(t, "by right") {
		q.May = func(l inspect.ZoneLabels) bool { return l.Declared["team"] == "a" && l.Proved["team"] == "a" }
	}
	return q
}

// TestFleetLaws: whatever happens, and in whatever order, what is kept of the zones is what a
// walk over all that is known works out.
func TestFleetLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := &reconciletest.Records{}
		s := newStill(t, records)
		ctx, commits := context.Background(), 0
		zone := rapid.Custom(func(t *rapid.T) edge.Scope { return mem.FleetZone(rapid.IntRange(1, rowsOfLaw).Draw(t, "zone")) })
		// elsewhere is another process with the same records.
		elsewhere := func(t *rapid.T, do func(*control.Control)) {
			c, err := control.New(ctx, control.Config{Records: records, Guards: shrinking, Now: time.Now})
			must.Do(t, err)
			do(c)
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				s.check(inspect.FleetQuery{})
				s.check(drawQuery(t))
				s.checkStatus()
			},
			"a commit": func(t *rapid.T) {
				commits++
				s.proposed(drawState(t, fmt.Sprint("c", commits)))
			},
			"a look":  func(t *rapid.T) { id := zone.Draw(t, "of"); s.look(id, drawPlan(t, id)) },
			"a proof": func(t *rapid.T) { _ = s.prove(zone.Draw(t, "of")) },
			"a hold": func(t *rapid.T) {
				s.records.Hold(diff.Hold{Zone: "Shop.example", Until: time.Now().Add(time.Hour), Scopes: []edge.Scope{zone.Draw(t, "on")}})
				_, err := s.control.Tick(ctx)
				must.Do(t, err)
			},
			"a commit elsewhere": func(t *rapid.T) {
				commits++
				state := drawState(t, fmt.Sprint("c", commits))
				kept := rapid.Bool().Draw(t, "its declarations are on record")
				held := false
				elsewhere(t, func(c *control.Control) { held = s.acceptElsewhere(c, state, kept) })
				s.commits.reload(ctx)
				if !kept && !held { // until it is fetched, too
					s.check(inspect.FleetQuery{})
					s.propose(state)
				}
			},
			"a restart": func(t *rapid.T) { *s = *newStill(t, records) },
		})
	})
}
