package review

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/outage"
)

// Merges sets the status of commits of the followed branch: pending while one is applied,
// then success or failure, once, when all its zones are done. A failure because
// no one had approved becomes a success when someone has. It is a [reconcile.Reporter]; a
// forge that is down holds nothing up. Make it with [NewMerges].
type Merges struct {
	send    func(ctx context.Context, commit string, m reconcile.CommitStatus) error
	log     *slog.Logger
	outages *outage.Tracker
	parts   *parts // of several processes, each of which applies some of a commit; nil: this is the only one

	mu       sync.Mutex
	statuses line   // for the forge
	notes    line   // for the process that tells of all parts: no forge holds them up
	pending  string // the commit whose status is pending
	settled  string // the commit whose status is final

	// trouble are the changes of the commit that the latest word about is a refusal,
	// or that the platform did not keep, each with whose part it is of: a commit may take several runs.
	trouble  map[string]reconcile.LeaseName
	mendable bool // the status is a failure because of trouble alone
}

type merged struct {
	commit string
	status reconcile.CommitStatus
	part   reconcile.Lease // whose part it is, for the one that tells of all; the zero value: it is for the forge
	first  bool            // this process has not said it of the part yet: another may have
}

// NewMerges returns a reporter that sends statuses; see [Merges.Run].
func NewMerges(send func(ctx context.Context, commit string, m reconcile.CommitStatus) error, log *slog.Logger, outages *outage.Tracker) *Merges {
	return &Merges{send: send, log: log, outages: outages, statuses: newLine(), notes: newLine()}
}

// Begin says that a commit is about to be applied.
func (m *Merges) Begin(commit string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if commit == "" || commit == m.pending {
		return
	}
	if m.pending != "" && !m.told(m.pending) && m.parts.leads() { // no one will finish it
		m.push(m.pending, applyStatus(reconcile.StatusFailure, "superseded by "+short(commit)+" before all zones were done"))
	}
	if m.pending = commit; commit == m.settled {
		return
	}
	m.trouble, m.mendable = nil, false
	if m.parts.leads() {
		m.push(commit, applyStatus(reconcile.StatusPending, "applying"))
		m.sum()
	}
}

// Report implements [reconcile.Reporter].
func (m *Merges) Report(_ context.Context, r reconcile.Report) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Held != nil && !r.Held.Again && r.Held.Commit != "" {
		m.push(r.Held.Commit, applyStatus(reconcile.StatusFailure, "held: "+r.Held.Reason))
	}
	if !m.concerns(r) {
		return
	}
	m.remember(r)
	if m.concludes(r) {
		m.conclude(r)
	}
}

// concerns reports whether a report is about the commit that is being applied, or about
// the one whose status is final; the caller holds the lock.
func (m *Merges) concerns(r reconcile.Report) bool {
	switch {
	case r.Commit == "":
		return false
	case m.pending == "" && m.settled == "": // of an earlier process
		// It may have settled long ago; what goes wrong today is not its verdict, unless nothing is on record of it.
		return r.Full && r.Converged() || r.Sum && m.parts != nil
	}
	return r.Commit == m.pending || r.Commit == m.settled
}

// concludes reports whether a report ends what is said of its commit: all of it is done,
// or the trouble is over because of which its status is a failure. The caller holds the lock.
func (m *Merges) concludes(r reconcile.Report) bool {
	if r.Unfinished > 0 || r.Err != nil {
		return false
	}
	return r.Commit != m.settled || m.parts.untold(r.Commit) || m.mendable && len(m.trouble) == 0 && r.Converged()
}

// remember keeps what was reported last of each change; the caller holds the lock.
func (m *Merges) remember(r reconcile.Report) {
	if m.trouble == nil || r.Full {
		m.trouble = map[string]reconcile.LeaseName{}
	}
	m.parts.forget(m.trouble)
	for _, c := range r.Plan.Changes {
		if delete(m.trouble, c.Name()); c.Refused != nil {
			m.trouble[c.Name()] = m.parts.of(c)
		}
	}
	for _, result := range r.Results {
		if result.Outcome == reconcile.NonConvergent {
			m.trouble[result.Change.Name()] = m.parts.of(result.Change)
		}
	}
}

// verdictOf is what became of a part of a commit; of all of it where there is no lease.
func (m *Merges) verdictOf(r reconcile.Report, part reconcile.LeaseName) reconcile.CommitStatus {
	status := applyStatus(reconcile.StatusSuccess, r.Verdict())
	if !r.Converged() {
		status.State = reconcile.StatusFailure
	} else if n := m.troubleIn(part); n > 0 {
		status.State, status.Description = reconcile.StatusFailure, fmt.Sprintf("not converged: %s not made", plural(n, "change was", "changes were"))
	}
	return status
}

// troubleIn counts the trouble of a part, with what is of none.
func (m *Merges) troubleIn(part reconcile.LeaseName) (n int) {
	for _, of := range m.trouble {
		if of == "" || of == part {
			n++
		}
	}
	return n
}

// push adds to the queue; the caller holds the lock.
func (m *Merges) push(commit string, status reconcile.CommitStatus) {
	status.Description = oneLineOf(status.Description)
	m.statuses.add(merged{commit: commit, status: status})
}

var _ reconcile.Reporter = (*Merges)(nil)

// applyStatus is the status of an apply.
func applyStatus(state reconcile.CommitState, description string) reconcile.CommitStatus {
	return reconcile.CommitStatus{Context: "seawall/apply", State: state, Description: description}
}
