package mem

import (
	"strings"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/expression"
)

// expressions checks those of a rule: which requests it matches, and which a rate limit counts.
func (c checks) expressions(members map[string]any, phase edge.Phase, h holder) []edge.ErrorDetail {
	where := expression.For{Phase: string(phase)}
	if h.zone != nil {
		where.Plan = h.zone.Plan
	}
	problems := c.expression("/expression", textMember(members, "expression"), where)
	if limit, ok := members["ratelimit"].(map[string]any); ok {
		where.Counting = true
		problems = append(problems, c.expression("/ratelimit/counting_expression", textMember(limit, "counting_expression"), where)...)
	}
	return problems
}

// expression is the first mistake of an expression that the service would refuse, in its words as
// far as they are known. What is doubtful is taken. A blank one is checked elsewhere.
func (c checks) expression(at, text string, where expression.For) []edge.ErrorDetail {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	first := func(where expression.For) (m expression.Mistake, refused bool) {
		_, mistakes := expression.Examine(text, where)
		for _, m := range mistakes {
			if m.Grade == expression.Certain || m.Grade == expression.Documented {
				return m, true
			}
		}
		return m, false
	}
	if m, refused := first(expression.For{Phase: where.Phase, Counting: where.Counting}); refused {
		name := at[strings.LastIndexByte(at, '/')+1:]
		return []edge.ErrorDetail{problem(codeExpression, at,
			"'%s' is not a valid value for %s because could not parse filter expression: Filter parsing error (%s): %s", text, name, m.Place(text), m.Message)}
	}
	if m, refused := first(where); refused {
		return []edge.ErrorDetail{problem(edge.CodeNotEntitled, at, "not entitled: %s", m.Message)}
	}
	return nil
}
