package reconcile

import (
	"context"
	"slices"
	"strconv"
	"strings"
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
	// Accounts are the settings of single accounts.
	Accounts guard.Accounts
	// ApprovalsExpire is how long an approval counts before a rollout begins on it; zero is
	// for good.
	ApprovalsExpire time.Duration
	// Documented limits what can be declared to the members of overrides that the
	// platform's reference shows; see [diff.AccountLive].
	Documented bool
	// Looking says where skip rules are looked for that may turn deployments off.
	Looking Looking
	// ReportUnmanaged says that overrides which came after the first proof, and which nothing
	// declares or decides on, are reported and not removed.
	ReportUnmanaged bool
}

// Control is what people said, and how far waves have come; reconcile/ledger keeps
// it. What it holds is read with [Records].
type Control interface {
	// Approve records approvals. One that is on record and not spent keeps its
	// first word. The ledger records none of a review again that is spent.
	Approve(ctx context.Context, approvals []Approval) error
	// Spend ends approvals of these digests: what they were about is done.
	Spend(ctx context.Context, digests []string) error
	// Use notes that a rollout has begun on approvals of these digests: they do not expire.
	Use(ctx context.Context, digests []string) error
	// Withdraw ends approvals of these digests: whoever gave them has taken them back, or
	// they were not used in time. The reason goes on record.
	Withdraw(ctx context.Context, digests []string, reason string) error
	// Depart records that zones and accounts were allowed to leave what settings select: what
	// they are under from now on, each in the place of what is on record of it. It ends the
	// approvals of these digests.
	Depart(ctx context.Context, under Memory, digests []string) error
	// Roll changes the record of the waves in one step that no one else can come
	// between. It writes nothing where nothing differs.
	Roll(ctx context.Context, change func(Rollout) Rollout) error
}

// Selectors are the settings that select zones by labels or by account, with their paths.
func (g Guards) Selectors() (all []guard.Selector) {
	for _, rule := range g.Rules {
		all = append(all, guard.Selector{Setting: "guards." + rule.Name, Labels: rule.Labels})
	}
	for _, f := range g.Freezes {
		all = append(all, guard.Selector{Setting: "freezes." + f.Name, Labels: f.Labels})
	}
	return append(all, g.Observe...)
}

// Approval is a person's word for a digest; see [guard.Facts].
type Approval struct {
	Digest string
	Kind   ApprovalKind
	Who    string
	Reason string // where someone gave one
	At     time.Time
	Used   bool // a rollout has begun on it
	// Subject is what it is about, for the entry in the history where that is known. It is not
	// kept with the approval.
	Subject Subject
}

// Expires is when so much time has passed since an approval was given, without a rollout that
// has begun on it; zero for never. Zero allows any time.
func (a Approval) Expires(after time.Duration) time.Time {
	if after <= 0 || a.Used || a.At.IsZero() {
		return time.Time{}
	}
	return a.At.Add(after)
}

// Expired reports whether an approval has expired at a moment.
func (a Approval) Expired(now time.Time, after time.Duration) bool {
	expires := a.Expires(after)
	return !expires.IsZero() && !now.Before(expires)
}

// Current returns the approvals that are not expired.
func (g Guards) Current(list []Approval, now time.Time) []Approval {
	return slices.DeleteFunc(slices.Clone(list), func(a Approval) bool { return a.Expired(now, g.ApprovalsExpire) })
}

const (
	reviewOf = "review of pull request "
	planOf   = ", plan of "
)

// ReasonOnPage is the reason of an approval that a person gave on a page, with what they said.
// None of it is taken for a review or a trailer.
func ReasonOnPage(said string) string {
	if said == "" {
		return "on the page"
	}
	return "on the page: " + said
}

// ReasonOfReview is the reason of an approval that a review of a pull request gave, of the plan that was
// shown at a time: what says the same once more is the same review.
func ReasonOfReview(number int, shown time.Time) string {
	return reviewOf + strconv.Itoa(number) + planOf + shown.UTC().Format(time.RFC3339Nano)
}

const (
	trailerOf  = "trailer of commit "
	textSigned = ", signed text "
)

// ReasonOfTrailer is the reason of an approval that a commit carries. text stands for what was signed
// of it.
func ReasonOfTrailer(commit, text string) string { return trailerOf + commit + textSigned + text }

// ReasonsOfTrailer are the reasons that such an approval may have on record: exactly the first, as
// earlier versions have written it, or with the second at its end.
func ReasonsOfTrailer(commit, text string) (reason, end string) {
	return trailerOf + commit, textSigned + text
}

// OfTrailer returns which commit carries an approval, and what stands for what was signed of it; false
// for none, and for those that earlier versions have written.
func (a Approval) OfTrailer() (commit, text string, ok bool) {
	of, ok := strings.CutPrefix(a.Reason, trailerOf)
	if !ok {
		return "", "", false
	}
	return strings.Cut(of, textSigned)
}

// OfReview returns the pull request whose review gave an approval; false for none.
func (a Approval) OfReview() (number int, ok bool) {
	text, ok := strings.CutPrefix(a.Reason, reviewOf)
	if !ok {
		return 0, false
	}
	text, _, _ = strings.Cut(text, planOf) // earlier versions have written no plan
	number, err := strconv.Atoi(text)
	return number, err == nil
}

// ReviewOfPlan reports whether the reason of an approval says which plan a review was of.
func (a Approval) ReviewOfPlan() bool {
	_, ok := a.OfReview()
	return ok && strings.Contains(a.Reason, planOf)
}

// ApprovalKind is what a person's word is about.
type ApprovalKind string

// The kinds of approvals. An override is on record for people alone, and spent
// from the start: its digest is the name of what it has overridden.
const (
	Approved   ApprovalKind = "approval"
	Overridden ApprovalKind = "override"
)
