package diff

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// namedRule begins the member that remembers which rule a description named.
const namedRule = "rule "

// NamedRule is the member of [Applied] that remembers which rule of a managed ruleset a
// description named when the deployment was last proved. While a write is under way there
// may be two of one description.
func NamedRule(description string, id edge.RuleID) Member {
	return Member(fmt.Sprintf("%s%q = %s", namedRule, description, id))
}

// NamedRules are the rules that members remember a description to name; none where it was
// not proved yet.
func NamedRules(members []Member, description string) (ids []edge.RuleID) {
	begin := namedRule + strconv.Quote(description) + " = "
	for _, m := range members {
		if id, ok := strings.CutPrefix(string(m), begin); ok {
			ids = append(ids, edge.RuleID(id))
		}
	}
	return ids
}
