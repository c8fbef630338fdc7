package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
)

// board is a forge in memory.
type board struct {
	pulls      []PullRequest
	comments   map[int]string
	marks      []string // "head context state"
	approvals  map[string][]string
	approvedAt map[string]time.Time
	sent       int
	down       error
	away       error // from questions about approvals alone
}

func (b *board) PullRequests(context.Context) ([]PullRequest, error) {
	return slices.Clone(b.pulls), b.down
}

func (b *board) Comment(_ context.Context, number int, marker, body string) error {
	if !strings.HasPrefix(marker, "<!--") {
		return errors.New("the marker would be seen")
	}
	if b.comments[number] != body {
		b.comments[number], b.sent = body, b.sent+1
	}
	return b.down
}

func (b *board) Mark(_ context.Context, commit string, m Mark) error {
	b.marks = append(b.marks, commit+" "+m.String())
	return b.down
}

func (b *board) Approvals(_ context.Context, number int, head string, since time.Time) (names []string, err error) {
	key := fmt.Sprint(number, " ", head)
	if !b.approvedAt[key].Before(since) {
		names = b.approvals[key]
	}
	return names, errors.Join(b.down, b.away)
}

// approve is a review of a head by some people at a time, in place of any before.
func (b *board) approve(number int, head string, at time.Time, names ...string) {
	key := fmt.Sprint(number, " ", head)
	b.approvals[key], b.approvedAt[key] = names, at
}

// heads are those of pull requests; what they say is in a repo.
type heads struct {
	*repo
	at     map[int]string
	failed map[int]error
}

func (h *heads) Fetch(_ context.Context, numbers []int) (map[int]string, map[int]error, error) {
	found := map[int]string{}
	for _, n := range numbers {
		if h.at[n] != "" {
			found[n] = h.at[n]
		}
	}
	return found, h.failed, nil
}

// words keeps approvals.
type words struct{ approved []Approval }

func (w *words) Approve(_ context.Context, a []Approval) error {
	w.approved = append(w.approved, a...)
	return nil
}
func (w *words) Spend(context.Context, []string) error             { return nil }
func (w *words) Roll(context.Context, func(Rollout) Rollout) error { return nil }

func reviewing(t *testing.T, zones int) (*world, *Reviews, *board, *heads) {
	w := newWorld(t, zones)
	b := &board{comments: map[int]string{}, approvals: map[string][]string{}, approvedAt: map[string]time.Time{}}
	h := &heads{repo: w.repo, at: map[int]string{}, failed: map[int]error{}}
	sent := int64(0)
	r := &Reviews{
		Forge: b, Heads: h, Base: w.InForce, Reader: w.record, Memory: w.memory, Now: w.clock.Now, Comments: true,
		Budget: diff.Budget{Requests: 1200, Per: 5 * time.Minute}, Concurrency: 1,
		Requests: func() int64 { sent += 3; return sent }, Log: slog.New(slog.DiscardHandler),
	}
	return w, r, b, h
}

// open opens a pull request, or pushes to it, without touching the followed branch.
func (h *heads) open(b *board, number int, commitName string, zones ...desired.Zone) {
	if !slices.ContainsFunc(b.pulls, func(p PullRequest) bool { return p.Number == number }) {
		b.pulls = append(b.pulls, PullRequest{Number: number, Author: "dev"})
	}
	h.at[number] = commitName
	h.commits[commitName] = commit{state: stateOf(commitName, zones...)}
}

