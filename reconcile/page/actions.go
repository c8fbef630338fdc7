package page

import (
	"context"
	"net/http"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/login"
)

// Actions are what an operator can do. Each asks for itself whether the person has a right to
// every zone that it concerns, at the moment at which it is done: zones that they may not see
// are [inspect.ErrNoZone], and what else is not done is a [RefusedError]. Each is entered into
// the history with who did it, and returns a line that says what was done.
type Actions interface {
	ReadNow(ctx context.Context, who login.Person, zones []edge.Scope) (string, error)
	Hold(ctx context.Context, who login.Person, zone edge.Scope, length time.Duration, reason string) (string, error)
	Release(ctx context.Context, who login.Person, zone edge.Scope) (string, error)
	// Approve approves the changes of a zone that wait with this digest. A digest with which
	// none waits there is refused.
	Approve(ctx context.Context, who login.Person, zone edge.Scope, digest, reason string) (string, error)
	// PlanRevert begins to plan what a revert of a commit would do, unless that goes on, and
	// waits for a while until it is known. Revert begins to do that, if it is still what digest
	// names. Reverting says how it goes on.
	PlanRevert(ctx context.Context, who login.Person, commit string) (string, error)
	Revert(ctx context.Context, who login.Person, commit, digest string) (string, error)
	Reverting() Reverting
}

// RefusedError is why an action was not done.
type RefusedError struct {
	Status       int // of HTTP
	Reason, Hint string
}

func (e *RefusedError) Error() string { return e.Reason }

// ErrMayNot is that of a person who may see a zone, and do nothing about it.
var ErrMayNot = &RefusedError{
	http.StatusForbidden, "you have no right to do this", "this needs the role operator for each zone that it concerns; a role that is limited by labels counts if the zone has them in git, and had them when it was last proved",
}

// RevertStage is how far a revert has come.
type RevertStage string

// The stages of a revert.
const (
	RevertNone     RevertStage = "none"
	RevertPlanning RevertStage = "planning" // zones are read
	RevertPlanned  RevertStage = "planned"  // a person may agree to it
	RevertWriting  RevertStage = "writing"
	RevertEnded    RevertStage = "ended"
)

// Reverting is the revert that is running, or the last one since the daemon started. There is one
// at a time.
type Reverting struct {
	Version int         `json:"version"`
	At      time.Time   `json:"at"`
	Stage   RevertStage `json:"stage"`
	Commit  string      `json:"commit,omitempty"`
	Who     string      `json:"who,omitempty"`
	Since   time.Time   `json:"since,omitzero"` // of the stage
	Doing   string      `json:"doing,omitempty"`
	Done    int         `json:"done"`
	Total   int         `json:"total"`
	Plan    *RevertPlan `json:"plan,omitempty"`   // once it is planned
	Result  string      `json:"result,omitempty"` // once it has ended; in the stage planned, why it was not done
	Failed  bool        `json:"failed"`           // it was not done, or not all of it
}

// GoesOn reports whether it is at work.
func (r Reverting) GoesOn() bool { return r.Stage == RevertPlanning || r.Stage == RevertWriting }

// RevertPlan is what a revert of a commit would do.
type RevertPlan struct {
	Commit string   `json:"commit"`
	Digest string   `json:"digest"`
	Text   string   `json:"text"` // the plan
	Zones  int      `json:"zones"`
	Stops  int      `json:"stops"` // zones that the commit has not reached, and is stopped in
	Left   []string `json:"left"`  // zones that are not put back
}
