package reconcile

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
)

// Records is what must survive a restart of the daemon, beside tokens; reconcile/ledger
// keeps it. Every method that writes is atomic, and durable when it returns: a process
// that ends at any moment leaves the state before the call or after it. Any number of
// goroutines may call at once; calls that write at the same time share the wait for the
// disk. A write whose context ends before it has begun is not made; one that has begun is
// finished.
type Records interface {
	Counts
	// Restore returns everything on record as of one moment, for a process that begins.
	// What cannot be read fails the whole: it is never empty.
	Restore(ctx context.Context) (Record, error)
	// RestoreSince is Restore for a process that has taken in what was on record at a mark: of what there is
	// for each zone it may return that of the zones in [Record.Only] alone, and of the state those parts
	// that are not at hand. It returns everything where it cannot tell what has changed since.
	RestoreSince(ctx context.Context, known Known) (Record, error)
	// Newer is about how many changes there were of zones since a mark; 0 where that cannot be told. It costs
	// the same however many there are.
	Newer(ctx context.Context, mark Mark) (changes int64, err error)
	// Standing returns what other processes and people may have said since, as of one
	// moment. It costs next to nothing while no one has written, and never reads what
	// there is one of for each zone.
	Standing(ctx context.Context) (Standing, error)
	// LookedAt ends what [Standing.PutBack] says, where that is still this number and this commit is the
	// accepted one: it is the tip of the followed branch, at which it was looked after the number was known.
	LookedAt(ctx context.Context, putBack int64, commit string) error
	// StillSaid reports whether Standing would return what it has returned with this number,
	// in [Standing.Said], but for approvals that Spend has ended since, and for the newest entry.
	// It costs the same however much there is. False says nothing, and so does 0.
	StillSaid(ctx context.Context, said int64) (bool, error)
	// AcceptCommit records an accepted commit with all that goes with it. Nothing is recorded with
	// [ErrSuperseded], where the waves on record were halted since its rollout was made.
	AcceptCommit(ctx context.Context, a Acceptance) error
	// SaveState puts what the accepted commit declares on record beside it, in parts: their data
	// one after the other. What is on record already is not written again. It does nothing where
	// another commit was accepted since.
	SaveState(ctx context.Context, commit string, state []StatePart) error
	// Prove records that zones are as declared: their proofs, what their deployments own
	// in the place of what was stored, whether they may be removed once nothing declares
	// them, and that these deployments converged. Those that were removed are forgotten.
	// What is equal is not written. It touches no other deployment of these zones: see
	// Forget.
	//
	// commit is the generation that the caller acted on. Where it is not the accepted one
	// the record is late: it changes what is on record and adds nothing, so that it cannot
	// bring back what a newer commit has dropped, and leaves what may be removed as it is. results are entries of the history, about
	// the writes that are proved with it.
	Prove(ctx context.Context, commit string, proofs []Proof, settled []diff.Settled, results ...Entry) error
	// Widen makes what deployments own the union of what is stored and this, before a
	// write is sent; Prove narrows it. It says nothing of convergence.
	Widen(ctx context.Context, owned []diff.Settled) error
	// RecordWrite records a change that is about to be sent: its entry in the history and,
	// as by Widen, what its deployment is about to own, in one step. It returns the number
	// of the entry; 0 where no history is kept. A drift that it heals is recorded in the same
	// step, as by Drifted.
	//
	// In the same step it asks whether the write is still permitted, and claims the zone for
	// this process until its result is recorded, by Prove or Record, or Unclaim is called.
	// Nothing is recorded with [ErrSuperseded], where another commit is accepted than the
	// write was asked for by; with [ErrPutBack], where git was not looked at since the records were
	// put back; with a [HeldError], also where a revert has taken
	// the declaration of the zone out of force; and with an [ElsewhereError], where another
	// process writes to the zone or has done so since it was read. The claim of a process
	// that has ended keeps no one away.
	RecordWrite(ctx context.Context, write Entry, owned []diff.Settled) (number int64, err error)
	// Unclaim gives the claim on a zone back where no result is recorded. version is that of
	// the entry point as it was read under the claim; empty where it was not.
	Unclaim(ctx context.Context, zone edge.Scope, version string) error
	// Unfinished returns the writes to zones in the history that have no result, for a
	// process that begins: of each deployment the last write alone, and none that a revert
	// made. It does not look further back than a bound, and returns none where no history
	// is kept.
	Unfinished(ctx context.Context) ([]Entry, error)
	// SkipRules returns the newest entry of each skip rule that came to any zone without Seawall, or
	// changed there, and is not gone since; none where no history is kept. Entries that cannot be read are
	// left out: then it returns the others, a list that is not nil, with an error that names those.
	SkipRules(ctx context.Context) ([]Entry, error)
	// WrittenByCommands returns the zones that commands beside a daemon have written, apply
	// and revert, as the results in the history after this entry say.
	WrittenByCommands(ctx context.Context, after int64) ([]edge.Scope, error)
	// Record adds entries to the history.
	Record(ctx context.Context, entries ...Entry) error
	// NonConvergent records the fingerprint of a change the platform did not keep, in the
	// place of any other of this deployment.
	NonConvergent(ctx context.Context, id diff.ID, fingerprint string) error
	// Tried records when the change that NonConvergent has recorded was sent last, and when
	// it is sent again.
	Tried(ctx context.Context, id diff.ID, try diff.Try) error
	// Forget drops everything about deployments that left a zone which stays. An id that
	// is not on record is no error.
	Forget(ctx context.Context, ids []diff.ID) error
	// Drifted records drifts, before they are healed, and drops those from before a time.
	// The same zone at the same time is one drift, so that a call may be repeated.
	Drifted(ctx context.Context, drifts []Drift, before time.Time) error
	// Swept records that each zone whose turn came before a time was read: of those that are
	// under the lease of the context; of all, where it has none.
	Swept(ctx context.Context, until time.Time) error
}

