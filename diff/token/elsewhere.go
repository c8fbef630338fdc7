package token

import (
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// leaveToOther has what is to be sent be a problem, where another process works on tokens: that one
// sends it, and until then the token is not as declared.
func (p *planner) leaveToOther() {
	if p.in.Live.Tokens.Elsewhere == "" {
		return
	}
	p.out.Changes = slices.DeleteFunc(p.out.Changes, func(c diff.Change) bool {
		if c.Action() == diff.ActionOrphan {
			return false
		}
		p.othersProblem(desired.Token{Key: c.Token, Owner: edge.AccountID(c.Scope.ID), Account: c.Account, Origin: c.Origin}, "not made yet: "+string(c.Action()))
		return true
	})
	p.out.Settled = nil // to be put on record by that process, too
}

// othersProblem says what of a token another process is still to do. What a person asks for it does not
// do by itself.
func (p *planner) othersProblem(token desired.Token, what string) {
	who, hint := p.in.Live.Tokens.Elsewhere, p.in.Live.Tokens.Hint
	if p.in.Rotate != "" {
		hint = "run it on the machine of " + who
	}
	p.tokenProblem(token, diff.Unknown, what+"; "+who+" works on tokens", hint)
}
