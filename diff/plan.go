package diff

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

// PlanVersion is the version of the JSON form of a plan.
const PlanVersion = 1

// Plan is what a run would do and what stands in its way. Its JSON form is a
// promise to other people's scripts; see the published schema.
type Plan struct {
	Version     int       `json:"version"`
	Commit      string    `json:"commit"`
	GeneratedAt time.Time `json:"generated_at"`
	Digest      string    `json:"digest"` // empty where [Input.Undigested] says so
	Summary     Summary   `json:"summary"`
	Changes     []Change  `json:"changes"`
	Problems    []Problem `json:"problems"`
	Requests    Requests  `json:"requests"`
	// Deprecations are what the integrations that the repository declares, and
	// Seawall itself, lean on and what goes away. They are not in the digest.
	Deprecations []deprecation.Notice `json:"deprecations"`
	// Findings are what is unwise about the declared tokens, Expiries the ends of
	// those on record. Neither stops a change, and expiries are not in the digest.
	Findings []Finding `json:"findings,omitempty"`
	Expiries []Expiry  `json:"expiries,omitempty"`
	// Holds are those on zones that this plan looked at; they are not in the digest.
	Holds []Hold `json:"holds,omitempty"`

	// Granted are the approvals that a guard found to be of this plan, or of part of
	// it, in order; see [Facts.Approved].
	Granted []string `json:"-"`

	// Settled are the deployments that agree with what is desired.
	Settled []Settled `json:"-"`
	// SettledTokens are the tokens that do.
	SettledTokens []SettledToken `json:"-"`
}

// Change is one write the plan would make: all of what is to change in one
// deployment, or one call about a token. Refused changes stay in the plan.
type Change struct {
	Kind       Kind           `json:"kind"`
	Account    string         `json:"account"`
	Zone       string         `json:"zone"`
	ZoneID     edge.ZoneID    `json:"zone_id"`
	Deployment string         `json:"deployment"`
	Token      string         `json:"token,omitempty"`
	Action     Action         `json:"action"`
	Direction  Direction      `json:"direction"`
	Origin     desired.Origin `json:"origin"`
	Fields     []Field        `json:"fields"`
	// Unmanaged are live members that no declaration owns and on which nobody
	// has decided.
	Unmanaged []Leftover `json:"unmanaged,omitempty"`
	// Rights are what a token may do more or less once the change is made.
	Rights []Right `json:"rights,omitempty"`
	// Request is what would be sent; nil where nothing but a decision is missing.
	Request *Request `json:"request"`
	Refused *Refusal `json:"refused"`

	// Approved says that a person has agreed to it; see [Facts.Approved].
	Approved bool `json:"-"`

	// Target is what the request was made from; see reconcile.
	Target Target `json:"-"`
	// Of a token one of these is set, with what the call needs beside the request;
	// none for an orphan, which nothing is sent for.
	Creation  *Creation  `json:"-"`
	Amendment *Amendment `json:"-"`
	Deletion  *Deletion  `json:"-"`
}

// Right is one difference in the effective rights of a token.
type Right struct {
	Text      string    `json:"text"`
	Direction Direction `json:"direction"`
}

// Kind is what a change is about.
type Kind string

// The kinds of changes.
const (
	KindDeployment Kind = "deployment"
	KindToken      Kind = "token"
)

// Action is what a change does.
type Action string

// The actions. The reference shows no call that changes or deletes a token: there
// one whose declaration changed is replaced by a new one, and an orphan is only
// named, for a person to revoke. Where a platform has these calls a token is
// updated in place, and deleted where its declaration allowed that.
const (
	ActionUpdate  Action = "update"
	ActionCreate  Action = "create"
	ActionReplace Action = "replace"
	ActionRotate  Action = "rotate"
	ActionDelete  Action = "delete"
	ActionOrphan  Action = "orphan"
)

// Target addresses the execute rule of a deployment, as observed.
type Target struct {
	Ruleset    edge.RulesetID // the managed ruleset
	EntryPoint edge.RulesetID
	Version    string // of the entry point when it was read
	Rule       edge.RuleID
	Owned      []Member // what the declaration owns, to remember once applied
}

// Request is one call: "Update a zone ruleset rule" or "Create token" of the
// reference, or a call on a token that is known beyond it. Its body is the one
// of Token and Whole that is set, else Body; a deletion has none.
type Request struct {
	Method string
	Path   string
	Body   edge.Rule
	Token  *edge.TokenSpec // to be created
	Whole  *edge.Token     // to be replaced
}

// MarshalJSON writes method, path and body.
func (r Request) MarshalJSON() ([]byte, error) {
	var body any = r.Body
	switch {
	case r.Token != nil:
		body = r.Token
	case r.Whole != nil:
		body = r.Whole
	case r.Method == "DELETE":
		body = nil
	}
	return json.Marshal(struct {
		Method string `json:"method"`
		Path   string `json:"path"`
		Body   any    `json:"body"`
	}{r.Method, r.Path, body})
}

