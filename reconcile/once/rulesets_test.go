package once

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// forgetsRulesets records no version of a ruleset.
type forgetsRulesets struct{ reconcile.Forgetful }

func (*forgetsRulesets) SawRuleset(context.Context, string, rulesets.Seen, func(rulesets.Seen) radar.Published) (*rulesets.Seen, bool, error) {
	return nil, false, errors.New("the disk is full")
}

// An apply records the versions that it reads, and says in its log what a new one means; a plan
// records none. What cannot be recorded does not stop it.
func TestApplyRecordsVersions(t *testing.T) {
	f := newFixture(t, 3)
	f.repo.Push("c1", declareAll(3, core("xss"))...)
	var log bytes.Buffer
	f.adjust = func(r *Run) { r.Rulesets, r.Log = f.records, slog.New(slog.NewTextHandler(&log, nil)) }
	versions := func() (all []string) {
		seen, err := f.records.Rulesets(t.Context())
		must.Do(t, err)
		for _, s := range seen {
			all = append(all, s.Ruleset.Version)
		}
		return all
	}
	f.plan(Order{})
	if got := versions(); len(got) > 0 {
		t.Errorf("a plan records %q", got)
	}
	f.converge(Order{})
	var next edge.Ruleset
	for _, r := range f.Platform.State().Accounts[0].Rulesets {
		if r.ID == mem.CoreRuleset {
			next = r
		}
	}
	next.Rules = slices.DeleteFunc(next.Rules, func(r edge.Rule) bool { return r.Ref == "sqli-union" })
	must.Do(t, f.Platform.SetRuleset(mem.Account, next))
	f.converge(Order{Zones: []string{declare(1, core("xss")).Key}})
	f.converge(Order{})
	if got := versions(); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("on record are the versions %q", got)
	}
	if n := strings.Count(log.String(), "a managed ruleset has a new version"); n != 1 || !strings.Contains(log.String(), "weakened=3") {
		t.Errorf("%d lines of it:\n%s", n, log.String())
	}
	f.adjust = func(r *Run) { r.Rulesets, r.Log = &forgetsRulesets{}, slog.New(slog.NewTextHandler(&log, nil)) }
	f.converge(Order{})
	if !strings.Contains(log.String(), "cannot be recorded") || !strings.Contains(log.String(), "the disk is full") {
		t.Errorf("the log:\n%s", log.String())
	}
}