func (r *Reviews) round(t *testing.T) {
	t.Helper()
	if err := r.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestReviewTellsWhatAMergeWouldDo(t *testing.T) {
	w, r, b, h := reviewing(t, 2)
	r.round(t) // nothing is in force yet: nothing is read
	w.repo.push("c1", zones(2, core("xss"))...)
	w.converge(sweep)
	h.open(b, 7, "p1", zone(1, core("xss", "sqli")), zone(2, core("xss")))
	w.record.Reset()
	r.round(t)
	w.wantCalls(w.calls(), "list", "managed core", "read 1")
	for _, want := range []string{"### Seawall plan for `p1`", "1 to change", "tag `sqli`", "To be approved: `sha256:", "3 requests used, 2 to apply: 0.2% of the budget of 1200 in 5m, without a wait", "against `c1`"} {
		if want == "tag `sqli`" {
			want = "sqli"
		}
		if !strings.Contains(b.comments[7], want) {
			t.Errorf("%q is not in\n%s", want, b.comments[7])
		}
	}
	if !slices.Equal(b.marks, []string{"p1 seawall/plan success: 1 zone: 1 to change, 1 of them weakening"}) {
		t.Errorf("marks %q", b.marks)
	}

	w.record.Reset()
	r.round(t) // nothing is new
	w.wantCalls(w.calls())
	h.open(b, 7, "p2", zone(1, core("xss")), zone(2, core("xss", "sqli")))
	r.round(t)
	if b.sent != 2 || !strings.Contains(b.comments[7], "of 2 zones") {
		t.Errorf("%d comments, the last\n%s", b.sent, b.comments[7])
	}
	if got := w.off(1); !slices.Equal(got, []string{"xss"}) {
		t.Errorf("a review wrote: %v", got)
	}
	w.clock.advance(tellAgain)
	w.record.Reset()
	r.round(t)
	if len(w.calls()) == 0 || b.sent != 2 {
		t.Errorf("an old plan was not made anew, or told again without need: %d comments", b.sent)
	}
}

// Somebody who opens a pull request learns nothing of zones that the commit in
// force does not declare.
func TestReviewReadsNoForeignZone(t *testing.T) {
	w, r, b, h := reviewing(t, 3)
	w.repo.push("c1", zone(1, core("xss")))
	w.converge(sweep)
	h.open(b, 1, "p1", zone(1, core("xss")), zone(2, core("sqli")))
	other := stateOf("p2", zone(1, core("sqli")))
	other.Accounts[0].ID = "ffffffffffffffffffffffffffffffff"
	h.open(b, 2, "p2")
	h.commits["p2"] = commit{state: other}
	w.record.Reset()
	r.round(t)
	w.wantCalls(w.calls())
	for number, want := range map[int]string{1: "zone-00002.example", 2: "zone-00001.example"} {
		if text := b.comments[number]; !strings.Contains(text, "not read") || !strings.Contains(text, want) {
			t.Errorf("comment %d:\n%s", number, text)
		}
	}
}

func TestReviewOfMistakes(t *testing.T) {
	w, r, b, h := reviewing(t, 1)
	w.repo.push("c1", zone(1, core("xss")))
	w.converge(sweep)
	h.open(b, 1, "bad")
	hostile := "`</sub><script>alert(1)</script> @everyone <!-- seawall:plan -->\n### Approved"
	var problems []desired.Problem
	for i := range 25 {
		problems = append(problems, desired.Problem{Origin: desired.Origin{File: "zones/shop.cue", Line: i + 1, Column: 2}, Path: hostile, Message: "is wrong", Hint: hostile})
	}
	h.commits["bad"] = commit{problems: problems}
	h.open(b, 2, "gone")
	h.at[2] = ""
	h.failed[2] = errors.New("it has 65 MiB, which is over the limit")
	r.round(t)
	text := b.comments[1]
	if !strings.Contains(text, "this does not compile") || !strings.Contains(text, "25 mistakes") || !strings.Contains(text, "… and 5 more") {
		t.Errorf("comment\n%s", text)
	}
	for line := range strings.Lines(text) {
		if bare := outsideCode(line); strings.ContainsAny(bare, "<@") || strings.HasPrefix(line, "### Approved") {
			t.Errorf("a stranger's text is markup: %q", line)
		}
	}
	if !slices.Contains(b.marks, "bad seawall/plan failure: 25 mistakes in the desired state") || !strings.Contains(b.comments[2], "over the limit") {
		t.Errorf("marks %q, comment %q", b.marks, b.comments[2])
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
	w, r, b, h := reviewing(t, 1)
	said := &words{}
	r.Control, r.Approvers = said, []string{"Alice"}
	w.repo.push("c1", zone(1, core("xss")))
	w.converge(sweep)
	h.open(b, 1, "p1", zone(1, core("xss", "sqli")))
	b.approve(1, "p1", w.clock.Now(), "mallory", "alice") // before the plan was told
	w.clock.advance(time.Second)
	b.approve(1, "p2", w.clock.Now(), "mallory")
	r.round(t)
	r.round(t)
	if len(said.approved) != 0 {
		t.Errorf("approved unseen: %+v", said.approved)
	}
	b.approve(1, "p1", w.clock.Now(), "mallory", "alice")
	r.round(t)
	if len(said.approved) != 2 || said.approved[0].Who != "alice" || said.approved[0].Kind != Approved || !strings.Contains(b.comments[1], said.approved[0].Digest) {
		t.Errorf("approved %+v", said.approved)
	}
	r.round(t)
	if len(said.approved) != 2 {
		t.Errorf("approved again")
	}
	w.clock.advance(tellAgain)
	r.round(t)
	r.round(t)
	if len(said.approved) != 2 {
		t.Errorf("the review of the plan of an hour ago is one of the plan that was made since: %+v", said.approved[2:])
	}
	h.open(b, 1, "p2", zone(1, core("sqli")))
	r.round(t)
	r.round(t)
	if len(said.approved) != 2 {
		t.Errorf("the push after the approval is approved: %+v", said.approved)
	}
}

func TestReviewsForgetClosedOnes(t *testing.T) {
	w, r, b, h := reviewing(t, 1)
	w.repo.push("c1", zone(1, core("xss")))
	w.converge(sweep)
	for n := range 60 {
		h.open(b, n+1, fmt.Sprint("p", n+1), zone(1, core("sqli")))
	}
	r.round(t)
	if len(r.told) != mostReviewed || b.comments[60] == "" || b.comments[1] != "" {
		t.Errorf("%d told", len(r.told))
	}
	b.pulls = b.pulls[:1]
	r.round(t)
	if len(r.told) != 1 {
		t.Errorf("%d told", len(r.told))
	}
	b.down = errors.New("503")
	if err := r.Round(t.Context()); err == nil || !strings.Contains(err.Error(), "listing pull requests: 503") {
		t.Errorf("error %v", err)
	}
}

func TestMergesSettleOnce(t *testing.T) {
	sent := make(chan string, 10)
	fail := true
	m := NewMerges(func(_ context.Context, commit string, mark Mark) error {
		if fail {
			fail = false
			return errors.New("503")
		}
		sent <- commit + " " + mark.String()
		return nil
	}, slog.New(slog.DiscardHandler))
	m.Begin("c1")
	m.Begin("c1")
	unfinished := Report{Commit: "c1", Unfinished: 3}
	m.Report(t.Context(), unfinished)
	m.Report(t.Context(), Report{Commit: "c1", Results: []Result{{Outcome: Converged}}})
	m.Report(t.Context(), Report{Commit: "c1"})
	m.Report(t.Context(), Report{Commit: "c1", Held: &Held{Commit: "c2", Reason: "2 mistakes\nin it"}})
	m.Report(t.Context(), Report{Commit: "c1", Held: &Held{Commit: "c2", Reason: "2 mistakes\nin it", Again: true}})
	m.Begin("c1")
	want := []string{"c1 seawall/apply pending: being applied", "c1 seawall/apply success: converged: 1 applied and proved", "c2 seawall/apply failure: held: 2 mistakes in it"}
	if len(m.queue) != len(want) {
		t.Fatalf("queued %+v", m.queue)
	}
	for i, q := range m.queue {
		if got := q.commit + " " + q.mark.String(); got != want[i] {
			t.Errorf("queued %q, want %q", got, want[i])
		}
	}
	for range 200 {
		m.push("c", Mark{})
	}
	if len(m.queue) != mostMarks {
		t.Errorf("%d wait for a forge that is down", len(m.queue))
	}
}

// A head that cannot be read is told where comments are wanted, and there alone;
// a head that was told before, and comes back, is told anew.
func TestReviewOfAnUnreadableHead(t *testing.T) {
	w, r, b, h := reviewing(t, 1)
	w.repo.push("c1", zone(1, core("xss")))
	w.converge(sweep)
	h.open(b, 1, "p1", zone(1, core("sqli")))
	r.round(t)
	h.at[1], h.failed[1] = "", errors.New("over the bound")
	r.round(t)
	if !strings.Contains(b.comments[1], "over the bound") {
		t.Errorf("comment\n%s", b.comments[1])
	}
	h.at[1], h.failed = "p1", nil
	r.round(t)
	if !strings.Contains(b.comments[1], "Seawall plan") {
		t.Errorf("the head is back, and the comment is\n%s", b.comments[1])
	}
	r.Comments, b.comments = false, map[int]string{}
	h.at[1], h.failed = "", map[int]error{1: errors.New("over the bound")}
	r.round(t)
	if len(b.comments) > 0 {
		t.Errorf("a comment that nobody wants: %v", b.comments)
	}
}

// memoryOfTokens has none.
type memoryOfTokens struct{ TokenMemory }

func (memoryOfTokens) Tokens(context.Context) (diff.TokensLive, error) { return diff.TokensLive{}, nil }

// A review judges a token as the daemon will: with the name that it would have, and
// with the groups that are said to create tokens.
func TestReviewJudgesTokensAlike(t *testing.T) {
	w, r, b, h := reviewing(t, 1)
	w.repo.push("c1", zone(1, core("xss")))
	w.converge(sweep)
	r.Tokens, r.NameSuffix = memoryOfTokens{}, diff.NameSuffix(" {intent}"+strings.Repeat("x", 200))
	asked := false
	r.CreatesTokens = func(desired.PermissionGroup) bool { asked = true; return false }

	h.open(b, 1, "p1", zone(1, core("xss")))
	state := h.commits["p1"].state
	state.Tokens = []desired.Token{{
		Key: "ci", Name: "ci", Sink: &desired.Sink{Name: "s", Key: "k"},
		Policies: []desired.Policy{{
			Effect: "allow", Resources: []desired.Resource{{Key: "com.vendor.api.account.zone.*"}},
			PermissionGroups: []desired.PermissionGroup{{ID: "4755a26eedb94da69e1066d98aa820be"}},
		}},
	}}
	h.commits["p1"] = commit{state: state}
	r.round(t)
	if !strings.Contains(b.comments[1], "with tokens.name_suffix the name would have") || !asked {
		t.Errorf("asked about groups: %v; comment\n%s", asked, b.comments[1])
	}
}

// Who reviews and merges at once has approved.
func TestReviewJustBeforeTheMergeIsApproval(t *testing.T) {
	w, r, b, h := reviewing(t, 1)
	said := &words{}
	r.Control, r.Approvers = said, []string{"alice"}
	w.repo.push("c1", zone(1, core("xss")))
	w.converge(sweep)
	h.open(b, 1, "p1", zone(1, core("xss", "sqli")))
	r.round(t)
	b.approve(1, "p1", w.clock.Now(), "alice")
	b.pulls = nil
	r.round(t)
	if len(said.approved) != 2 || len(r.told) != 0 {
		t.Errorf("approved %+v, told %v", said.approved, r.told)
	}
}

// Without comments nothing is said in one, a refusal neither.
func TestReviewsWithoutComments(t *testing.T) {
	w, r, b, h := reviewing(t, 1)
	r.Comments = false
	w.repo.push("c1", zone(1, core("xss")))
	w.converge(sweep)
	h.open(b, 1, "p1", zone(1, core("sqli")))
	h.open(b, 2, "")
	h.failed[2] = errors.New("it has 65 MiB, which is over the limit")
	r.round(t)
	if len(b.comments) != 0 || len(b.marks) != 1 {
		t.Errorf("comments %v, marks %q", b.comments, b.marks)
	}
}

// Nobody approves of what was not shown.
func TestReviewOfWhatIsNotShownIsNoApproval(t *testing.T) {
	for name, hide := range map[string]func(*Reviews, *heads){
		"no comment": func(r *Reviews, _ *heads) { r.Comments = false },
		"too long": func(_ *Reviews, h *heads) {
			state := h.commits["p1"].state
			for i := range 500 {
				state.Tokens = append(state.Tokens, desired.Token{Key: fmt.Sprint("token-", i, strings.Repeat("x", 80)), Name: "n"})
			}
			h.commits["p1"] = commit{state: state}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, r, b, h := reviewing(t, 1)
			said := &words{}
			r.Control, r.Approvers, r.Tokens = said, []string{"alice"}, memoryOfTokens{}
			w.repo.push("c1", zone(1, core("xss")))
			w.converge(sweep)
			h.open(b, 1, "p1", zone(1, core("xss", "sqli")))
			hide(r, h)
			r.round(t)
			b.approve(1, "p1", w.clock.Now(), "alice")
			r.round(t)
			if len(said.approved) > 0 || strings.Contains(b.comments[1], "Not all of it is shown") != (name == "too long") {
				t.Errorf("approved %d; the comment ends\n%s", len(said.approved), b.comments[1][max(0, len(b.comments[1])-500):])
			}
		})
	}
}

// A commit that another one replaces on its way is not pending for ever.
func TestMergesSettleWhatIsReplaced(t *testing.T) {
	m := NewMerges(nil, slog.New(slog.DiscardHandler))
	m.Begin("c1")
	m.Report(t.Context(), Report{Commit: "c1"})
	m.Begin("c2")
	m.Report(t.Context(), Report{Commit: "c2", Unfinished: 1})
	m.Begin("c3")
	m.Begin("c1") // somebody moved the branch back
	m.Report(t.Context(), Report{Commit: "c1"})
	var got []string
	for _, q := range m.queue {
		got = append(got, q.commit+" "+string(q.mark.State))
	}
	want := []string{"c1 pending", "c1 success", "c2 pending", "c2 failure", "c3 pending", "c3 failure"}
	if !slices.Equal(got, want) {
		t.Errorf("queued %v", got)
	}
}

// A mark that the forge will never take keeps no other one back.
func TestMergesAreNotHeldUpByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []string
		m := NewMerges(func(_ context.Context, commit string, mark Mark) error {
			if commit == "gone" {
				return errors.New("422: no commit found")
			}
			sent = append(sent, commit+" "+string(mark.State))
			return nil
		}, slog.New(slog.DiscardHandler))
		m.Begin("gone")
		m.Report(t.Context(), Report{Commit: "gone"})
		m.Begin("c2")
		m.Report(t.Context(), Report{Commit: "c2"})
		ctx, cancel := context.WithCancel(t.Context())
		go m.Run(ctx)
		time.Sleep(5 * retryMarks)
		synctest.Wait()
		cancel()
		if !slices.Equal(sent, []string{"c2 pending", "c2 success"}) || len(m.queue) != 2 {
			t.Errorf("sent %v, %d wait", sent, len(m.queue))
		}
	})
}

