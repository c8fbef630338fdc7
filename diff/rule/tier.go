package rule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/tier"
)

// limits are those of the plan of a zone, nil where the plan is not known.
func (k Kind) limits(live diff.Live, zone desired.Zone) *tier.Limits {
	limits, _ := tier.Of(live.Plans[zone.Scope], string(k.phase))
	return limits
}

// exceeds reports whether the plan of the zone does not take a rule that would be written, which
// is a problem then: nothing is sent. A rule that agrees with its declaration is no question of
// the plan: the platform has it.
func (p *zonePlan) exceeds(w *wanted, is tree, isLive bool) bool {
	if p.limits == nil {
		return false
	}
	if !isLive && !p.limits.Room(p.many) {
		p.problem(w.Other, diff.Problem{
			State: diff.Blocked, Lasts: true, Reason: fmt.Sprintf("the plan %q takes %s; %d would be there", p.limits.Plan, counted(p.limits.Rules, p.name.Word()), p.many),
			Hint: "declare fewer, remove some that are live, or subscribe to a higher plan",
		})
		return true
	}
	counting, _ := is.at("ratelimit.counting_expression").(string)
	text, _ := is["expression"].(string)
	lacks := slices.Concat(p.limits.Rule(is), p.limits.Expression(text, false), p.limits.Expression(counting, true))
	if len(lacks) == 0 {
		return false
	}
	says := make([]string, len(lacks))
	for i, lack := range lacks {
		says[i] = lack.Takes
	}
	p.problem(w.Other, diff.Problem{
		State: diff.Blocked, Lasts: true, Reason: fmt.Sprintf("the plan %q %s", p.limits.Plan, strings.Join(says, "; it ")),
		Hint: "change the rule, or subscribe to a higher plan",
	})
	return true
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
