package deployment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
)

// What is live, not declared and not decided on stays as it is, and is a problem of its
// own: what is decided beside it is planned and written all the same.

// undecided is the problem of override members on which there is no decision, some of them
// new, and of what of the declaration has no effect because of them.
func undecided(at desired.Origin, all, appeared []diff.Leftover, defeated []conflict) diff.Problem {
	p := diff.Problem{
		State: diff.Undecided, Origin: at, Unmanaged: all, Reason: cause(all),
		Hint: `seawall absorb ZONE declares what is live; or declare what it should be, or set unmanaged: "keep" or unmanaged: "remove"`,
	}
	if len(all) == 1 && all[0].Path == versionMember {
		p.Hint = "declare version, or set keep: [{version: true}] or remove: [{version: true}]"
	}
	if n := len(appeared); n > 0 {
		p.Reason += fmt.Sprintf("; new since the deployment was first proved: %d of %d", n, len(all))
	}
	for i, c := range defeated {
		p.State, p.Origin = diff.Blocked, defeated[0].origin
		p.Reason += []string{": ", "; "}[min(i, 1)] + c.what
	}
	return p
}

// cause says what was done: first what takes the effect of the ruleset as a whole.
func cause(all []diff.Leftover) string {
	others := words.Count(len(all)-1, "more override", "more overrides")
	for _, l := range all {
		var text string
		switch {
		case l.Path == wideMember("enabled") && l.Value == any(false):
			text = "the managed ruleset was switched off by hand (overrides.enabled = false)"
		case l.Path == wideMember("action") && l.Value == any(edge.ActionLog):
			text = `all rules of the managed ruleset were set to log by hand (overrides.action = "log")`
		default:
			continue
		}
		if len(all) > 1 {
			text += ", and live has " + others + " that nothing declares"
		}
		return text
	}
	if len(all) == 1 && all[0].Path == versionMember {
		return "the execute rule is pinned to a version that nothing declares"
	}
	return fmt.Sprintf("live has %s that nothing declares", words.Count(len(all), "override", "overrides"))
}

// newNote is about what goes because it came after the first proof.
const newNote = "nothing declares it, and it was not there when the deployment was first proved"

// explainNew says of fields that they go because they are new.
func (w wanted) explainNew(fields []diff.Field, in intent) {
	for i := range fields {
		f := &fields[i]
		isNew := f.Path == versionMember && in.declared.Version == nil ||
			slices.ContainsFunc(w.leftovers, func(l diff.Leftover) bool { return l.Path == f.Path })
		if isNew && in.decided.heals(f.Path) {
			f.Note = strings.TrimPrefix(f.Note+"; "+newNote, "; ")
		}
	}
}

// expressionOf settles the filter expression of an execute rule: what it should be, and
// what is remembered of it once the deployment is proved. One that is not declared is
// compared with those that were remembered before. drifted is what differs and is neither
// put back nor accepted; nil for nothing.
func expressionOf(d desired.Deployment, live string, before []diff.Member) (want string, remembered []diff.Member, drifted *diff.Leftover) {
	if d.Expression != nil {
		return d.Expression.Value, []diff.Member{rememberText(ofExpression, d.Expression.Value)}, nil
	}
	known := recallText(before, ofExpression)
	mode := desired.ReportDrift
	if d.ExpressionDrift != nil {
		mode = d.ExpressionDrift.Value
	}
	if len(known) == 0 || slices.Contains(known, live) || mode == desired.IgnoreDrift {
		return live, []diff.Member{rememberText(ofExpression, live)}, nil
	}
	last := known[len(known)-1]
	remembered = []diff.Member{rememberText(ofExpression, last)}
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
