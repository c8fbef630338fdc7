package token

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/guard"
)

func actions(p diff.Plan) []string {
	list := []string{}
	for _, c := range p.Changes {
		list = append(list, string(c.Action()))
	}
	for _, problem := range p.Problems {
		list = append(list, string(problem.State))
	}
	return list
}

func TestRotationPlans(t *testing.T) {
	const day = 24 * time.Hour
	plain := difftest.Token("ci-dns", difftest.RotatedZone)
	token := difftest.Rotating(plain, 30*day, 2*day)
	first, second := difftest.Generation(1, token, difftest.January), difftest.Generation(2, token, difftest.January.Add(30*day))
	waiting := first
	waiting.Delivered = false
	endless := difftest.RecordOf(1, plain, diff.TokenConfirmed)
	endless.At = difftest.January
	other := difftest.Rotating(difftest.Token("ci-dns", "000000000000000000000000000000bb"), 30*day, 2*day)
	for name, c := range map[string]struct {
		records  []diff.TokenRecord
		declared desired.Token
		after    time.Duration // since the first came to be
		want     string
	}{
		"the first":                       {nil, token, 0, "create"},
		"young":                           {[]diff.TokenRecord{first}, token, 30*day - time.Second, ""},
		"as old as every":                 {[]diff.TokenRecord{first}, token, 30 * day, "rotate"},
		"nobody ran for months":           {[]diff.TokenRecord{first}, token, 300 * day, "rotate"},
		"overlap, both live":              {[]diff.TokenRecord{first, second}, token, 31 * day, ""},
		"the first has run out by itself": {[]diff.TokenRecord{first, second}, token, 33 * day, ""},
		"the second is due":               {[]diff.TokenRecord{first, second}, token, 60 * day, "rotate"},
		"its sealed secret waits":         {[]diff.TokenRecord{waiting}, token, 31 * day, "undelivered"},
		"it waited until it ended":        {[]diff.TokenRecord{waiting}, token, 32 * day, "rotate"},
		"a shorter every":                 {[]diff.TokenRecord{first}, difftest.Rotating(plain, 10*day, 2*day), 11 * day, "replace"},
		"a longer one, before the end":    {[]diff.TokenRecord{first}, difftest.Rotating(plain, 300*day, 2*day), 30 * day, "replace"},
		"changed in between":              {[]diff.TokenRecord{first}, other, 1 * day, "replace"},
		"it did not rotate before":        {[]diff.TokenRecord{endless}, token, 1 * day, ""},
		"it did not, and is old":          {[]diff.TokenRecord{endless}, token, 31 * day, "replace"},
		"endless, in the overlap":         {[]diff.TokenRecord{endless, second}, token, 31 * day, ""},
		"endless and superseded":          {[]diff.TokenRecord{endless, second}, token, 32 * day, "orphan"},
		"it rotates no more":              {[]diff.TokenRecord{first}, plain, 1 * day, "replace"},
		"it ended, undeclared":            {[]diff.TokenRecord{first}, desired.Token{}, 33 * day, ""},
		"undeclared":                      {[]diff.TokenRecord{first}, desired.Token{}, 1 * day, "orphan"},
	} {
		t.Run(name, func(t *testing.T) {
			declared := []desired.Token{c.declared}
			if c.declared.Key == "" {
				declared = nil
			}
			plan := planAt(difftest.January.Add(c.after), diff.TokensLive{Records: c.records}, declared...)
			if got := strings.Join(actions(plan), " "); got != c.want {
				t.Errorf("plans %q, want %q", got, c.want)
			}
		})
	}
}

// Nothing of the time at which a plan is made is in it: reviewers approve a digest.
func TestPlanOfRotationHoldsNoTime(t *testing.T) {
	token := difftest.Rotating(difftest.Token("ci-dns", difftest.RotatedZone), 720*time.Hour, 48*time.Hour)
	live := diff.TokensLive{Records: []diff.TokenRecord{difftest.Generation(1, token, difftest.January)}}
	at := difftest.January.Add(800 * time.Hour)
	a, b := planAt(at, live, token), planAt(at.Add(time.Minute), live, token)
	if a.Digest != b.Digest || len(a.Changes) != 1 {
		t.Errorf("digests %s and %s, changes %+v", a.Digest, b.Digest, a.Changes)
	}
	c := a.Changes[0]
	if c.Direction != diff.Neutral || len(c.Rights) != 0 || len(c.Fields) != 1 ||
		c.Fields[0].Old != "2026-02-02T00:00:00Z" || c.Fields[0].New != "768h after its creation" {
		t.Errorf("got %s %+v %+v", c.Direction, c.Rights, c.Fields)
	}
}

