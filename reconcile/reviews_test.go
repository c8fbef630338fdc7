package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
)

// board is a forge in memory.
type board struct {
	pulls     []PullRequest
	comments  map[int]string
	marks     []string // "head context state"
	approvals map[string][]string
	sent      int
	down      error
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

func (b *board) Approvals(_ context.Context, number int, head string) ([]string, error) {
	return b.approvals[fmt.Sprint(number, " ", head)], b.down
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
	b := &board{comments: map[int]string{}, approvals: map[string][]string{}}
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
	w.wantCalls(w.calls(), "list", "managed core", "read 1", "read 2")
	for _, want := range []string{"### Seawall plan for `p1`", "1 to change", "tag `sqli`", "To be approved: `sha256:", "3 requests used, 2 to apply: 0.2% of the budget of 1200 in 5m, without a wait", "against `c1`"} {
		if want == "tag `sqli`" {
			want = "sqli"
		}
		if !strings.Contains(b.comments[7], want) {
			t.Errorf("%q is not in\n%s", want, b.comments[7])
		}
	}
	if !slices.Equal(b.marks, []string{"p1 seawall/plan success: 2 zones: 1 in sync, 1 to change, 1 of them weakening"}) {
		t.Errorf("marks %q", b.marks)
	}

	w.record.Reset()
	r.round(t) // nothing is new
	w.wantCalls(w.calls())
	h.open(b, 7, "p2", zone(1, core("xss")), zone(2, core("xss")))
	r.round(t)
	if b.sent != 2 || !strings.Contains(b.comments[7], "2 in sync") {
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
	w.wantCalls(w.calls(), "list", "managed core", "read 1")
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
	b.approvals["1 p1"] = []string{"mallory", "alice"} // before the plan was told
	b.approvals["1 p2"] = []string{"mallory"}
	r.round(t)
	if len(said.approved) != 0 {
		t.Errorf("approved unseen: %+v", said.approved)
	}
	r.round(t)
	if len(said.approved) != 2 || said.approved[0].Who != "alice" || said.approved[0].Kind != Approved || !strings.Contains(b.comments[1], said.approved[0].Digest) {
		t.Errorf("approved %+v", said.approved)
	}
	r.round(t)
	if len(said.approved) != 2 {
		t.Errorf("approved again")
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
