package ledgertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// version is a version of a managed ruleset as an account has it a day after the one before.
func version(account edge.AccountID, number int, change ...func(*edge.Ruleset)) rulesets.Seen {
	r := difftest.Next(difftest.Managed(), change...)
	r.Version = fmt.Sprint(number)
	return rulesets.Seen{Account: account, At: noon.AddDate(0, 0, number), Ruleset: rulesets.Facts(r)}
}

// compared is what a version means where nothing is declared; called tells of the calls.
func compared(seen rulesets.Seen, called *[]rulesets.Seen) func(rulesets.Seen) radar.Published {
	return func(before rulesets.Seen) radar.Published {
		*called = append(*called, before)
		return radar.Compared(radar.Account{Key: "prod", ID: seen.Account}, before, seen)
	}
}

// testRulesets: each version is recorded once, with the one before it; of each ruleset of each
// account the last ones are kept.
func testRulesets(t *testing.T, f Fixture) {
	ctx := t.Context()
	var want []rulesets.Seen
	saw := func(what string, seen rulesets.Seen, before *rulesets.Seen, news bool) {
		t.Helper()
		var asked, wanted []rulesets.Seen // what it means is asked for once, and only of news
		gotBefore, gotNews, err := f.Store.SawRuleset(ctx, "prod", seen, compared(seen, &asked))
		must(t, err)
		if news && before != nil {
			wanted = append(wanted, *before)
		}
		if d := cmp.Diff(wanted, asked, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: it was asked for what it means (-want +got):\n%s", what, d)
		}
		if d := cmp.Diff(before, gotBefore, cmpopts.EquateEmpty()); d != "" || gotNews != news {
			t.Errorf("%s: news %v; the one before (-want +got):\n%s", what, gotNews, d)
		}
		if news {
			want = append(want, seen)
		}
	}
	again := func(s rulesets.Seen) rulesets.Seen { s.At = s.At.Add(time.Hour); return s }
	one, two := version("a", 1), version("a", 2, difftest.Without(1))
	saw("the first", one, nil, true)
	saw("the first again", again(one), nil, false)
	saw("the next", two, &one, true)
	saw("the next again", again(two), &one, false)
	saw("of another account", version("b", 2, difftest.Without(1)), nil, true)
	back := version("a", 1)
	back.At = two.At.AddDate(0, 0, 1)
	saw("the first comes back", back, &two, true)
	changed := version("a", 1, difftest.Without(2))
	saw("the same number, other rules", changed, &back, true)
	keptRulesets(t, f, want)

	for n := range reconcile.MostVersions {
		next := version("a", 100+n)
		_, news, err := f.Store.SawRuleset(ctx, "prod", next, compared(next, new([]rulesets.Seen)))
		must(t, err)
		if want = append(want, next); !news {
			t.Errorf("version %d is no news", 100+n)
		}
	}
	var kept []rulesets.Seen
	for i, s := range want {
		if s.Account == "b" || i >= len(want)-reconcile.MostVersions {
			kept = append(kept, s)
		}
	}
	keptRulesets(t, f, kept)
}

func keptRulesets(t *testing.T, f Fixture, want []rulesets.Seen) {
	t.Helper()
	got, err := f.Store.Rulesets(t.Context())
	must(t, err)
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("on record (-want +got):\n%s", d)
	}
}