// Proof says which declaration of a zone was last proved to be live.
type Proof struct {
	Scope       edge.Scope
	Fingerprint string       // of the declaration
	Labels      guard.Labels // of the zone; none and empty are the same
	Commit      string       // the one under which this declaration, with these labels, was first proved
	// Earlier are declarations that were proved in the zone before this one. The store keeps
	// them by itself: it is no matter in what is to be recorded.
	Earlier Earlier
}

// Proved is when a declaration of a zone was first proved to be live, after another one; the zero
// value is never.
type Proved struct {
	Fingerprint, Commit string    // as in [Proof]
	At                  time.Time // zero: not known
}

// Acceptance is an accepted commit.
type Acceptance struct {
	Commit string
	Author string // of the commit, as it says itself; empty where that is not known
	// Message is the first line of the commit's, for the history.
	Message string
	Size    guard.Size
	// State is what the commit declares, in the caller's encoding. Nil keeps what is there
	// if the commit is the same, and is none if it is another.
	State []byte
	// Earlier says what zones were before this commit, where they were otherwise. It takes
	// the place of what is there.
	Earlier guard.Earlier
	// Rollout takes the place of the one on record; nil keeps that.
	Rollout *Rollout
	// Approvals are recorded as by [Control.Approve].
	Approvals []Approval
	// Gone are zones that are no longer declared. What was applied, proved and not kept
	// there is forgotten. Their drifts still count: they were written.
	Gone []edge.Scope
	// Keep are deployments that are declared, and not to be removed once nothing declares
	// them, even if the declaration is never proved.
	Keep []diff.ID
	// Given are zones that it declares otherwise than the commit before. It counts as the
	// one that gave them their declaration, unless they had that already.
	Given []edge.Scope
	// Renamed are zones that have another id than before, by the earlier one: a hold of a
	// revert goes with them.
	Renamed map[edge.Scope]edge.Scope
	// Declared returns the fingerprint of a zone's declaration, empty for none. Holds that
	// last until a zone is declared otherwise end with it. Nil ends none.
	Declared func(edge.Scope) string
	// Memory takes the place of what is on record of zones, and is added to what is on record
	// of accounts; nil keeps both.
	Memory *Memory
	// User is who runs the command that accepts it; empty for a daemon.
	User string
}

