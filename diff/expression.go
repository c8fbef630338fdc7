package diff

import (
	"strconv"
	"strings"
)

// lastExpression begins the member that remembers a filter expression.
const lastExpression = "expression = "

// LastExpression is the member of [Applied] that remembers the expression an execute rule
// had when it was last proved. While a write is under way there may be two: the one before
// and the one that is written.
func LastExpression(expression string) Member {
	return Member(lastExpression + strconv.Quote(expression))
}

// LastExpressions are the expressions that members remember, in their order; none where
// nothing was proved yet, or by an earlier version of Seawall.
func LastExpressions(members []Member) (found []string) {
	for _, m := range members {
		if quoted, ok := strings.CutPrefix(string(m), lastExpression); ok {
			if expression, err := strconv.Unquote(quoted); err == nil {
				found = append(found, expression)
			}
		}
	}
	return found
}
