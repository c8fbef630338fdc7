package inspect

import (
	"fmt"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// OnRecord says that what is told is no daemon's answer, but what the ledger has of all of them: a
// replica knows more of its own zones, such as what differs live.
type OnRecord struct {
	Database string `json:"database"` // where the ledger is
	Cause    string `json:"cause"`    // why no daemon has answered
	// Left is the socket that a daemon of this machine has left, which one that ends in good order removes;
	// empty: there is none.
	Left string `json:"socket_left,omitempty"`
	// Newest is when something was put into the history last; zero: nothing was.
	Newest time.Time `json:"newest,omitzero"`
	// Approvals is how many count, and are not used.
	Approvals int `json:"approvals"`
	// Unfinished are the writes without a result: each is under way, or was when its process died.
	Unfinished []Unfinished `json:"unfinished"`
}

// Unfinished is a write without a result.
type Unfinished struct {
	What  string    `json:"what"`
	Since time.Time `json:"since"`
}

// Proved is a proof on record: what a commit declares was live in a zone.
type Proved struct {
	Commit string    `json:"commit"`
	At     time.Time `json:"at,omitzero"` // first; zero: not known
	// Now says that it is what the commit in force declares.
	Now bool `json:"now"`
}

// Past is an entry of the history of a zone.
type Past struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// PastOf is an entry on a line.
func PastOf(e reconcile.Entry) Past {
	return Past{e.At, EntryWhat(e) + behind(": ", EntryResult(e))}
}

// unanswered says what no replica does, where none answers.
func (s Status) unanswered() (reasons []reason) {
	if s.Records == nil {
		return nil
	}
	if left := s.Records.Left; left != "" {
		reasons = append(reasons, reason{text: "the daemon of this machine was killed or has failed: it left its socket", fix: "start seawall run or, if none is to run here, delete " + left})
	}
	if s.Replicas == nil || len(s.Replicas.Replicas) == 0 {
		reasons = append(reasons, reason{text: "no replica runs: nothing is read or written", fix: "start seawall run"})
	}
	for _, u := range s.Records.Unfinished {
		if s.At.Sub(u.Since) >= lasting {
			reasons = append(reasons, reason{text: fmt.Sprintf("a write of %s has no result: %s", instant(u.Since), u.What), fix: "nothing, while a replica works on it: it reads the zone first"})
		}
	}
	return reasons
}

// records writes what kind of answer it is.
func (t *textWriter) records(s Status) {
	r := s.Records
	if r == nil {
		return
	}
	t.line("records", "%s", r.text(s.At))
	t.line("", "%s", r.Cause)
	if s.Replicas != nil && len(s.Replicas.Replicas) > 0 {
		t.line("", "a replica knows more of its zones, such as what differs live: ask on its machine, or with --address")
	}
}

// text says which records they are, and how old.
func (r *OnRecord) text(now time.Time) string {
	if r.Newest.IsZero() {
		return fmt.Sprintf("of %s; there is no entry in the history", r.Database)
	}
	return fmt.Sprintf("of %s; the newest entry of the history is %s old", r.Database, Span(Age(r.Newest, now)))
}

// unfinished writes which writes have no result, and how many approvals wait for theirs.
func (t *textWriter) unfinished(s Status) {
	r := s.Records
	if r == nil {
		return
	}
	if r.Approvals > 0 {
		t.line("approvals", "%s, and not used yet", Count(r.Approvals, "counts", "count"))
	}
	entries := []entry{}
	for _, u := range r.Unfinished {
		entries = append(entries, entry{text: fmt.Sprintf("%s, since %s", u.What, instant(u.Since))})
	}
	t.list("no result", entries)
}

// onRecord says what is on record of a zone, where its state now is not known here.
func (z Zone) onRecord(now time.Time) (lines []string) {
	switch p := z.Proved; {
	case p == nil && z.OnRecord:
		lines = append(lines, "No proof of the zone is on record.")
	case p == nil:
	case p.Now:
		lines = append(lines, fmt.Sprintf("On record: it was as declared when that was proved %s, with commit %s.", p.when(now), Short(p.Commit)))
	default:
		lines = append(lines, fmt.Sprintf("On record: it was proved %s, to be as commit %s declares, which is not what is declared now.", p.when(now), Short(p.Commit)))
	}
	for _, past := range z.Past {
		lines = append(lines, fmt.Sprintf("History: %s, at %s: %s.", Ago(past.At, now), instant(past.At), strings.TrimSuffix(past.Text, ".")))
	}
	return lines
}

// when says when it was proved first.
func (p Proved) when(now time.Time) string {
	if p.At.IsZero() {
		return "at a time that is not known"
	}
	return Ago(p.At, now) + ", at " + instant(p.At)
}

// recorded says how it is, as far as that is on record; nothing where the last proof says it.
func (z Zone) recorded() string {
	if z.Outcome == NotRead {
		return ""
	}
	return " On record it " + map[Outcome]string{
		PutBack:       "is not as declared, because of a revert; it stays so until git changes it.",
		Pending:       "is not as declared yet.",
		Waiting:       "is not as declared yet, and waits.",
		Observed:      "is not as declared; the configuration allows no write there.",
		Refused:       "is not as declared; a guard holds the change back until you act.",
		NonConvergent: "is not as declared; the platform did not keep the last write.",
	}[z.Outcome]
}
