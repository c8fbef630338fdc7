package review

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Credentials say whose zones this process works on, of several processes that apply a commit.
type Credentials struct {
	All   []reconcile.LeaseName    // one for each credential
	Held  func() []reconcile.Lease // those of this process, whose zones it has taken over
	Of    func(account string) reconcile.LeaseName
	Leads func() bool // it tells the forge what became of commits
}

// wordApplied is about what became of the newest commit in the zones under a lease: "applied/LEASE".
const wordApplied = "applied"

// applied is that, as it is on record.
type applied struct {
	Commit      string                `json:"commit"`
	State       reconcile.CommitState `json:"state"`
	Description string                `json:"description"`
}

// parts are what became of a commit with each credential: whoever works with it says so, and the one
// that leads tells the forge of all. A commit is a success once all of them are, and a failure while one
// is. The lock of [Merges] guards what is in it; nil is that of the only process.
type parts struct {
	Credentials
	tell   func(ctx context.Context, subject, text string) error
	onFile func(ctx context.Context, subject string) (text string, err error)

	known map[reconcile.LeaseName]applied // as it is on record
	own   map[reconcile.Lease]string      // the commit of which this process has said it
	sent  merged                          // what the forge was told last of all parts
}

func (p *parts) leads() bool { return p == nil || p.Leads() }

// untold reports whether this process is still to say what became of a commit in some of its zones.
func (p *parts) untold(commit string) bool {
	if p == nil {
		return false
	}
	for _, lease := range p.Held() {
		if p.own[lease] != commit {
			return true
		}
	}
	return false
}

// agreed is the commit that all parts are of, as it is on record; empty while they are of several. A
// process that leads from its start knows no other.
func (p *parts) agreed() (commit string) {
	for i, lease := range p.All {
		if a := p.known[lease]; i == 0 {
			commit = a.Commit
		} else if a.Commit != commit {
			return ""
		}
	}
	return commit
}

// note puts on record what became of a part. What another process has said of it counts, unless it was
// no success and is one by now: what goes wrong later is not the verdict about the commit.
func (p *parts) note(ctx context.Context, m merged) error {
	subject := wordApplied + "/" + string(m.part.Name)
	if m.first && m.status.State != reconcile.StatusSuccess {
		said, err := p.onFile(ctx, subject)
		if err != nil {
			return err
		}
		var a applied
		if json.Unmarshal([]byte(said), &a) == nil && a.Commit == m.commit {
			return nil
		}
	}
	text, err := json.Marshal(applied{m.commit, m.status.State, m.status.Description})
	if err != nil {
		return err
	}
	return p.tell(ctx, subject, string(text))
}

// note has it put on record what became of a part, unless that is another process's by now, which may
// have said what is newer. Where it comes back to this one, that is still to be said.
func (m *Merges) note(ctx context.Context, next merged) error {
	if slices.Contains(m.parts.Held(), next.part) {
		return m.parts.note(ctx, next)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.parts.own, next.part)
	return nil
}

// of is whose part a change is of; empty where it is of none, and in the only process.
func (p *parts) of(c diff.Change) reconcile.LeaseName {
	if p == nil || c.Level() == edge.LevelCredential {
		return ""
	}
	return p.Of(c.Account)
}

// forget forgets the trouble of parts that are another process's by now.
func (p *parts) forget(trouble map[string]reconcile.LeaseName) {
	if p == nil {
		return
	}
	held := p.Held()
	maps.DeleteFunc(trouble, func(_ string, of reconcile.LeaseName) bool {
		return of != "" && !slices.ContainsFunc(held, func(l reconcile.Lease) bool { return l.Name == of })
	})
}

// divide has the status of a commit told by one process for all.
func (m *Merges) divide(of Credentials, o others) {
	m.parts = &parts{Credentials: of, tell: o.Note, onFile: o.Noted, known: map[reconcile.LeaseName]applied{}, own: map[reconcile.Lease]string{}}
	o.Poked(wordApplied, m.hear)
}

// hear takes in what became of a commit with a credential.
func (m *Merges) hear(lease, text string) {
	var a applied
	if json.Unmarshal([]byte(text), &a) != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.parts.known[reconcile.LeaseName(lease)] = a
	m.sum()
}

// lead tells what is known of all parts: another process has led until now, or this one has not told
// all that it had to.
func (m *Merges) lead() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.parts.sent = merged{}
	m.sum()
}

// conclude says what became of a commit in the zones of this process: in those that it got since it
// said so, where that is all that is new: the trouble of the others may be over by now, too. The caller
// holds the lock.
func (m *Merges) conclude(r reconcile.Report) {
	mended := m.mendable && len(m.trouble) == 0
	commit, joined := r.Commit, r.Commit == m.settled && m.parts.untold(r.Commit) && !mended
	m.settled, m.mendable = commit, len(m.trouble) > 0 && len(r.Plan.Problems) == 0
	if m.parts == nil {
		m.push(commit, m.verdictOf(r, ""))
		return
	}
	before := m.parts.own
	m.parts.own = map[reconcile.Lease]string{}
	for _, lease := range m.parts.Held() {
		m.parts.own[lease] = commit
		said := before[lease] == commit
		if joined && said {
			continue
		}
		status := m.verdictOf(r, lease.Name)
		status.Description = oneLineOf(status.Description)
		m.notes.add(merged{commit, status, lease, !said})
	}
}

// told reports whether the forge knows how a commit has ended; the caller holds the lock.
func (m *Merges) told(commit string) bool {
	if m.parts == nil {
		return commit == m.settled
	}
	return commit == m.parts.sent.commit
}

// sum tells the forge of a commit once that is known of all parts, or a part has failed; the caller
// holds the lock.
func (m *Merges) sum() {
	if m.parts == nil || !m.parts.leads() {
		return
	}
	commit := cmp.Or(m.pending, m.settled, m.parts.agreed())
	if commit == "" {
		return
	}
	all, missing := merged{commit: commit}, false
	for _, lease := range m.parts.All {
		a := m.parts.known[lease]
		if a.Commit != commit {
			missing = true
			continue
		}
		if all.status.State != reconcile.StatusFailure {
			all.status = applyStatus(a.State, a.Description)
		}
	}
	if missing && all.status.State != reconcile.StatusFailure || all == m.parts.sent {
		return
	}
	m.parts.sent = all
	m.push(commit, all.status)
}
