package token

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/integration/must"
)

// narrowed is a token that may do less than another: from fewer addresses.
func narrowed(t desired.Token) desired.Token {
	t.Condition = &desired.Condition{In: []string{"192.0.2.0/24"}}
	return t
}

// A creation takes no right away while the token before it stays valid.
func TestReplacementThatLeavesAWiderToken(t *testing.T) {
	wide := difftest.Token("ci", difftest.RotatedZone)
	narrow := narrowed(wide)
	until := wide
	until.ExpiresOn = "2027-01-01T00:00:00Z"
	before, ended := difftest.RecordOf(1, wide, diff.TokenConfirmed), difftest.RecordOf(1, until, diff.TokenConfirmed)
	between := difftest.RecordOf(2, narrowed(difftest.Token("ci", "000000000000000000000000000000bb")), diff.TokenConfirmed)
	pruned := difftest.Elsewhere(narrow)
	pruned.Prune = true
	one := []diff.TokenRecord{before}
	for name, c := range map[string]struct {
		live      diff.TokensLive
		declared  desired.Token
		now       time.Time
		direction diff.Direction
		says      string // of the token that stays; empty for nothing
	}{
		"narrower":              {diff.TokensLive{Records: one}, narrow, difftest.January, diff.Weakens, "token t1 may do more than the new one, and stays valid until it is revoked"},
		"it ends by itself":     {diff.TokensLive{Records: []diff.TokenRecord{ended}}, narrowed(until), difftest.January, diff.Weakens, "token t1 may do more than the new one, and stays valid until 2027-01-01T00:00:00Z"},
		"it has ended":          {diff.TokensLive{Records: []diff.TokenRecord{ended}}, narrow, difftest.January.AddDate(9, 0, 0), diff.Weakens, ""}, // a later end than that of the ended one
		"an earlier end":        {diff.TokensLive{Records: one}, until, difftest.January, diff.Weakens, "token t1 may do more"},
		"one before the last":   {diff.TokensLive{Records: []diff.TokenRecord{before, between}}, narrowed(difftest.Token("ci", "000000000000000000000000000000cc")), difftest.January, diff.Weakens, "token t1 may do more"},
		"equal, another sink":   {diff.TokensLive{Records: one}, difftest.Elsewhere(wide), difftest.January, diff.Weakens, ""},
		"revoked, where listed": {difftest.ListedAs(one), narrow, difftest.January, diff.Weakens, ""}, // its rights were gone
		"listed, another sink":  {difftest.ListedAs(one, difftest.LiveToken(before)), difftest.Elsewhere(narrow), difftest.January, diff.Weakens, "token t1 may do more"},
		"Seawall deletes it":    {difftest.ListedAs(one, difftest.LiveToken(before)), pruned, difftest.January, diff.Weakens, ""},
	} {
		t.Run(name, func(t *testing.T) {
			changes := planAt(c.now, c.live, c.declared).Changes
			if len(changes) != 1 || changes[0].Action() != diff.ActionReplace || changes[0].Direction != c.direction {
				t.Fatalf("plans %+v, want one that %s", changes, c.direction)
			}
			var said []string
			for _, r := range changes[0].Rights {
				if strings.HasPrefix(r.Text, "token ") {
					said = append(said, r.Text)
				}
			}
			if c.says == "" && said != nil || !strings.HasPrefix(strings.Join(said, "; "), c.says) {
				t.Errorf("says %q, want %q", said, c.says)
			}
		})
	}
}

