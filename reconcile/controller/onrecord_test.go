package controller

import (
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/source"
)

// recorded is what the records say.
func (r *replicas) recorded(accepted time.Time) inspect.Status {
	r.t.Helper()
	config := r.Config
	config.Records, config.Leases, config.Reporters = r.records, nil, nil
	config.Source = source.New(source.Config{Now: time.Now})
	c, err := OnRecord(r.t.Context(), config, func(string) time.Time { return accepted })
	if err != nil {
		r.t.Fatalf("%v", err)
	}
	return c.Status()
}

// The records and the replicas say the same word about a zone, and since when; and the records leave out
// a time that they do not have.
func TestRecordsJudgeAsReplicasDo(t *testing.T) {
	limit := reconcile.Guards{Rules: []guard.Rule{{Name: "default", Weakening: &guard.Limit{Count: new(1)}}}}
	frozen := reconcile.Guards{Rules: limit.Rules}
	for name, test := range map[string]struct {
		guards reconcile.Guards
		held   bool
		want   inspect.Outcome
	}{
		"a limit":  {limit, false, inspect.Refused},
		"a hold":   {frozen, true, inspect.Waiting},
		"an order": {reconcile.Guards{Rules: []guard.Rule{{Name: "all", Approve: guard.ApproveAll}}}, false, inspect.Pending}, // it may have been agreed to
		"waves":    {reconcile.Guards{Waves: []reconcile.Wave{{Count: 1, Soak: time.Hour, Halt: reconcile.Halt{FailedPercent: 0}}}}, false, inspect.Waiting},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T) {
				r, first, second := twoReplicas(t, 2, test.guards)
				r.Guards = test.guards
				for i := 1; test.held && i <= 4; i++ {
					r.records.Hold(diff.Hold{Zone: zoneKey(i), Reason: "by hand", Until: time.Now().Add(time.Hour)})
				}
				r.push("c2", "xss", "sqli") // weakens all of them
				r.pass(2 * ticked)
				accepted := time.Now().Add(-time.Minute)
				s := r.recorded(accepted)
				want := 0
				for _, one := range []*replica{first, second} {
					if here := one.Status().Zones.Here; test.want == inspect.Pending {
						want += here[inspect.Refused]
					} else {
						want += here[test.want]
					}
				}
				if got := s.Zones.Outcomes[test.want]; got != want || want == 0 {
					t.Errorf("on record %d zones are %s, and replicas say %d; %v", got, test.want, want, s.Zones.Outcomes)
				}
				for _, z := range s.Zones.Notable {
					if test.held != z.Since.IsZero() || !test.held && !z.Since.Equal(accepted) {
						t.Errorf("%s since %s: %s", z.Zone, z.Since, z.Reason)
					}
				}
			})
		})
	}
}