// Followed for any time, with runs at any times, a rotation never leaves its
// consumers without a token that works, as long as no gap between runs is longer
// than the overlap; and never more than two of it live.
func TestRotationIsSeamless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		overlap := time.Duration(rapid.IntRange(10, 72*60).Draw(t, "overlap")) * time.Minute
		every := overlap + time.Duration(rapid.IntRange(60, 90*24*60).Draw(t, "more"))*time.Minute
		token := difftest.Rotating(difftest.Token("ci-dns", difftest.RotatedZone), every, overlap)
		var records []diff.TokenRecord
		now := difftest.January
		for i := range rapid.IntRange(1, 60).Draw(t, "runs") {
			if i > 0 {
				// Ends are told to the second.
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(overlap-time.Second)).Draw(t, "gap")))
			}
			if last := len(records) - 1; last >= 0 && (diff.TokensLive{}).Over(records[last], now) {
				t.Fatalf("at %s nothing works", now)
			}
			plan := planAt(now, diff.TokensLive{Records: records}, token)
			switch got := strings.Join(actions(plan), " "); got {
			case "":
			case "create", "rotate":
				records = append(records, difftest.Generation(len(records)+1, token, now))
			default:
				t.Fatalf("plans %s", got)
			}
			living := 0
			for _, r := range records {
				if !(diff.TokensLive{}).Over(r, now) {
					living++
				}
			}
			if living > 2 {
				t.Fatalf("%d live at once", living)
			}
			if again := planAt(now, diff.TokensLive{Records: records}, token); !again.IsEmpty() {
				t.Fatalf("a second plan has %v", actions(again))
			}
		}
	})
}

func TestNameSuffixCarriesTheAttempt(t *testing.T) {
	token := difftest.Token("ci-dns", difftest.RotatedZone)
	c := creationOf(token, token.Spec(), " [{intent}]")
	body := c.Body("00000000000000aa", difftest.January)
	if body.Name != "ci-dns [00000000000000aa]" || c.Hash != creationOf(token, token.Spec(), "").Hash {
		t.Errorf("name %q", body.Name)
	}
	was := difftest.RecordOf(1, difftest.Token("ci-dns", "000000000000000000000000000000bb"), diff.TokenConfirmed)
	was.Spec.Name = "ci-dns [" + was.Intent + "]"
	if fields := planAt(difftest.January, diff.TokensLive{Records: []diff.TokenRecord{was}}, token).Changes[0].Fields; len(fields) != 1 || fields[0].Path != "policies" {
		t.Errorf("the attempt in the name is a difference: %+v", fields)
	}
	token.Name = strings.Repeat("é", 102) // and 19 more
	plan := guard.Check(planOfTokens(diff.Input{State: desired.State{Tokens: []desired.Token{token}}, NameSuffix: " [{intent}]"}), guard.Facts{})
	if r := plan.Changes[0].Refused; r == nil || r.Guard != "name" || !strings.Contains(r.Reason, "121 characters") {
		t.Errorf("refused %+v", r)
	}
}

func TestLifetimeInWords(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"768h after its creation":   768 * time.Hour,
		"1h30m after its creation":  90 * time.Minute,
		"1h0m5s after its creation": time.Hour + 5*time.Second,
		"10h after its creation":    10 * time.Hour,
	} {
		if got := lifetimeText(d); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Only the token in use is rotated because a person asks for it, and only where it rotates.
func TestOnlyTheTokenInUseIsAskedFor(t *testing.T) {
	token := difftest.Rotating(difftest.Token("ci-dns", difftest.RotatedZone), 720*time.Hour, 48*time.Hour)
	plain := difftest.Token("ci-dns", difftest.RotatedZone)
	first, second := difftest.Generation(1, token, difftest.January), difftest.Generation(2, token, difftest.January.Add(time.Hour))
	live := diff.TokensLive{Records: []diff.TokenRecord{first, second}}
	for name, c := range map[string]struct {
		ask      diff.TokenRecord
		declared desired.Token
		live     diff.TokensLive
		want     string
	}{
		"in use":        {second, token, live, "rotate"},
		"superseded":    {first, token, live, ""},
		"none":          {diff.TokenRecord{}, token, live, ""},
		"never rotates": {difftest.RecordOf(1, plain, diff.TokenConfirmed), plain, diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, plain, diff.TokenConfirmed)}}, ""},
	} {
		plan := planAsked(difftest.January.Add(2*time.Hour), c.live, c.ask.ID, c.declared)
		if got := strings.Join(sent(plan), ", "); got != c.want {
			t.Errorf("%s: plans %q, want %q", name, got, c.want)
		}
	}
}
