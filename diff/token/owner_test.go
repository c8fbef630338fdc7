package token

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
)

// owned gives a token an owner: the account of a key, or the user.
func owned(t desired.Token, account string) desired.Token {
	t.Account, t.Owner = account, edge.AccountID("")
	if account != "" {
		t.Owner = edge.AccountID("id-of-" + account)
	}
	return t
}

func ownedRecord(n int, t desired.Token) diff.TokenRecord {
	r := difftest.RecordOf(n, t, diff.TokenConfirmed)
	r.Owner, r.Prune = t.Owner, t.Prune
	return r
}

// listedOwners is what a platform says that has the tokens on record.
func listedOwners(records []diff.TokenRecord, accounts ...string) diff.TokensLive {
	live := diff.TokensLive{Records: records, Owners: map[edge.AccountID]diff.OwnerLive{}}
	for _, account := range append(accounts, "") {
		owner := owned(desired.Token{}, account).Owner
		of := diff.OwnerLive{Account: account, Listed: &diff.TokensListed{Tokens: map[edge.TokenID]edge.Token{}}}
		for _, r := range records {
			if r.Owner == owner {
				of.Listed.Tokens[r.ID] = difftest.LiveToken(r)
			}
		}
		live.Owners[owner] = of
	}
	return live
}

// However owners change: what a plan makes is made for the declared owner, a second plan
// makes nothing more, and what it deletes is deleted of the owner who has it.
func TestOwnersLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		accounts := []string{"", "prod", "stage"}
		listed := rapid.Bool().Draw(t, "listed")
		var records []diff.TokenRecord
		live := func() diff.TokensLive {
			if listed {
				return listedOwners(records, "prod", "stage")
			}
			return diff.TokensLive{Records: records}
		}
		for range rapid.IntRange(1, 8).Draw(t, "commits") {
			token := owned(difftest.Token("ci", difftest.RotatedZone), rapid.SampledFrom(accounts).Draw(t, "owner"))
			token.Prune = rapid.Bool().Draw(t, "prune")
			for round := range 3 {
				for _, c := range tokenPlan(live(), token).Changes {
					switch o := c.Operation.(type) {
					case diff.Creation:
						if round > 0 || o.Owner != token.Owner || c.Account != token.Account {
							t.Fatalf("round %d makes a token of %q for %q", round, o.Owner, token.Owner)
						}
						records = append(records, ownedRecord(len(records)+1, token))
					case diff.Deletion:
						i := slices.IndexFunc(records, func(r diff.TokenRecord) bool { return r.Intent == o.Intent })
						if i < 0 || records[i].Owner != o.Owner || !records[i].Prune && !token.Prune || i == len(records)-1 {
							t.Fatalf("deletes %+v", o)
						}
						records = slices.Delete(slices.Clone(records), i, i+1)
					}
					if r, sends := c.Request(); sends && strings.HasPrefix(r.Path, "/user/") != (ownerOf(c) == "") {
						t.Fatalf("a token of %q by %s", ownerOf(c), r.Path)
					}
				}
			}
			if last := records[len(records)-1]; last.Owner != token.Owner {
				t.Fatalf("%+v counts, of the owner %q", last, token.Owner)
			}
			records = renumbered(records)
		}
	})
}

func ownerOf(c diff.Change) edge.AccountID { return c.Operation.(diff.SecretOperation).OwnedBy() }

// renumbered gives records ids of their own after one was deleted.
func renumbered(records []diff.TokenRecord) []diff.TokenRecord {
	for i := range records {
		records[i].Intent, records[i].ID = fmt.Sprintf("%016x", i+1), edge.TokenID(fmt.Sprintf("t%d", i+1))
	}
	return records
}

// An owner whose tokens cannot be read stops these alone, declared or not.
func TestUnreadableOwner(t *testing.T) {
	mine, theirs := owned(difftest.Token("mine", difftest.RotatedZone), ""), owned(difftest.Token("theirs", difftest.RotatedZone), "prod")
	left := owned(difftest.Token("left", difftest.RotatedZone), "prod")
	left.Prune = true
	live := listedOwners([]diff.TokenRecord{ownedRecord(1, left)}, "prod")
	live.Owners["id-of-prod"] = diff.OwnerLive{Account: "prod", Unknown: "403", Hint: "permit it"}
	plan := tokenPlan(live, mine, theirs)
	if len(plan.Changes) != 1 || plan.Changes[0].Token != "mine" || len(plan.Problems) != 2 {
		t.Errorf("plans %v, %+v", actions(plan), plan.Problems)
	}
	for _, p := range plan.Problems {
		if p.State != diff.Unknown || p.Account != "prod" || p.Hint != "permit it" {
			t.Errorf("%+v", p)
		}
	}
}

// A wider token that stays with its earlier owner weakens, and the plan says why it stays.
func TestWiderTokenOfAnotherOwner(t *testing.T) {
	was := owned(difftest.Token("ci", difftest.RotatedZone), "")
	is := narrowed(owned(was, "prod"))
	plan := tokenPlan(listedOwners([]diff.TokenRecord{ownedRecord(1, was)}, "prod"), is)
	c := plan.Changes[0]
	if c.Action() != diff.ActionReplace || c.Direction != diff.Weakens || c.Name() != "token ci of account prod" {
		t.Errorf("%+v", c)
	}
	if f := c.Field("account"); f == nil || f.New != "prod" || f.Old != nil || !strings.Contains(f.Note, "token t1 stays until") {
		t.Errorf("%+v", f)
	}
}

// What is only observed of an account is not written, whoever declares the token by now.
func TestObservedOwner(t *testing.T) {
	left := owned(difftest.Token("left", difftest.RotatedZone), "prod")
	left.Prune = true
	live := listedOwners([]diff.TokenRecord{ownedRecord(1, left)}, "prod")
	plan := guard.Check(tokenPlan(live, owned(difftest.Token("new", difftest.RotatedZone), "prod"), owned(difftest.Token("mine", difftest.RotatedZone), "")),
		guard.Facts{Observe: []guard.Observe{{Account: "prod"}}})
	for _, c := range plan.Changes {
		if (c.Refused == nil) != (c.Token == "mine") {
			t.Errorf("%s: refused %+v", c.Name(), c.Refused)
		}
	}
	if len(plan.Changes) != 3 {
		t.Errorf("plans %v", actions(plan))
	}
}
