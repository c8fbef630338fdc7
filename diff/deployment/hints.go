package deployment

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

func sortedKeys[V any](m map[string]V) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}

// What permissions the platform asks for is not in the reference; these are the
// vendor's names for them.
const (
	hintForbiddenZone = "give the rulesets token the permission Zone WAF (edit) for this zone; " +
		"where it has that, check from which addresses the token may be used"
	hintForbiddenRoot = "give the rulesets token the permission Account WAF or Account Rulesets (edit) for this account; " +
		"where it has that, check from which addresses the token may be used"
	hintForbiddenAccount = "give the rulesets token the permission Account WAF or Account Rulesets (read) for this account, or set " +
		"platform.profile to \"extended\", which needs only Zone WAF for its zones"
)

// hintOffered is for a call that the platform does not know while it knows others.
const hintOffered = "the platform answers other calls, so platform.base_url is right; check the id"

// unreadListed is the problem of what could not be read of an account whose rulesets could
// be listed: the base address is not the reason.
func unreadListed(err error, forbidden string, origin desired.Origin) diff.Problem {
	p := unread(err, forbidden, origin)
	if errors.Is(err, edge.ErrNotOffered) && p.Hint == diff.HintFor(err) {
		p.Hint = hintOffered
	}
	return p
}

// unread is the problem of what could not be read; forbidden is what to do where
// the credential may not.
func unread(err error, forbidden string, origin desired.Origin) diff.Problem {
	if name := (*diff.NameError)(nil); errors.As(err, &name) {
		p := diff.Problem{State: name.State, Reason: name.Error(), Hint: name.Hint, Origin: origin}
		if p.Unread() {
			p.Err = err
		}
		return p
	}
	p := diff.Problem{State: diff.Unknown, Reason: err.Error(), Hint: diff.HintFor(err), Err: err, Origin: origin}
	if errors.Is(err, edge.ErrForbidden) {
		if p.State = diff.Forbidden; p.Hint != diff.HintForeign {
			p.Hint = forbidden
		}
	}
	return p
}

// hintAtLatest says of each mistake of a declaration that is resolved against an older
// version where the latest has what it names.
func hintAtLatest(errs []resolveError, d desired.Deployment, older, found *managed) {
	if len(errs) == 0 || older == found {
		return
	}
	_, there := resolve(d, found)
	for i := range errs {
		if !slices.ContainsFunc(there, func(e resolveError) bool { return e.origin == errs[i].origin }) {
			errs[i].hint = fmt.Sprintf("version %s, the latest, has it: declare version: %q", found.Version, rulesets.Latest)
		}
	}
}
