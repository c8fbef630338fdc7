package tier

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/edge/expression"
)

// Lack is what a rule has and the plan of its zone does not include.
type Lack struct {
	Member string // of the rule, as the platform names it: "ratelimit.period"
	Takes  string // to stand behind the plan: "takes a period of 10 seconds, not 60"
	Says   string // what the service answers, as far as that is known
}

// Rule is what a rule has that the plan does not, beside what its expressions have. The members
// are those of a request, with numbers as they are written.
func (l *Limits) Rule(members map[string]any) (lacks []Lack) {
	action, _ := members["action"].(string)
	if action != "" && !among(l.Actions, action) {
		says := fmt.Sprintf("not entitled to use the %s action", action) // S, of custom rules
		if l.Phase == "http_ratelimit" {
			says += " in ratelimiting" // S
		}
		lacks = append(lacks, Lack{"action", fmt.Sprintf("takes the actions %s, not %s", listed(l.Actions), action), says})
	}
	parameters, _ := members["action_parameters"].(map[string]any)
	if l.noResponse && parameters["response"] != nil {
		lacks = append(lacks, Lack{"action_parameters.response", "takes no response of a custom rule", "not entitled to use a custom response"})
	}
	if limit, is := members["ratelimit"].(map[string]any); is {
		lacks = append(lacks, l.limit(action, limit)...)
	}
	return lacks
}

// limit is what a rate limit has that the plan does not.
func (l *Limits) limit(action string, limit map[string]any) (lacks []Lack) {
	if period, is := number(limit["period"]); is && !among(l.Periods, period) {
		lacks = append(lacks, Lack{
			"ratelimit.period", takes("period", l.Periods, period),
			fmt.Sprintf("not entitled to use the period %d, can only use a period among %v", period, l.Periods), // S
		})
	}
	lacks = append(lacks, l.timeout(action, limit["mitigation_timeout"])...)
	list, _ := limit["characteristics"].([]any)
	for _, one := range list {
		if name, is := one.(string); is && !among(l.Characteristics, name) {
			lacks = append(lacks, Lack{
				"ratelimit.characteristics", fmt.Sprintf("counts by %s alone, not by %s", listed(l.Characteristics), name),
				fmt.Sprintf("not entitled to use the characteristic %s", name),
			})
		}
	}
	if counting, _ := limit["counting_expression"].(string); l.noCounting && counting != "" {
		lacks = append(lacks, Lack{"ratelimit.counting_expression", "takes no counting expression", "not entitled to use a counting expression"})
	}
	return lacks
}

// timeout is what is wrong with how long an action lasts. One that is not said is 0.
func (l *Limits) timeout(action string, said any) []Lack {
	const member = "ratelimit.mitigation_timeout"
	timeout, is := number(said)
	if said != nil && !is {
		return nil
	}
	if strings.HasSuffix(action, "challenge") {
		if among(l.ChallengeTimeouts, timeout) {
			return nil
		}
		return []Lack{{member, fmt.Sprintf("takes a timeout of 0 with the action %s, not %d", action, timeout), refused("mitigation timeout", l.ChallengeTimeouts, timeout)}}
	}
	switch {
	case among(l.Timeouts, timeout):
		return nil
	case timeout == 0: // which holds requests above the rate back, and no others
		return []Lack{{member, takes("timeout", l.Timeouts, timeout), "not entitled to use throttle behaviour"}} // S
	default:
		return []Lack{{member, takes("timeout", l.Timeouts, timeout), refused("mitigation timeout", l.Timeouts, timeout)}}
	}
}

func takes(what string, all []int, have int) string {
	if len(all) == 1 {
		return fmt.Sprintf("takes a %s of %d seconds, not %d", what, all[0], have)
	}
	return fmt.Sprintf("takes a %s of %s seconds, not %d", what, strings.Replace(listed(all), " and ", " or ", 1), have)
}

// refused is what the service says of a number of seconds. With one that the plan has it was
// seen (S), with several it is made like the text for periods.
func refused(what string, all []int, have int) string {
	if len(all) == 1 {
		return fmt.Sprintf("not entitled to use a %s different from %d", what, all[0])
	}
	return fmt.Sprintf("not entitled to use the %s %d, can only use a %s among %v", what, have, what, all)
}

func number(value any) (int, bool) {
	n, is := value.(json.Number)
	if !is {
		return 0, false
	}
	i, err := strconv.Atoi(n.String())
	return i, err == nil
}

// Expression is what the expression of a rule has that the plan does not; counting says that it
// is the one of what a rate limit counts. Of one with other mistakes it says nothing of these.
func (l *Limits) Expression(text string, counting bool) (lacks []Lack) {
	if l.Plan == Plans[len(Plans)-1] || strings.TrimSpace(text) == "" {
		return nil
	}
	where := expression.For{Phase: l.Phase, Counting: counting}
	e, without := expression.Examine(text, where)
	if e.Root == nil {
		return nil
	}
	member := "expression"
	if counting {
		member = "ratelimit.counting_expression"
	}
	where.Plan = l.Plan
	for _, m := range expression.Check(e, where) {
		if !slices.Contains(without, m) {
			lacks = append(lacks, Lack{member, "does not take the expression: " + m.Message, "not entitled: " + l.says(m)})
		}
	}
	return lacks
}

// says is how the service says it: it was seen (S) for regular expressions.
func (l *Limits) says(m expression.Mistake) string {
	if !strings.HasPrefix(m.Message, `"matches"`) {
		return m.Message
	}
	if l.Phase == "http_ratelimit" {
		return "the use of operator Matches is not allowed, an Advanced Rate Limiting plan is required"
	}
	return "the use of operator Matches is not allowed, a Business plan or a WAF Advanced plan is required"
}

// Room reports whether a zone may have so many rules in the phase.
func (l *Limits) Room(n int) bool { return l.Rules == 0 || n <= l.Rules }

// Full is what the service says where it may not (S).
func (l *Limits) Full(n int) string {
	return fmt.Sprintf("exceeded the maximum number of rules in the phase %s: %d out of %d", l.Phase, n, l.Rules)
}
