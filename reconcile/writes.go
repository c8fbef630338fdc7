package reconcile

import (
	"sync"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Writes are the writes that were recorded in the history and whose result was not: of this
// process, and those that an earlier one has left. The zero value has none. It is safe for concurrent use, and holds at most one
// for each deployment.
type Writes struct {
	mu   sync.Mutex
	open map[diff.DeploymentID]Entry
}

// Sent notes a write with the number that the history gave it. One before it, of the same
// deployment, stays without a result.
func (w *Writes) Sent(number int64, e Entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[diff.DeploymentID]Entry{}
	}
	e.Number = number
	w.open[e.Subject.ID()] = e
}

// Resume notes writes of earlier processes, as [Records.Unfinished] returns them. Call it
// before the first write of this process, and before the zones are read that may prove them.
func (w *Writes) Resume(unfinished []Entry) {
	for _, e := range unfinished {
		w.Sent(e.Number, e)
	}
}

// Proved returns the results of writes that were made for a declaration, given by its
// fingerprint, of deployments that were now read and agree with it.
func (w *Writes) Proved(declaration string, settled []diff.Settled) (results []Entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range settled {
		e, open := w.open[s.ID]
		if !open {
			continue
		}
		delete(w.open, s.ID)
		if e.Declaration == declaration {
			results = append(results, e.concluded(WriteResult{Outcome: Converged, Version: s.Version}))
		}
	}
	return results
}

// Ended returns the result of the open write of a deployment, false where there is none.
func (w *Writes) Ended(id diff.DeploymentID, outcome Outcome, reason string) (Entry, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e, open := w.open[id]
	delete(w.open, id)
	return e.concluded(WriteResult{Outcome: outcome, Reason: reason}), open
}

// Failed returns the results of the open writes that results show to have changed nothing.
// One whose outcome is unknown stays open: the next look at its zone may prove it.
func (w *Writes) Failed(results []Result) (failed []Entry) {
	for _, r := range results {
		if r.Outcome != Failed || !r.NoEffect || r.Change.Level() == edge.LevelCredential {
			continue
		}
		reason := ""
		if r.Err != nil {
			reason = r.Err.Error()
		}
		if e, open := w.Ended(r.Change.ID(), Failed, reason); open {
			failed = append(failed, e)
		}
	}
	return failed
}

// concluded is the entry that says what became of a write.
func (e Entry) concluded(r WriteResult) Entry {
	r.Write = e.Number
	return Entry{Kind: EntryResult, Action: ActionConclude, Trigger: e.Trigger, Asked: Asked{Commit: e.Asked.Commit}, Subject: e.Subject, Result: &r}
}
