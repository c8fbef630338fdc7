package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/token"
)

func TestReviewTellsWhatAMergeWouldDo(t *testing.T) {
	f := newFixture(t, 2)
	f.round() // nothing is in force yet: nothing is read
	f.converge("c1", zones(2, core("xss"))...)
	f.open(7, "p1", fleetZone(1, core("xss", "sqli")), fleetZone(2, core("xss")))
	f.calls.Reset()
	f.round()
	f.wantCalls("list", "managed core", "read 1")
	for _, want := range []string{"### Seawall plan for `p1`", "1 to change", "sqli", "Digest for approval: `sha256:", "3 requests used, 2 to apply: 0.2% of the budget of 1200 in 5m, without a wait", "compared with `c1`"} {
		if !strings.Contains(f.forge.comments[7], want) {
			t.Errorf("%q is not in\n%s", want, f.forge.comments[7])
		}
	}
	if !slices.Equal(f.forge.marks, []string{"p1 seawall/plan success: 1 zone: 1 to change, 1 of them weakening"}) {
		t.Errorf("marks %q", f.forge.marks)
	}

	f.calls.Reset()
	f.round() // nothing is new
	f.wantCalls()
	f.open(7, "p2", fleetZone(1, core("xss")), fleetZone(2, core("xss", "sqli")))
	f.round()
	if f.forge.sent != 2 || !strings.Contains(f.forge.comments[7], "of 2 zones") {
		t.Errorf("%d comments, the last\n%s", f.forge.sent, f.forge.comments[7])
	}
	if got := f.Off(1); !slices.Equal(got, []string{"xss"}) {
		t.Errorf("a review wrote: %v", got)
	}
	f.clock.Advance(planAgain)
	f.calls.Reset()
	f.round()
	if len(f.calls.Calls()) == 0 || f.forge.sent != 2 {
		t.Errorf("an old plan was not made anew, or told again without need: %d comments", f.forge.sent)
	}
}

// Somebody who opens a pull request learns nothing of zones that the commit in
// force does not declare.
func TestReviewReadsNoForeignZone(t *testing.T) {
	f := newFixture(t, 3)
	f.converge("c1", fleetZone(1, core("xss")))
	f.open(1, "p1", fleetZone(1, core("xss")), fleetZone(2, core("sqli")))
	other := stateOf("p2", fleetZone(1, core("sqli")))
	other.Accounts[0].ID = "ffffffffffffffffffffffffffffffff"
	f.openState(2, other)
	f.calls.Reset()
	f.round()
	f.wantCalls()
	for number, want := range map[int]string{1: "zone-00002.example", 2: "zone-00001.example"} {
		if text := f.forge.comments[number]; !strings.Contains(text, "not read") || !strings.Contains(text, want) {
			t.Errorf("comment %d:\n%s", number, text)
		}
	}
}

func TestReviewOfMistakes(t *testing.T) {
	f := newFixture(t, 1)
	f.converge("c1", fleetZone(1, core("xss")))
	f.open(1, "bad")
	hostile := "`</sub><script>alert(1)</script> @everyone <!-- seawall:plan -->\n### Approved"
	var problems []desired.Problem
	for i := range 25 {
		problems = append(problems, desired.Problem{Origin: desired.Origin{File: "zones/shop.cue", Line: i + 1, Column: 2}, Path: hostile, Message: "is wrong", Hint: hostile})
	}
	f.heads.commits["bad"] = commit{problems: problems}
	f.open(2, "gone")
	f.heads.at[2] = ""
	f.heads.failed[2] = errors.New("it has 65 MiB, which is over the limit")
	f.round()
	text := f.forge.comments[1]
	if !strings.Contains(text, "the desired state does not compile") || !strings.Contains(text, "25 mistakes") || !strings.Contains(text, "… and 5 more") {
		t.Errorf("comment\n%s", text)
	}
	for line := range strings.Lines(text) {
		if bare := outsideCode(line); strings.ContainsAny(bare, "<@") || strings.HasPrefix(line, "### Approved") {
			t.Errorf("a stranger's text is markup: %q", line)
		}
	}
	if !slices.Contains(f.forge.marks, "bad seawall/plan failure: 25 mistakes in the desired state") || !strings.Contains(f.forge.comments[2], "over the limit") {
		t.Errorf("marks %q, comment %q", f.forge.marks, f.forge.comments[2])
	}
}

