package notify

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// answers is a sender that gives an answer.
type answers struct{ err error }

func (a answers) Send(context.Context, Message) error { return a.err }

// repeats is a sender that is told again what is open.
type repeats struct {
	answers
	fails error
	got   []Message
}

func (r *repeats) Refresh(_ context.Context, open []Message) error {
	r.got = open
	return r.fails
}

// routeTo is a route at work that sends to a sender and keeps what it knows on a disk; said is
// what was said of it, "failed" or "worked".
func routeTo(t *testing.T, d reconcile.Outbox, to Sender) (route *delivery, said *[]string) {
	t.Helper()
	said = new([]string)
	s := New(Config{
		Outbox: d, Log: slog.New(slog.DiscardHandler), Count: func(string) {}, Routes: []Route{{Name: "ops", Least: Info, Sender: to}},
		Failed: func(string, error) { *said = append(*said, "failed") }, Worked: func(string) { *said = append(*said, "worked") },
	})
	if err := s.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s.routes[0], said
}

// TestKeptOnceTheDiskWorks: what a route knows is kept once that works again, also where the
// messages that say so were sent meanwhile: a restart would begin the same cause once more.
func TestKeptOnceTheDiskWorks(t *testing.T) {
	d := &disk{routes: map[string]reconcile.Kept{}}
	route, _ := routeTo(t, d, answers{})
	d.fails = true
	causes := []Cause{{Key: "outage/git/", About: AboutOutage, Severity: Critical, Since: at.Add(-patience)}}
	route.learn(t.Context(), whole(at), causes)
	m, ok := route.first()
	if !ok || !route.try(t.Context(), m) {
		t.Fatal("it is not sent while the disk is full")
	}
	d.fails = false
	route.learn(t.Context(), whole(at.Add(every)), causes)
	if again, _ := routeTo(t, d, answers{}); len(again.opened) != 1 {
		t.Errorf("after a restart the route knows of %d causes, want 1", len(again.opened))
	}
}

// TestARefusalIsNoSuccess: a route whose messages are refused, for example as its key is wrong,
// is one that does not work: the other routes report it.
func TestARefusalIsNoSuccess(t *testing.T) {
	route, said := routeTo(t, Forgetful{}, answers{ErrRefused})
	route.waiting = []Message{begin}
	if !route.try(t.Context(), begin) {
		t.Error("a message that is refused holds up those behind it")
	}
	if len(*said) != 1 || (*said)[0] != "failed" {
		t.Errorf("of the route is said %v, want failed", *said)
	}
}

// TestAnOtherTimeHasAnotherID: a cause that begins again is another one on the other side, also
// where what it is about keeps its time.
func TestAnOtherTimeHasAnotherID(t *testing.T) {
	j := newJudge("ops", Info, nil)
	blocked := inspect.Group{Outcome: inspect.Blocked, By: "plan", Count: 1, Since: at}
	var got []Message
	for i, present := range []bool{true, true, false, false, true, true, false, false} {
		s := whole(at.Add(time.Duration(i) * 2 * steady))
		var groups []inspect.Group
		if present {
			groups = append(groups, blocked)
		}
		got = append(got, j.next(s, Causes(s, groups))...)
	}
	const cause = "zones/blocked/plan"
	if want := cause + " begins, " + cause + " ends, " + cause + " begins, " + cause + " ends"; says(got) != want {
		t.Fatalf("got %s, want %s", says(got), want)
	}
	if got[0].ID == got[2].ID || got[1].ID == got[3].ID || got[0].Incident() == got[2].Incident() || got[2].Incident() != got[3].Incident() {
		t.Errorf("ids %s, %s, %s, %s", got[0].ID, got[1].ID, got[2].ID, got[3].ID)
	}
}

// TestACommitIsHeldUnderItsName: while a newer commit was fetched and nothing is decided of it,
// it is not the one that is held; and the one that an earlier process has reported is not over.
func TestACommitIsHeldUnderItsName(t *testing.T) {
	s := whole(at)
	s.Commit = inspect.Commit{Wanted: "bbbb", Held: &inspect.Held{Commit: "aaaa", Reason: "a mistake", Since: at}}
	if all := Causes(s, nil); len(all) != 1 || all[0].Key != "commit/aaaa" {
		t.Errorf("causes %+v", all)
	}
	j := newJudge("ops", Info, []Open{{Cause: "commit/aaaa", About: AboutCommit, Since: at}})
	s.Commit.Held, s.Source.Looking = nil, at
	if got := j.next(s, Causes(s, nil)); len(got) > 0 {
		t.Errorf("%s before it was decided", says(got))
	}
	s.Source.Looking = time.Time{}
	if got := j.next(s, Causes(s, nil)); says(got) != "commit/aaaa ends" {
		t.Errorf("got %q, want the end", says(got))
	}
}

// TestRepeatedAsSent: what is repeated to Alertmanager is what was sent: with its text, by the
// template of the route and without secrets.
func TestRepeatedAsSent(t *testing.T) {
	again := &repeats{}
	route, said := routeTo(t, &disk{routes: map[string]reconcile.Kept{}}, again)
	route.Template = must(ParseTemplate("{{.State}}: {{.Title}} ({{.Zones}})", ""))
	const token = "tests-alone-0123456789abcdef-4567"
	edge.NewSecret(token)
	route.learn(t.Context(), whole(at), []Cause{{Key: "outage/git/", About: AboutOutage, Severity: Critical, Since: at.Add(-patience), Title: "git: " + token, Text: "what to do", Zones: 3}})
	sent, _ := route.first()
	route.refresh(t.Context())
	if len(again.got) != 1 || again.got[0].Title != sent.Title || again.got[0].Text != sent.Text || sent.Title == "" {
		t.Errorf("repeated %+v, sent %+v", again.got, sent)
	}
	if strings.Contains(sent.Title, token) {
		t.Errorf("a secret was sent: %s", sent.Title)
	}
	again.fails = errDisk
	route.refresh(t.Context())
	again.fails = nil
	route.refresh(t.Context())
	if strings.Join(*said, " ") != "worked failed worked" {
		t.Errorf("of the route is said %v", *said)
	}
}

// TestNoRouteIsLeft: a daemon from which the last route was taken forgets what was kept for it,
// as it does of one among several: it is not sent when the route comes back.
func TestNoRouteIsLeft(t *testing.T) {
	d := &disk{routes: map[string]reconcile.Kept{"ops": {}}}
	New(Config{Outbox: d, Log: slog.New(slog.DiscardHandler)}).Run(t.Context()) // returns: there is nothing to do
	if len(d.routes) > 0 {
		t.Errorf("kept %v", d.routes)
	}
}

// TestADigestAfterTheClockWasAhead: a clock that was years ahead for a moment costs one digest,
// and not those of years.
func TestADigestAfterTheClockWasAhead(t *testing.T) {
	route, _ := routeTo(t, Forgetful{}, answers{})
	route.Digest = must(reconcile.ParseSchedule("0 8 * * *", time.UTC))
	route.config.Summary = func(context.Context, time.Time, time.Time) (Summary, error) { return Summary{}, nil }
	digests := 0
	for _, now := range []time.Time{at.AddDate(5, 0, 0), at, at.AddDate(0, 0, 1), at.AddDate(0, 0, 2)} {
		if _, due := route.digest(t.Context(), now); due {
			digests++
		}
	}
	if digests != 2 {
		t.Errorf("%d digests in two days, want 2", digests)
	}
}