// Until it is gone a wider token weakens in every plan, also one that ends by itself.
func TestWiderTokenWeakensUntilItIsGone(t *testing.T) {
	wide := difftest.Token("ci", difftest.RotatedZone)
	narrow := narrowed(wide)
	first, second := difftest.RecordOf(1, wide, diff.TokenConfirmed), difftest.RecordOf(2, narrow, diff.TokenConfirmed)
	rotates := difftest.Rotating(narrow, 720*time.Hour, 48*time.Hour)
	wideGeneration := difftest.Generation(1, difftest.Rotating(wide, 720*time.Hour, 48*time.Hour), difftest.January)
	narrowGeneration := difftest.Generation(2, rotates, difftest.January.Add(time.Hour))
	soon := difftest.January.Add(2 * time.Hour)
	for name, c := range map[string]struct {
		records  []diff.TokenRecord
		declared desired.Token
		now      time.Time
		want     string
	}{
		"valid":             {[]diff.TokenRecord{first, second}, narrow, soon, "weakens: superseded by t2; it may do more than that, and stays valid until it is revoked; revoke it in the dashboard, then: seawall token revoked t1"},
		"gone":              {[]diff.TokenRecord{second}, narrow, soon, ""},
		"not wider":         {[]diff.TokenRecord{second, difftest.RecordOf(3, wide, diff.TokenConfirmed)}, wide, soon, "neutral: superseded by t3; revoke it in the dashboard, then: seawall token revoked t2"},
		"ends by itself":    {[]diff.TokenRecord{wideGeneration, narrowGeneration}, rotates, soon, "weakens: superseded by t2; it may do more than that, and stays valid until 2026-02-02T00:00:00Z; revoke it in the dashboard, then: seawall token revoked t1"},
		"has ended":         {[]diff.TokenRecord{wideGeneration, narrowGeneration}, rotates, difftest.January.Add(768 * time.Hour), "rotate"},
		"equal, in overlap": {[]diff.TokenRecord{narrowGeneration, difftest.Generation(3, rotates, difftest.January.Add(721*time.Hour))}, rotates, difftest.January.Add(722 * time.Hour), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, change := range planAt(c.now, diff.TokensLive{Records: c.records}, c.declared).Changes {
				text := string(change.Action())
				if change.Action() == diff.ActionOrphan {
					text = fmt.Sprintf("%s: %s", change.Direction, change.Fields[0].Note)
				}
				got = append(got, text)
			}
			if strings.Join(got, " | ") != c.want {
				t.Errorf("plans %q, want %q", got, c.want)
			}
		})
	}
}

// Where the secret of a moved token stays is said when it moves, and for as long as
// the old token is valid.
func TestOldPlaceOfAMovedSecretIsNamed(t *testing.T) {
	token := difftest.Token("ci", difftest.RotatedZone)
	moved := difftest.Elsewhere(token)
	first, second := difftest.RecordOf(1, token, diff.TokenConfirmed), difftest.RecordOf(2, moved, diff.TokenConfirmed)
	const stays = "the secret of token t1 is still in sink ci, key ci"
	text := func(declared []desired.Token, records ...diff.TokenRecord) string {
		t.Helper()
		var b bytes.Buffer
		must.Do(t, render.Text(&b, planAt(difftest.January, diff.TokensLive{Records: records}, declared...), false))
		return b.String()
	}
	if got := text([]desired.Token{moved}, first); !strings.Contains(got, "> "+stays+"\n") {
		t.Errorf("the move is planned as\n%s", got)
	}
	if got := text([]desired.Token{moved}, first, second); !strings.Contains(got, "superseded by t2; its secret is still in sink ci, key ci; revoke it") {
		t.Errorf("after the move the plan is\n%s", got)
	}
	// Another declaration takes the old place, so nothing stays there.
	heir := token
	heir.Key, heir.Name = "heir", "heir"
	if got := text([]desired.Token{moved, heir}, first); strings.Contains(got, "is still in") {
		t.Errorf("with an heir the move is planned as\n%s", got)
	}
	undelivered := first
	undelivered.Delivered = false
	if got := planAt(difftest.January, diff.TokensLive{Records: []diff.TokenRecord{undelivered}}, moved).Changes; slices.ContainsFunc(got, func(c diff.Change) bool {
		creation, _ := c.Operation.(diff.Creation)
		return len(creation.Leaves) > 0
	}) {
		t.Errorf("a secret that was never delivered stays somewhere: %+v", got)
	}
	listed := difftest.ListedAs([]diff.TokenRecord{first, second}, difftest.LiveToken(first), difftest.LiveToken(second))
	moved.Prune = true
	changes := planAt(difftest.January, listed, moved).Changes
	if len(changes) != 1 {
		t.Fatalf("plans %+v", changes)
	}
	if d, ok := changes[0].Operation.(diff.Deletion); !ok || len(d.Leaves) != 1 || d.Leaves[0].String() != stays {
		t.Errorf("plans %+v", changes)
	}
}
