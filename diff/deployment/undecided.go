package deployment

import (
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
)

// What is live, not declared and not decided on stays as it is, and is a problem of its
// own: what is decided beside it is planned and written all the same.

// undecided is the problem of override members on which there is no decision.
func undecided(at desired.Origin, all []diff.Leftover) diff.Problem {
	if len(all) == 1 && all[0].Path == versionMember {
		return diff.Problem{
			State: diff.Undecided, Origin: at, Unmanaged: all,
			Reason: "the execute rule is pinned to a version that nothing declares",
			Hint:   "declare version, or set keep: [{version: true}] or remove: [{version: true}]",
		}
	}
	return diff.Problem{
		State: diff.Undecided, Origin: at, Unmanaged: all,
		Reason: fmt.Sprintf("live has %s that nothing declares", words.Count(len(all), "override", "overrides")),
		Hint:   `declare what it should be, or set unmanaged: "keep" or unmanaged: "remove"`,
	}
}

// expressionOf settles the filter expression of an execute rule: what it should be, and
// what is remembered of it once the deployment is proved. One that is not declared is
// compared with those that were remembered before. drifted is what differs and is neither
// put back nor accepted; nil for nothing.
func expressionOf(d desired.Deployment, live string, before []diff.Member) (want string, remembered []diff.Member, drifted *diff.Leftover) {
	if d.Expression != nil {
		return d.Expression.Value, []diff.Member{diff.LastExpression(d.Expression.Value)}, nil
	}
	known := diff.LastExpressions(before)
	mode := desired.ReportDrift
	if d.ExpressionDrift != nil {
		mode = d.ExpressionDrift.Value
	}
	if len(known) == 0 || slices.Contains(known, live) || mode == desired.IgnoreDrift {
		return live, []diff.Member{diff.LastExpression(live)}, nil
	}
	last := known[len(known)-1]
	remembered = []diff.Member{diff.LastExpression(last)}
	if mode == desired.RestoreDrift {
		return last, remembered, nil
	}
	return live, remembered, &diff.Leftover{Path: "expression", Value: live, Was: last}
}

// expressionChanged is the problem of an expression that is not the one last proved.
func expressionChanged(at desired.Origin, drifted diff.Leftover) diff.Problem {
	return diff.Problem{
		State: diff.Undecided, Origin: at, Unmanaged: []diff.Leftover{drifted},
		Reason: "the expression of the execute rule was changed outside of Seawall, and it is not declared",
		Hint:   `declare expression, or set expression_drift: "restore" or expression_drift: "ignore"`,
	}
}
