package tokens

import (
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// person does what the plan asks a person for.
func (w *chanceWorld) person() {
	w.ledger(func(l *ledger.Ledger) {
		live, err := l.Tokens(w.Context())
		w.must(err)
		for _, r := range live.Records {
			if r.State == diff.TokenQuarantined && !w.extended {
				w.must(l.Resolve(w.Context(), r.Key, w.word(r)))
			}
			// All that are on record are gone, and only a person may say so.
			if r.State == diff.TokenConfirmed && w.revoked[r.ID] {
				w.must(l.Revoked(w.Context(), r.ID))
				w.tell("a person says that %s is revoked", r.ID)
			}
		}
	})
}

// word is a person's, on a creation whose outcome is unknown.
func (w *chanceWorld) word(r diff.TokenRecord) ledger.Resolution {
	for _, token := range w.made() {
		if strings.Contains(token.Name, r.Intent) {
			w.sunk[*r.Sink] = token.Value
			w.tell("a person adopts %s for %s", token.ID, r.Key)
			return ledger.Resolution{How: ledger.ByAdopting, ID: edge.TokenID(token.ID)}
		}
	}
	w.tell("a person says that nothing came of the creation for %s", r.Key)
	return ledger.Resolution{How: ledger.ByRetrying}
}

// settles lets time pass and runs until nothing is left, and then expects that
// nothing is.
func (w *chanceWorld) settles() {
	w.passes(time.Hour)
	var report reconcile.Report
	for range 5 {
		report = w.run(0)
		w.holds()
		if len(report.Plan.Problems) > 0 {
			w.person()
		}
	}
	w.tell("settled")
	before := w.writes
	report = w.run(0)
	records := w.holds()
	if len(report.Results) > 0 || len(report.Plan.Problems) > 0 || w.writes != before || slices.ContainsFunc(report.Plan.Changes, diff.Change.Applies) {
		w.Fatalf("what is settled has results %+v, problems %+v, changes %+v, writes %d\n%s", report.Results, report.Plan.Problems, report.Plan.Changes, w.writes-before, strings.Join(w.story, "\n"))
	}
	for key, token := range w.declared {
		w.inUse(key, token, records)
		w.mayDelete[key] = token.Prune
	}
}

// inUse: the secret where a declaration wants it is of a token as declared.
func (w *chanceWorld) inUse(key string, want desired.Token, records []diff.TokenRecord) {
	owner, spec, ok := w.platform.TokenByValue(edge.NewSecret(w.sunk[*want.Sink]))
	if !ok || w.key[edge.TokenID(owner.ID)] != key {
		w.Fatalf("the sink of %s has no secret of its own that works\n%s", key, strings.Join(w.story, "\n"))
	}
	shall := want.Spec()
	shall.Name, shall.ExpiresOn = spec.Name, spec.ExpiresOn
	if access.Hash(spec) != access.Hash(shall) || declaration(spec.Name) != want.Name {
		w.Fatalf("the token in use for %s is not as declared: %+v\n%s", key, spec, strings.Join(w.story, "\n"))
	}
	if want.Rotate != nil && spec.ExpiresOn != "" {
		end, err := time.Parse(time.RFC3339, spec.ExpiresOn)
		if err != nil || end.Before(w.now.Add(want.Rotate.Overlap)) {
			w.Fatalf("the token in use for %s ends at %s, now is %s\n%s", key, spec.ExpiresOn, w.now, strings.Join(w.story, "\n"))
		}
	}
}
