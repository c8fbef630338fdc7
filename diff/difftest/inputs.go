package difftest

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// One is a plan's input of one deployment of one zone, which has the rules given.
func One(d desired.Deployment, rules ...edge.Rule) diff.Input {
	return Scene{State: State(d), Live: Live(rules...)}.Input()
}

// Input is what a scene is planned from.
func (s Scene) Input() diff.Input {
	return diff.Input{State: s.State, Live: s.Live, Applied: s.Applied, Prunable: s.Prunable}
}

// Tokens is a plan's input of tokens at a time.
func Tokens(now time.Time, live diff.TokensLive, tokens ...desired.Token) diff.Input {
	return diff.Input{State: desired.State{Tokens: tokens}, Live: diff.Live{Tokens: live}, Now: now}
}
