package ledger

import "github.com/seawall-dev/seawall/reconcile/ledger/internal/store"

// Error is a failure told for a person. It answers [errors.Is] for its Kind and for what
// caused it.
type Error = store.Error

// Kind is what is wrong with a ledger, as far as a program acts on it. A Kind is an error
// itself: errors.Is(err, ledger.ErrNewer).
type Kind = store.Kind

// The kinds of [Error].
const (
	ErrDamaged  = store.ErrDamaged
	ErrForeign  = store.ErrForeign
	ErrNewer    = store.ErrNewer
	ErrOlder    = store.ErrOlder
	ErrBusy     = store.ErrBusy
	ErrReadOnly = store.ErrReadOnly
	ErrDenied   = store.ErrDenied
	ErrExposed  = store.ErrExposed
	ErrRunning  = store.ErrRunning
	ErrFailed   = store.ErrFailed
	ErrFull     = store.ErrFull
	ErrFiles    = store.ErrFiles
	ErrGone     = store.ErrGone
	ErrMoved    = store.ErrMoved

	ErrUnreachable = store.ErrUnreachable
	ErrRefused     = store.ErrRefused
	ErrEncryption  = store.ErrEncryption
	ErrOldServer   = store.ErrOldServer
	ErrOccupied    = store.ErrOccupied
	ErrCrowded     = store.ErrCrowded
	ErrReplica     = store.ErrReplica
	ErrUnsure      = store.ErrUnsure

	ErrUnknown  = store.ErrUnknown
	ErrState    = store.ErrState
	ErrSeal     = store.ErrSeal
	ErrHeld     = store.ErrHeld
	ErrUnlocked = store.ErrUnlocked
)

// Away reports whether something has failed because the database that several processes share is away
// for a time: see [store.Away].
func Away(err error) bool { return store.Away(err) }

// Explain says what was being done with which database, whose path begins with postgres://, and sorts
// what it has said into kinds.
func Explain(doing, path string, err error) error { return store.Explain(doing, path, err) }
