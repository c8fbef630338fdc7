package diff

import (
	"cmp"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

// PlanVersion is the version of the JSON form of a plan.
const PlanVersion = 1

// Plan is what a run would do and what stands in its way. Its JSON form is a
// promise to other people's scripts; see the published schema in diff/render.
type Plan struct {
	Version     int       `json:"version"`
	Commit      string    `json:"commit"`
	GeneratedAt time.Time `json:"generated_at"`
	Digest      string    `json:"digest"` // empty where the plan is only counted; see [Plan.Counted]
	Summary     Summary   `json:"summary"`
	Changes     []Change  `json:"changes"`
	Problems    []Problem `json:"problems"`
	Requests    Requests  `json:"requests"`
	// Deprecations are the deprecated API features that the integrations of the
	// repository, and Seawall itself, still use. They are not in the digest.
	Deprecations []deprecation.Notice `json:"deprecations"`
	// Findings are recommendations about the declared tokens, Expiries the ends of
	// those on record. Neither stops a change, and expiries are not in the digest.
	Findings []Finding `json:"findings,omitempty"`
	Expiries []Expiry  `json:"expiries,omitempty"`
	// Kept are what deployments keep of what is live and not declared, in the order of
	// the changes. They are not in the digest.
	Kept []Kept `json:"kept,omitempty"`
	// Bypasses are the skip rules that act on declared deployments, in the order of the
	// changes. They are not in the digest.
	Bypasses []Bypass `json:"bypasses,omitempty"`
	// NotLookedAt are the places in which a skip rule could turn a declared deployment off,
	// and which were not looked at. They are not in the digest.
	NotLookedAt []NotLookedAt `json:"not_looked_at,omitempty"`
	// Remarks are about what is declared in zones and stops nothing, such as what ends soon.
	// They are not in the digest.
	Remarks []Remark `json:"remarks,omitempty"`
	// Renames are the keys that the commit changes, and Names those that zones with changes
	// have on the platform, where they are known. Neither is in the digest.
	Renames []Rename              `json:"renames,omitempty"`
	Names   map[edge.Scope]string `json:"names,omitempty"`
	// Holds are those on zones that this plan covers; they are not in the digest.
	Holds []Hold `json:"holds,omitempty"`
	// Leaving are the zones and accounts that would leave settings of the configuration.
	Leaving []Leaving `json:"leaving,omitempty"`
	// DryRun says what the platform was asked about; nil: nothing. It is not in the digest.
	DryRun *DryRun `json:"dry_run,omitempty"`

	// Meanwhile are rotations that a plan has ready for the case that what is declared of
	// their tokens instead is held back; see diff/guard.
	Meanwhile []Change `json:"-"`

	// Granted are the approvals that a guard found to be of this plan, or of part of
	// it, in order; see diff/guard.
	Granted []string `json:"-"`

	// Settled is what agrees with what is desired.
	Settled []Settled `json:"-"`
}

// Settled is something that agrees with its declaration, or that is gone as it should be.
type Settled struct {
	ID    ID
	Owned []Member
	// Version is that of the entry point that was read to prove it; empty: not known.
	Version string
	// Prune is set where it may be removed once nothing declares it.
	Prune *Prunable
	// Removed says that nothing declares it any more, and that it was removed.
	Removed bool
	// Token is what is to be remembered of a token; nil for anything else.
	Token *SettledToken
}

// Level is that of what agrees.
func (s Settled) Level() edge.Level { return s.ID.Scope.Level }

// OfCredentials is the part of a plan that is about tokens.
func (p Plan) OfCredentials() Plan {
	p.Changes = ofCredentials(p.Changes, Change.Level)
	p.Problems = ofCredentials(p.Problems, Problem.Level)
	p.Settled = ofCredentials(p.Settled, Settled.Level)
	return p
}

// ofCredentials are few among many: what is of a fleet is not copied.
func ofCredentials[T any](all []T, level func(T) edge.Level) []T {
	some := []T{}
	for _, one := range all {
		if level(one) == edge.LevelCredential {
			some = append(some, one)
		}
	}
	return some
}

// NewPlan returns an empty plan of a commit. Its lists are empty and not nil, as
// the schema asks for.
func NewPlan(commit string) Plan {
	return Plan{Version: PlanVersion, Commit: commit, Changes: []Change{}, Problems: []Problem{}, Deprecations: []deprecation.Notice{}}
}

// Gather is the plan that several plans are parts of: what they found of a commit
// that declares so many zones and tokens.
func Gather(commit string, zones, tokens int, changes []Change, problems []Problem) Plan {
	p := NewPlan(commit)
	p.Changes, p.Problems = append(p.Changes, changes...), append(p.Problems, problems...)
	p.Summary.Zones, p.Summary.Tokens = zones, tokens
	SortChanges(p.Changes)
	return p.Sealed()
}

// SortChanges sorts by account, zone, turn, deployment and token.
func SortChanges(changes []Change) {
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.Turn, b.Turn),
			cmp.Compare(a.Deployment, b.Deployment), cmp.Compare(a.Token, b.Token))
	})
}

// IsEmpty reports whether the plan neither changes nor lacks anything.
func (p Plan) IsEmpty() bool { return len(p.Changes) == 0 && len(p.Problems) == 0 }

// Attention reports whether something is unknown, forbidden, blocked, not deployed, or refused
// for more than some time: whether a person is needed.
func (p Plan) Attention() bool {
	if len(p.Problems) > 0 {
		return true
	}
	for _, c := range p.Changes {
		if !c.Applies() && c.Action() != ActionOrphan && !c.Refused.Quiet() && !c.Refused.WaitsForTime() {
			return true
		}
	}
	return false
}

// Waits reports whether the plan has changes that are sent later, without a person.
func (p Plan) Waits() bool {
	return slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Refused.WaitsForTime() })
}

// Observed reports whether the plan has changes that are not sent for no other reason
// than that they are observed only, or that a revert has put their zone back.
func (p Plan) Observed() bool {
	for _, c := range p.Changes {
		if c.Refused.Quiet() {
			return true
		}
	}
	return false
}
