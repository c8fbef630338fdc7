package diff

import (
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// What an execute rule is called, as members of fields and of [Applied].
const (
	DescriptionMember Member = "description"
	RefMember         Member = "ref"
)

// LastNamed is the member of [Applied] that remembers the description or the ref which an
// execute rule had when it was last proved.
func LastNamed(member Member, rule edge.RuleID, value string) Member {
	return namedOf(member, rule) + Member(strconv.Quote(value))
}

func namedOf(member Member, rule edge.RuleID) Member { return member + " of " + Member(rule) + " = " }

// LastName is what members remember of the description or the ref of an execute rule; empty
// for nothing, as of a rule that took its place. While a write is under way there may be two,
// of which it is the later.
func LastName(members []Member, member Member, rule edge.RuleID) (value string) {
	for _, m := range members {
		if quoted, ok := strings.CutPrefix(string(m), string(namedOf(member, rule))); ok {
			if text, err := strconv.Unquote(quoted); err == nil {
				value = text
			}
		}
	}
	return value
}
