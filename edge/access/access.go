// Package access answers whether an API token may do a thing, from what the
// token says of itself: no call is made and no clock is read.
//
// [Decide] follows the reference's order ("Policy"): a policy that denies
// decides before any that allows, and what no policy names is denied. Before
// that, a token works only inside its validity window and from the addresses
// its condition lets through.
//
//	spec := edge.TokenSpec{Policies: …}
//	a := access.Decide(spec, access.Question{
//		Group:  "4755a26eedb94da69e1066d98aa820be",
//		Target: access.OfZone(account, zone),
//		IP:     netip.MustParseAddr("192.0.2.7"),
//	})
//	fmt.Println(a.Allowed, a.Text)
//
// [Diff] compares what two tokens may do and says which way each difference
// goes; [Canonical] and [Hash] tell whether two tokens are the same.
//
// # How the reference is read
//
//   - A permission group counts only for targets of a resource type that it is
//     scoped for. Scopes are known where the platform filled them in; a group
//     whose scopes no one knows counts for every type.
//   - The reference lists "one account" and "all zones in one account" as two
//     forms of the same key, and zone as a type of its own. So "*" on an account,
//     or on all accounts, is the account itself and none of its zones, and the
//     nested form is the zones and not the account. It holds for both effects.
//   - What only the platform can read (a value or a key outside the six forms, an
//     effect that is neither of the two, a range that is none, a zone whose
//     account no one told) never allows, and denies whatever it might be meant
//     for.
package access

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

// Question asks whether a token grants a permission group on a target.
type Question struct {
	Group  string // a permission group's id
	Target Target
	IP     netip.Addr // where the call comes from; zero: the address is not asked
	At     time.Time  // when; zero: the window is not asked
}

// Reason is what decided an answer.
type Reason string

// The reasons, in the order in which they are looked for.
const (
	NotYet        Reason = "not_yet"       // before not_before
	Expired       Reason = "expired"       // at or after expires_on
	Address       Reason = "address"       // the condition keeps the address out
	ExplicitDeny  Reason = "explicit_deny" // a policy denies
	ExplicitAllow Reason = "explicit_allow"
	ImplicitDeny  Reason = "implicit_deny" // no policy names it
)

// Answer is a decision and what it rests on.
type Answer struct {
	Allowed  bool
	Because  Reason
	Text     string   // for people: one clause without a full stop
	Policy   int      // index in the token's policies; -1: none of them decided
	Resource Resource // by which that policy reaches the target
}

// Decide says whether a token with this spec may do what q asks.
func Decide(spec edge.TokenSpec, q Question) Answer {
	if a, out := outsideWindow(spec, q.At); out {
		return a
	}
	if spec.Condition != nil && q.IP.IsValid() && readFilter(spec.Condition.RequestIP).admits(q.IP) != yes {
		return denied(Address, "the condition request.ip does not let %s through", unmap(q.IP))
	}
	return read(spec).decide(spec, q)
}

func denied(why Reason, format string, args ...any) Answer {
	return Answer{Because: why, Text: fmt.Sprintf(format, args...), Policy: -1}
}

// decide asks the policies alone.
func (r rights) decide(spec edge.TokenSpec, q Question) Answer {
	why, index := r.verdict(q.Group, q.Target, onSafeSide)
	if index < 0 {
		return denied(why, "no policy allows group %s on %s", q.Group, q.Target)
	}
	a := Answer{Allowed: why == ExplicitAllow, Because: why, Policy: index}
	a.Resource = through(spec.Policies[index].Resources, q.Target)
	verb := "denies"
	if a.Allowed {
		verb = "allows"
	}
	a.Text = fmt.Sprintf("policies[%d] %s group %s on %s, by %s", index, verb, q.Group, q.Target, a.Resource)
	return a
}
