package reconcile

import (
	"context"
	"time"

	"github.com/seawall-dev/seawall/diff/guard"
)

// Guards is what the configuration says of guards. The zero value guards against
// nothing that the zero [guard.Facts] do not.
type Guards struct {
	Rules   []guard.Rule // in the order of their names
	Shrink  guard.Shrink
	Freezes []Freeze
	Waves   []Wave
	Observe []guard.Observe // what is never written
}

// Control is what people said, and how far waves have come; reconcile/ledger keeps
// it. What it holds is read with [Records].
type Control interface {
	// Approve records approvals. One that is on record and not spent keeps its
	// first word.
	Approve(ctx context.Context, approvals []Approval) error
	// Spend ends approvals of these digests: what they were about is done.
	Spend(ctx context.Context, digests []string) error
	// Roll changes the record of the waves in one step that no one else can come
	// between. It writes nothing where nothing differs.
	Roll(ctx context.Context, change func(Rollout) Rollout) error
}

// Approval is a person's word for a digest; see [guard.Facts].
type Approval struct {
	Digest string
	Kind   ApprovalKind
	Who    string
	Reason string // where someone gave one
	At     time.Time
}

// ApprovalKind is what a person's word is about.
type ApprovalKind string

// The kinds of approvals. An override is on record for people alone, and spent
// from the start: its digest is the name of what it has overridden.
const (
	Approved   ApprovalKind = "approval"
	Overridden ApprovalKind = "override"
)