// Refusal says which guard held a change back, why, and what would release it.
type Refusal struct {
	Guard   string `json:"guard"`
	Reason  string `json:"reason"`
	Release string `json:"release"`
	// Until is when it ends by itself; zero where it does not, or nobody knows.
	Until time.Time `json:"until,omitzero"`
	// Digest is what a person approves to release this change and all others that
	// are held back with it; empty where an approval releases nothing.
	Digest string `json:"approve,omitempty"`
}

// WaitsForTime reports whether it ends without a person: a hold and a freeze end,
// and the waves before a wave come to be done, unless they are halted.
func (r Refusal) WaitsForTime() bool {
	return !r.Until.IsZero() || r.Guard == "wave" && r.Release != releaseHalted
}

// Problem is a zone, deployment or token about which no change can be planned.
type Problem struct {
	Account    string         `json:"account,omitempty"`
	Zone       string         `json:"zone,omitempty"`
	ZoneID     edge.ZoneID    `json:"zone_id,omitempty"`
	Deployment string         `json:"deployment,omitempty"`
	Token      string         `json:"token,omitempty"`
	State      ProblemState   `json:"state"`
	Reason     string         `json:"reason"`
	Hint       string         `json:"hint,omitempty"`
	Origin     desired.Origin `json:"origin"`

	// Err is why something is unknown or forbidden, nil otherwise.
	Err error `json:"-"`
}

// ProblemState is the reason class of a [Problem].
type ProblemState string

// The states of a problem.
const (
	Unknown     ProblemState = "unknown"      // could not be read
	Forbidden   ProblemState = "forbidden"    // the credential may not read it: this zone, or its account
	NotDeployed ProblemState = "not_deployed" // the zone does not run the managed ruleset
	Blocked     ProblemState = "blocked"      // the declaration cannot be honoured by what is live
	Refused     ProblemState = "refused"      // a guard holds the whole plan back
	Quarantined ProblemState = "quarantined"  // a token may exist whose secret nobody has
	NotRead     ProblemState = "not_read"     // a pull request names a zone that may not be read for it
	Undelivered ProblemState = "undelivered"  // a token exists and its secret waits for its sink
	// ChangedSince: what a revert would put back is not what was written any more.
	ChangedSince ProblemState = "changed_since"
)

// Unread reports whether what is live could not be read. Nothing may be concluded
// then, and another try may help: a permission is given without a word to us.
func (s ProblemState) Unread() bool { return s == Unknown || s == Forbidden }

// Requests counts HTTP requests: those used so far, and those applying would need.
type Requests struct {
	Used    int64 `json:"used"`
	ToApply int64 `json:"to_apply"`
	// Cost is what ToApply takes of the budget; nil where that is nothing or not
	// known.
	Cost *Cost `json:"cost,omitempty"`
	// Overload is set where the sweep schedule asks for more than the budget has.
	Overload *Overload `json:"overload,omitempty"`
}

// Settled is a deployment that agrees with its declaration.
type Settled struct {
	ID    DeploymentID
	Owned []Member
	// Version is that of the entry point that was read to prove it; empty: not known.
	Version string
}

// Name says what a change is about: account, zone and deployment, or a token.
func (c Change) Name() string {
	if c.Kind == KindToken {
		return "token " + c.Token
	}
	return name(c.Account, c.Zone, c.Deployment)
}

// Field returns the field of a path, nil where the change has none.
func (c Change) Field(path Member) *Field {
	if i := slices.IndexFunc(c.Fields, func(f Field) bool { return f.Path == path }); i >= 0 {
		return &c.Fields[i]
	}
	return nil
}

// ID names the deployment a change is about.
func (c Change) ID() DeploymentID { return DeploymentID{c.ZoneID, c.Target.Ruleset} }

// Applies reports whether the change would be sent.
func (c Change) Applies() bool { return c.Refused == nil && c.Request != nil }

// Fingerprint tells whether two changes would do the same to the same live
// state, whichever commit asks for it.
func (c Change) Fingerprint() string {
	fields := slices.Clone(c.Fields)
	for i := range fields {
		fields[i].Origin = nil
	}
	return fingerprint(struct {
		Request *Request
		Fields  []Field
	}{c.Request, fields})
}

// IsEmpty reports whether the plan neither changes nor lacks anything.
func (p Plan) IsEmpty() bool { return len(p.Changes) == 0 && len(p.Problems) == 0 }

// Attention reports whether something is unknown, forbidden, blocked, refused or
// not deployed: whether a person is needed.
func (p Plan) Attention() bool {
	if len(p.Problems) > 0 {
		return true
	}
	for _, c := range p.Changes {
		if !c.Applies() && c.Action != ActionOrphan && !c.Refused.Observed() {
			return true
		}
	}
	return false
}

// Unread reports whether it says that something could not be read.
func (p Problem) Unread() bool { return p.State.Unread() }