// outsideCode is a line of Markdown without its code spans.
func outsideCode(line string) string {
	var out strings.Builder
	for line != "" {
		i := strings.IndexByte(line, '`')
		if i < 0 {
			return out.String() + line
		}
		out.WriteString(line[:i])
		line = line[i:]
		fence := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		end := strings.Index(line[len(fence):], fence)
		if end < 0 {
			return out.String() + line
		}
		line = line[len(fence)+end+len(fence):]
	}
	return out.String()
}

// An approving review approves of what was told before, and of nothing else.
func TestReviewIsApproval(t *testing.T) {
	f := newFixture(t, 1)
	f.approvedBy("Alice")
	f.converge("c1", fleetZone(1, core("xss")))
	f.open(1, "p1", fleetZone(1, core("xss", "sqli")))
	f.forge.approve(1, "p1", f.clock.Now(), "mallory", "alice") // before the plan was told
	f.clock.Advance(time.Second)
	f.forge.approve(1, "p2", f.clock.Now(), "mallory")
	f.round()
	f.round()
	if len(f.records.approved) != 0 {
		t.Errorf("approved unseen: %+v", f.records.approved)
	}
	f.forge.approve(1, "p1", f.clock.Now(), "mallory", "alice")
	f.round()
	if len(f.records.approved) != 2 || f.records.approved[0].Who != "alice" || f.records.approved[0].Kind != reconcile.Approved || !strings.Contains(f.forge.comments[1], f.records.approved[0].Digest) {
		t.Errorf("approved %+v", f.records.approved)
	}
	f.round()
	if len(f.records.approved) != 2 {
		t.Errorf("approved again")
	}
	f.clock.Advance(planAgain)
	f.round()
	f.round()
	if len(f.records.approved) != 2 {
		t.Errorf("the review of the plan of an hour ago is one of the plan that was made since: %+v", f.records.approved[2:])
	}
	f.open(1, "p2", fleetZone(1, core("sqli")))
	f.round()
	f.round()
	if len(f.records.approved) != 2 {
		t.Errorf("the push after the approval is approved: %+v", f.records.approved)
	}
}

func TestReviewsForgetClosedOnes(t *testing.T) {
	f := newFixture(t, 1)
	f.converge("c1", fleetZone(1, core("xss")))
	for n := range 60 {
		f.open(n+1, fmt.Sprint("p", n+1), fleetZone(1, core("sqli")))
	}
	f.round()
	if len(f.shown) != mostReviewed || f.forge.comments[60] == "" || f.forge.comments[1] != "" {
		t.Errorf("%d shown", len(f.shown))
	}
	f.forge.pulls = f.forge.pulls[:1]
	f.round()
	if len(f.shown) != 1 {
		t.Errorf("%d shown", len(f.shown))
	}
	f.forge.down = errors.New("503")
	if err := f.Round(t.Context()); err == nil || !strings.Contains(err.Error(), "listing pull requests: 503") {
		t.Errorf("error %v", err)
	}
}

// A head that cannot be read is told where comments are wanted, and there alone;
// a head that was told before, and comes back, is told anew.
func TestReviewOfAnUnreadableHead(t *testing.T) {
	f := newFixture(t, 1)
	f.converge("c1", fleetZone(1, core("xss")))
	f.open(1, "p1", fleetZone(1, core("sqli")))
	f.round()
	f.heads.at[1], f.heads.failed[1] = "", errors.New("over the bound")
	f.round()
	if !strings.Contains(f.forge.comments[1], "over the bound") {
		t.Errorf("comment\n%s", f.forge.comments[1])
	}
	f.heads.at[1], f.heads.failed = "p1", nil
	f.round()
	if !strings.Contains(f.forge.comments[1], "Seawall plan") {
		t.Errorf("the head is back, and the comment is\n%s", f.forge.comments[1])
	}
	f.Comments, f.forge.comments = false, map[int]string{}
	f.heads.at[1], f.heads.failed = "", map[int]error{1: errors.New("over the bound")}
	f.round()
	if len(f.forge.comments) > 0 {
		t.Errorf("a comment that nobody wants: %v", f.forge.comments)
	}
}

