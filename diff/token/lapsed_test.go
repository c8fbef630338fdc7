package token

import (
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/guard"
)

// What ran out while nothing declared it, and what the platform does not have any more, gives no right
// that another token could take over: one that comes in its place is no rotation, and weakens.
func TestAGoneTokenIsFollowedByANewOne(t *testing.T) {
	token := difftest.Rotating(difftest.Token("ci-dns", difftest.RotatedZone), 720*time.Hour, 48*time.Hour)
	first := difftest.Generation(1, token, difftest.January)
	dropped := first
	dropped.Hash = diff.Undeclared(first.Hash)
	soon, due, over := difftest.January.Add(time.Hour), difftest.January.Add(721*time.Hour), difftest.January.Add(2400*time.Hour)
	lists := func(r diff.TokenRecord) diff.TokensLive {
		return difftest.ListedAs([]diff.TokenRecord{r}, difftest.LiveToken(r))
	}
	only := func(r diff.TokenRecord) diff.TokensLive { return diff.TokensLive{Records: []diff.TokenRecord{r}} }
	for name, c := range map[string]struct {
		now  time.Time
		live diff.TokensLive
		want []string
	}{
		"declared all the time":               {over, only(first), []string{"rotate"}},
		"declared again, and valid":           {soon, only(dropped), nil},
		"listed, declared again, and valid":   {soon, lists(dropped), nil},
		"declared again, and due":             {due, only(dropped), []string{"replace approval"}},
		"declared again, and it ran out":      {over, only(dropped), []string{"replace approval"}},
		"listed, declared again, and ran out": {over, lists(dropped), []string{"replace approval"}},
		"the platform does not have it":       {soon, difftest.ListedAs([]diff.TokenRecord{first}), []string{"replace approval"}},
	} {
		plan := planAt(c.now, c.live, token)
		if got := sent(guard.Check(plan, approveAll)); !slices.Equal(got, c.want) {
			t.Errorf("%s: plans %v, want %v", name, got, c.want)
		}
		for _, change := range plan.Changes {
			if change.Action() == diff.ActionReplace && c.now != due && change.Direction != diff.Weakens {
				t.Errorf("%s: %s", name, change.Direction)
			}
		}
	}
	narrow := narrowed(difftest.Token("ci-dns", difftest.RotatedZone))
	freeze := guard.Facts{Freezes: []guard.Freeze{{Name: "weekend", Until: over, Strengthening: true}}}
	if got := sent(guard.Check(planAt(soon, difftest.ListedAs([]diff.TokenRecord{first}), narrow), freeze)); !slices.Equal(got, []string{"replace freeze"}) {
		t.Errorf("a freeze that lets what strengthens pass: %v", got)
	}
}

// What is on record of a token that ends says whether it is declared.
func TestUndeclaredIsOnRecord(t *testing.T) {
	token := difftest.Rotating(difftest.Token("ci-dns", difftest.RotatedZone), 720*time.Hour, 48*time.Hour)
	first := difftest.Generation(1, token, difftest.January)
	endless := difftest.RecordOf(1, difftest.Token("ci-dns", difftest.RotatedZone), diff.TokenConfirmed)
	dropped, pruned := first, first
	dropped.Hash, pruned.Prune = diff.Undeclared(first.Hash), true
	for name, c := range map[string]struct {
		live     diff.TokensLive
		declared []desired.Token
		want     []string
	}{
		"dropped":                       {diff.TokensLive{Records: []diff.TokenRecord{first}}, nil, []string{dropped.Hash}},
		"dropped, which is on record":   {diff.TokensLive{Records: []diff.TokenRecord{dropped}}, nil, nil},
		"declared again":                {diff.TokensLive{Records: []diff.TokenRecord{dropped}}, []desired.Token{token}, []string{first.Hash}},
		"without an end":                {diff.TokensLive{Records: []diff.TokenRecord{endless}}, nil, nil},
		"the platform does not have it": {difftest.ListedAs([]diff.TokenRecord{first}), nil, nil},
		"it is deleted":                 {difftest.ListedAs([]diff.TokenRecord{pruned}, difftest.LiveToken(pruned)), nil, nil},
		"the ledger is in doubt":        {diff.TokensLive{Records: []diff.TokenRecord{first}, Unknown: "in doubt"}, nil, nil},
	} {
		var got []string
		for _, s := range planAt(difftest.January.Add(time.Hour), c.live, c.declared...).Settled {
			got = append(got, s.Token.Hash)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
