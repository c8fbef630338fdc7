package token

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// planOfTokens is a plan of tokens alone.
func planOfTokens(in diff.Input) diff.Plan {
	out := Kind{}.Plan(in)
	p := diff.Gather("", 0, len(in.State.Tokens), out.Changes, out.Problems)
	p.Settled, p.Findings, p.Expiries, p.Meanwhile = out.Settled, out.Findings, out.Expiries, out.Meanwhile
	return p.Sealed()
}

func planAt(now time.Time, live diff.TokensLive, tokens ...desired.Token) diff.Plan {
	return planOfTokens(diff.Input{State: desired.State{Tokens: tokens}, Live: diff.Live{Tokens: live}, Now: now})
}

func tokenPlan(live diff.TokensLive, tokens ...desired.Token) diff.Plan {
	return planAt(time.Time{}, live, tokens...)
}

// planAsked is a plan in which a person asks for the successor of a token.
func planAsked(now time.Time, live diff.TokensLive, id edge.TokenID, tokens ...desired.Token) diff.Plan {
	return planOfTokens(diff.Input{State: desired.State{Tokens: tokens}, Live: diff.Live{Tokens: live}, Now: now, Rotate: id})
}