// memoryOfTokens has none.
type memoryOfTokens struct{ reconcile.TokenMemory }

func (memoryOfTokens) Tokens(context.Context) (diff.TokensLive, error) { return diff.TokensLive{}, nil }

// A review judges a token as the daemon will: with the name that it would have, and
// with the groups that are said to create tokens.
func TestReviewJudgesTokensAlike(t *testing.T) {
	f := newFixture(t, 1)
	f.converge("c1", fleetZone(1, core("xss")))
	f.Tokens = token.New(token.Config{
		Memory: memoryOfTokens{}, NameSuffix: diff.NameSuffix(" {intent}" + strings.Repeat("x", 200)),
		CreatingGroups: []string{"4755a26eedb94da69e1066d98aa820be"}, Now: f.clock.Now,
	})
	state := stateOf("p1", fleetZone(1, core("xss")))
	state.Tokens = []desired.Token{{
		Key: "ci", Name: "ci", Sink: &desired.Sink{Name: "s", Key: "k"},
		Policies: []desired.Policy{{
			Effect: "allow", Resources: []desired.Resource{{Key: "com.vendor.api.account.zone.*"}},
			PermissionGroups: []desired.PermissionGroup{{ID: "4755a26eedb94da69e1066d98aa820be"}},
		}},
	}}
	f.openState(1, state)
	f.round()
	if !strings.Contains(f.forge.comments[1], "with tokens.name_suffix the name would have") || !strings.Contains(f.forge.comments[1], "create tokens") {
		t.Errorf("comment\n%s", f.forge.comments[1])
	}
}

// Who reviews and merges at once has approved.
func TestReviewJustBeforeTheMergeIsApproval(t *testing.T) {
	f := newFixture(t, 1)
	f.approvedBy("alice")
	f.converge("c1", fleetZone(1, core("xss")))
	f.open(1, "p1", fleetZone(1, core("xss", "sqli")))
	f.round()
	f.forge.approve(1, "p1", f.clock.Now(), "alice")
	f.forge.pulls = nil
	f.round()
	if len(f.records.approved) != 2 || len(f.shown) != 0 {
		t.Errorf("approved %+v, shown %v", f.records.approved, f.shown)
	}
}

// Without comments nothing is said in one, a refusal neither.
func TestReviewsWithoutComments(t *testing.T) {
	f := newFixture(t, 1)
	f.Comments = false
	f.converge("c1", fleetZone(1, core("xss")))
	f.open(1, "p1", fleetZone(1, core("sqli")))
	f.open(2, "")
	f.heads.failed[2] = errors.New("it has 65 MiB, which is over the limit")
	f.round()
	if len(f.forge.comments) != 0 || len(f.forge.marks) != 1 {
		t.Errorf("comments %v, marks %q", f.forge.comments, f.forge.marks)
	}
}