// StatePart is a part of what a commit declares, in the caller's encoding.
type StatePart struct {
	Sum  [sha256.Size]byte // of the data
	Data []byte
}

// PartOf is a part with these data.
func PartOf(data []byte) StatePart { return StatePart{sha256.Sum256(data), data} }

// Joined are the data of parts, one after the other; never nil.
func Joined(parts []StatePart) []byte {
	size := 0
	for _, p := range parts {
		size += len(p.Data)
	}
	data := make([]byte, 0, size)
	for _, p := range parts {
		data = append(data, p.Data...)
	}
	return data
}

// StateParts are the parts of what the accepted commit declares, to be read one by one.
type StateParts struct {
	Commit string
	Count  int // 0: they are not on record
	// Read reads the data of one of them, from 0. They are what the name of the part says.
	Read func(n int) ([]byte, error)
}

// Drift is a change that was made without a new commit. It counts for limits for a while.
type Drift struct {
	Scope   edge.Scope
	At      time.Time
	Weakens bool // that which was healed; two at the same time in one zone weaken if one does
}

// Healing is the drift that a write corrects. With it the drifts from before a time are dropped.
type Healing struct {
	Drift
	Before time.Time
}

// Standing is what people and other processes may have said since; see [Records].
type Standing struct {
	Commit        string      // the accepted one
	Holds         []diff.Hold // those that are over too
	Approvals     []Approval  // those that are not spent
	RolloutCommit string
	RolloutHalted string
	RolloutWave   int
	Departures    int64 // how often [Control.Depart] was called
	Newest        int64 // the number of the newest entry of the history; 0 for none
	Said          int64 // for [Records.StillSaid]; 0 for not known
	// PutBack is another number each time that the records were found to be those of an earlier time, until
	// git was looked at after that: the accepted commit may be an older one than was in force. 0: it is not.
	PutBack int64
}

// Record is everything on record but tokens. The zero value is that of a beginning.
type Record struct {
	Accepted      Accepted
	Applied       diff.Applied
	Prunable      diff.Pruning
	NonConvergent map[diff.ID]string
	Tries         map[diff.ID]diff.Try // of NonConvergent, where they are known
	Proofs        map[edge.Scope]Proof
	Holds         []diff.Hold // those that are over too
	Approvals     []Approval  // those that are not spent
	Rollout       Rollout
	Drifts        []Drift   // in the order of time
	Swept         time.Time // see [Records]; zero for not known
	// SweptUnder is the same of the zones under each lease.
	SweptUnder map[LeaseName]time.Time
	// Written are the zones that were written because of the accepted commit without an
	// approval, and whether that weakened.
	Written map[edge.Scope]bool
	Memory  Memory
	// Departures and PutBack are as in [Standing].
	Departures, PutBack int64
	// Mark is the moment of it; the zero one where that cannot be told.
	Mark Mark
	// Only are zones, in no order: Applied, Prunable, NonConvergent, Tries and Proofs have what is on record of
	// these, and of no others, which are as they were. Nil: they have all.
	Only []edge.Scope
}

// Proved returns the labels with which a zone was proved last; false where it was not.
func (r Record) Proved(id edge.Scope) (guard.Labels, bool) {
	proof, ok := r.Proofs[id]
	return proof.Labels, ok
}

// Memory is which settings of the configuration zones and accounts are under: a commit does
// not end that.
type Memory struct {
	// Kept are the selections of zones, sorted, also of such that are not declared. A zone
	// that is not in it is under what selects it with the labels of its proof.
	Kept map[edge.Scope][]guard.Selection
	// Bound are the keys under which accounts have their settings.
	Bound map[edge.AccountID]guard.Binding
}

// Accepted is the commit that was accepted last; the zero value is none.
type Accepted struct {
	Commit string
	Author string // as in [Acceptance]
	Size   guard.Size
	State  []byte // nil: none on record, or Parts have it
	// Parts are the state, by [Records.RestoreSince] alone: without the data of those that are at hand.
	Parts []StatePart
	// Earlier is as in [Acceptance].
	Earlier guard.Earlier
}
