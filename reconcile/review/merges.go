package review

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge/retry"
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
	poked   reconcile.Pokes // there is a status to send
	parts   *parts          // of several processes, each of which applies some of a commit; nil: this is the only one

	mu      sync.Mutex
	queue   []merged
	pending string // the commit whose status is pending
	settled string // the commit whose status is final

	// trouble are the changes of the commit that the latest word about is a refusal,
	// or that the platform did not keep, each with whose part it is of: a commit may take several runs.
	trouble  map[string]reconcile.LeaseName
	mendable bool // the status is a failure because of trouble alone
}

type merged struct {
	commit string
	status reconcile.CommitStatus
	part   reconcile.LeaseName // whose part it is, for the one that tells of all; empty: it is for the forge
	first  bool                // this process has not said it of the part yet: another may have
}

// mostStatuses bounds how many statuses wait for a forge that is down; the oldest go.
const mostStatuses = 100

// NewMerges returns a reporter that sends statuses; see [Merges.Run].
func NewMerges(send func(ctx context.Context, commit string, m reconcile.CommitStatus) error, log *slog.Logger, outages *outage.Tracker) *Merges {
	return &Merges{send: send, log: log, outages: outages, poked: reconcile.NewPokes()}
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
	m.enqueue(merged{commit: commit, status: status})
}

func (m *Merges) enqueue(next merged) {
	m.queue = append(m.queue, next)
	m.queue = m.queue[max(0, len(m.queue)-mostStatuses):]
	m.poked.Poke()
}

// Run sends statuses until ctx ends, those of one commit in order. One that the forge
// does not take is tried again after those of other commits, and is reported once.
func (m *Merges) Run(ctx context.Context) {
	for {
		next, ok := m.next()
		if !ok {
			select {
			case <-ctx.Done():
				return
			case <-m.poked:
			}
			continue
		}
		send := m.sendStatus
		if next.part != "" {
			send = m.parts.note
		}
		if err := send(ctx, next); err != nil {
			if ctx.Err() != nil {
				return
			}
			m.log.DebugContext(ctx, "a commit status could not be set; Seawall tries again", "commit", next.commit, "state", string(next.status.State), "error", err.Error())
			m.postpone(next.commit)
			select {
			case <-ctx.Done():
				return
			case <-time.After(retry.Status.First):
			}
			continue
		}
		m.done(next)
	}
}

// sendStatus tells the forge. What waited while this process led is dropped once it does not: another one
// has told what is newer.
func (m *Merges) sendStatus(ctx context.Context, next merged) error {
	if !m.parts.leads() {
		return nil
	}
	err := m.send(ctx, next.commit, next.status)
	switch {
	case err == nil:
		m.outages.Worked(reconcile.OutageForge, "", "statuses")
	case ctx.Err() == nil:
		m.outages.Failed(reconcile.OutageForge, "", "statuses", err)
	}
	return err
}

func (m *Merges) next() (merged, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) == 0 {
		return merged{}, false
	}
	return m.queue[0], true
}

// postpone moves what waits for one commit behind all others: a forge that will
// never take it (it may not know the commit) must not keep those from being told.
func (m *Merges) postpone(commit string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.SortStableFunc(m.queue, func(a, b merged) int {
		switch {
		case a.commit != commit && b.commit == commit:
			return -1
		case a.commit == commit && b.commit != commit:
			return 1
		}
		return 0
	})
}

func (m *Merges) done(sent merged) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) > 0 && m.queue[0] == sent {
		m.queue = m.queue[1:]
	}
}

var _ reconcile.Reporter = (*Merges)(nil)

// applyStatus is the status of an apply.
func applyStatus(state reconcile.CommitState, description string) reconcile.CommitStatus {
	return reconcile.CommitStatus{Context: "seawall/apply", State: state, Description: description}
}