// No one approves of what is not shown: of a change with a value that is cut,
// of changes that are left out, of what contains a secret. The other changes of the plan are
// approved. Of what cannot be seen the comment shows the numbers.
func TestReviewOfWhatIsNotShownIsNoApproval(t *testing.T) {
	// narrow changes the expression of zone 1, and tags of zone 2.
	narrow := func(expression string) func(*fixture) {
		return func(f *fixture) {
			d := core("xss")
			d.Expression = &desired.Declared[string]{Value: expression}
			f.open(1, "p1", fleetZone(1, d), fleetZone(2, core("xss", "sqli")))
		}
	}
	const secret = "k8Jx-2vQ_pLm9ZtR4wYb7NcD1fGh"
	for name, c := range map[string]struct {
		hide     func(*fixture)
		approved int // digests
		says     string
	}{
		"no comment":        {func(f *fixture) { f.Comments = false }, 0, ""},
		"all is shown":      {narrow("false"), 3, ""},
		"a value that ends": {narrow(strings.Repeat(`http.host eq "a" or `, 74) + "and false"), 1, "One change is not shown in full. A review does not approve it."},
		"invisible text":    {narrow("tru\U000E0100e and\u00a0 \u202efalse "), 3, ""},
		"a secret": {func(f *fixture) {
			_ = edge.NewSecret(secret)
			narrow(`http.host eq "` + secret + `"`)(f)
		}, 0, "The plan contains a secret, which is not shown"},
		"too many changes": {func(f *fixture) {
			state := f.heads.commits["p1"].state
			for i := range 500 {
				state.Tokens = append(state.Tokens, desired.Token{Key: fmt.Sprint("token-", i, strings.Repeat("x", 80)), Name: "n"})
			}
			f.heads.commits["p1"] = commit{state: state}
		}, -1, "changes are not shown in full. A review does not approve them."},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 2)
			f.Tokens = token.New(token.Config{Memory: memoryOfTokens{}, Now: f.clock.Now})
			f.approvedBy("alice")
			f.converge("c1", fleetZone(1, core("xss")), fleetZone(2, core("xss")))
			f.open(1, "p1", fleetZone(1, core("xss", "sqli")), fleetZone(2, core("xss")))
			c.hide(f)
			f.round()
			f.forge.approve(1, "p1", f.clock.Now(), "alice")
			f.round()
			text := f.forge.comments[1]
			if n := len(f.records.approved); n != c.approved && (c.approved >= 0 || n == 0 || n > 450) || !strings.Contains(text, c.says) {
				t.Errorf("approved %d; the comment:\n%.3000s", n, text)
			}
			if c.says != "" && (!strings.Contains(text, "check out `p1` and run `seawall plan --dir . -o json`") || !strings.Contains(text, "seawall apply --approve DIGEST")) {
				t.Errorf("the comment does not say how to see and to approve it:\n%.3000s", text)
			}
			if c.approved == 3 && !strings.Contains(text, "`\"false\"`") && !strings.Contains(text, "`\"tru\\u{e0100}e and\\u{a0} \\u{202e}false\\u{20}\"`") {
				t.Errorf("the comment does not show what acts:\n%.3000s", text)
			}
			if c.says == "" && strings.Contains(text, "not shown in full") {
				t.Errorf("the comment:\n%.3000s", text)
			}
		})
	}
}

// However many pull requests come from forks, those of the project are reviewed.
func TestReviewsOfTheProjectComeFirst(t *testing.T) {
	f := newFixture(t, 1)
	f.converge("c1", fleetZone(1, core("xss")))
	for n := range mostReviewed + 10 {
		f.open(n+1, fmt.Sprint("p", n+1), fleetZone(1, core("sqli")))
		f.forge.pulls[n].Fork = n > 0
	}
	f.round()
	if f.forge.comments[1] == "" || f.forge.comments[mostReviewed+10] == "" || f.forge.comments[2] != "" {
		t.Errorf("%d were reviewed, and not the right ones", len(f.forge.comments))
	}
}

// explosive is a pull request that makes a review panic.
type explosive struct{ *heads }

func (e explosive) Compile(ctx context.Context, commit string) (desired.State, []desired.Problem, error) {
	if commit == "boom" {
		panic("boom")
	}
	return e.heads.Compile(ctx, commit)
}

func TestReviewSurvivesAPanic(t *testing.T) {
	f := newFixture(t, 1)
	f.Heads = explosive{f.heads}
	f.converge("c1", fleetZone(1, core("xss")))
	f.open(2, "boom", fleetZone(1, core("sqli")))
	f.open(1, "p1", fleetZone(1, core("sqli")))
	f.round()
	if f.forge.comments[1] == "" {
		t.Error("the other one was not reviewed")
	}
}

// A pull request that gives a zone another key says which zone it is and which key it had.
func TestReviewShowsRenames(t *testing.T) {
	f := newFixture(t, 2)
	f.converge("c1", fleetZone(1, core("xss")), fleetZone(2, core("xss")))
	renamed := fleetZone(1, core("xss", "sqli"))
	renamed.Key = "sandbox-test"
	onlyRenamed := fleetZone(2, core("xss"))
	onlyRenamed.Key = "other-test"
	f.open(1, "p1", renamed, onlyRenamed)
	f.round()
	text := f.forge.comments[1]
	for _, want := range []string{
		"**renamed**: `zone sandbox-test (" + renamed.Scope.String() + ") was zone-00001.example`", "**renamed**: `zone other-test (" + onlyRenamed.Scope.String() + ") was zone-00002.example`",
		"#### `prod / sandbox-test (was zone-00001.example, " + renamed.Scope.String() + ") / core`: ⚠️ **weakens**",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the comment lacks %s:\n%s", want, text)
		}
	}
}
