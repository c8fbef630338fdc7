package diff

import "time"

// Guard names what held a change back.
type Guard string

// The guards of a plan; see diff/guard.
const (
	GuardUnknown       Guard = "unknown"
	GuardShrink        Guard = "shrink"
	GuardName          Guard = "name"
	GuardExpired       Guard = "expired"
	GuardSink          Guard = "sink"
	GuardNonConvergent Guard = "non_convergent"
	GuardObserve       Guard = "observe"
	GuardAccount       Guard = "account"
	GuardHold          Guard = "hold"
	GuardReverted      Guard = "reverted" // a hold that a revert has set
	GuardLimit         Guard = "limit"
	GuardApproval      Guard = "approval"
	GuardFreeze        Guard = "freeze"
	GuardWave          Guard = "wave"

	// GuardDryRun is no guard of diff/guard: the platform has said of a plan's change that
	// it would not accept it.
	GuardDryRun Guard = "dry_run"

	// GuardOvertaken says that another commit than the one that a plan is of is in force, or may have
	// been: immediately before a write reconcile/control found that another process has accepted one, or
	// the records were put back to an earlier time.
	GuardOvertaken Guard = "overtaken"
)

// Refusal says which guard held a change back, why, and what would release it.
type Refusal struct {
	Guard   Guard  `json:"guard"`
	Reason  string `json:"reason"`
	Release string `json:"release"`
	// Until is when it ends by itself; zero where it does not, or that is not known.
	Until time.Time `json:"until,omitzero"`
	// Digest is what a person approves to release this change and all others that
	// are held back with it; empty where an approval releases nothing.
	Digest string `json:"approve,omitempty"`
}

// ReasonPutBack is why nothing is written while the records are of an earlier time, and ReleasePutBack
// what ends that.
const (
	ReasonPutBack  = "the ledger was put back to an earlier time, so a newer commit may have been in force"
	ReleasePutBack = "git is fetched, and its newest commit is accepted"
)

// ReleaseHalted is what lets a halted rollout go on.
const ReleaseHalted = "seawall waves resume"

// WaitsForTime reports whether it ends without a person: a hold and a freeze end,
// and the waves before a wave are applied, unless they are halted.
func (r *Refusal) WaitsForTime() bool {
	return r != nil && (!r.Until.IsZero() || r.Guard == GuardWave && r.Release != ReleaseHalted)
}

// Observed reports whether a refusal only says that nothing may be written there: no
// person is needed for it.
func (r *Refusal) Observed() bool { return r != nil && r.Guard == GuardObserve }

// PutBack reports whether a revert has put the zone back: it stays so until git changes it.
func (r *Refusal) PutBack() bool { return r != nil && r.Guard == GuardReverted }

// Word is what a change that is refused is called: one that waits for time alone is waiting.
func (r *Refusal) Word() string {
	if r.WaitsForTime() {
		return "waiting"
	}
	return "refused"
}

// Quiet reports whether a refusal is as it should be, so that nothing is wrong with the zone:
// it is only observed, or put back.
func (r *Refusal) Quiet() bool { return r.Observed() || r.PutBack() }