// A commit that takes several runs is settled by all of them, and what waits for
// somebody's word does not wait for ever.
func TestMergesOfSeveralRuns(t *testing.T) {
	change := func(n int, refused bool) diff.Change {
		c := diff.Change{Kind: diff.KindDeployment, Zone: fmt.Sprint("zone-", n), Request: &diff.Request{}}
		if refused {
			c.Refused = &diff.Refusal{Guard: "approval"}
		}
		return c
	}
	run := func(unfinished int, results []Result, changes ...diff.Change) Report {
		return Report{Commit: "c1", Unfinished: unfinished, Results: results, Plan: diff.Plan{Changes: changes}}
	}
	m := NewMerges(nil, slog.New(slog.DiscardHandler))
	last := func() string { return m.queue[len(m.queue)-1].mark.String() }
	m.Begin("c1")
	m.Report(t.Context(), run(1, []Result{{Change: change(2, false), Outcome: Failed}}, change(1, true), change(2, false)))
	if len(m.queue) != 1 {
		t.Errorf("settled too early: %s", last())
	}
	m.Report(t.Context(), run(0, []Result{{Change: change(2, false), Outcome: Converged}}, change(2, false)))
	if got := last(); got != "seawall/apply failure: not converged: 1 change was not made" {
		t.Errorf("marked %q", got)
	}
	m.Report(t.Context(), run(0, nil))
	m.Report(t.Context(), run(0, nil, change(1, true)))
	if len(m.queue) != 2 {
		t.Errorf("marked again: %s", last())
	}
	m.Report(t.Context(), run(0, []Result{{Change: change(1, false), Outcome: Converged}}, change(1, false)))
	m.Report(t.Context(), run(0, nil))
	if got := last(); len(m.queue) != 3 || got != "seawall/apply success: converged: 1 applied and proved" {
		t.Errorf("%d marks, the last %q", len(m.queue), got)
	}
}

// However many pull requests come from forks, those of the project are reviewed.
func TestReviewsOfTheProjectComeFirst(t *testing.T) {
	w, r, b, h := reviewing(t, 1)
	w.repo.push("c1", zone(1, core("xss")))
	w.converge(sweep)
	for n := range mostReviewed + 10 {
		h.open(b, n+1, fmt.Sprint("p", n+1), zone(1, core("sqli")))
		b.pulls[n].Fork = n > 0
	}
	r.round(t)
	if b.comments[1] == "" || b.comments[mostReviewed+10] == "" || b.comments[2] != "" {
		t.Errorf("%d were reviewed, and not the right ones", len(b.comments))
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
	w, r, b, h := reviewing(t, 1)
	r.Heads = explosive{h}
	w.repo.push("c1", zone(1, core("xss")))
	w.converge(sweep)
	h.open(b, 2, "boom", zone(1, core("sqli")))
	h.open(b, 1, "p1", zone(1, core("sqli")))
	r.round(t)
	if b.comments[1] == "" {
		t.Error("the other one was not reviewed")
	}
}
