package mem

import (
	"strings"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/expression"
)

// expressions checks those of a rule: which requests it matches, and which a rate limit counts.
func (c checks) expressions(members map[string]any, phase edge.Phase) []edge.ErrorDetail {
	where := expression.For{Phase: string(phase)}
	problems := c.expression("/expression", textMember(members, "expression"), where)
	if limit, ok := members["ratelimit"].(map[string]any); ok {
		where.Counting = true
		problems = append(problems, c.expression("/ratelimit/counting_expression", textMember(limit, "counting_expression"), where)...)
	}
	return problems
}

// expression is the first mistake of an expression that the service would refuse, in its words as
// far as they are known. What is doubtful is taken. A blank one is checked elsewhere, and so is
// what the plan of a zone does not have.
func (c checks) expression(at, text string, where expression.For) []edge.ErrorDetail {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	_, mistakes := expression.Examine(text, where)
	for _, m := range mistakes {
		if m.Grade == expression.Certain || m.Grade == expression.Documented {
			name := at[strings.LastIndexByte(at, '/')+1:]
			return []edge.ErrorDetail{problem(codeExpression, at,
				"'%s' is not a valid value for %s because could not parse filter expression: Filter parsing error (%s): %s", text, name, m.Place(text), m.Message)}
		}
	}
	return nil
}
