package diff

import (
	"strconv"
	"strings"
)

// What an execute rule is called, as members of fields and of [Applied].
const (
	DescriptionMember Member = "description"
	RefMember         Member = "ref"
)

// LastNamed is the member of [Applied] that remembers the description or the ref which an
// execute rule had when it was last proved.
func LastNamed(member Member, value string) Member {
	return member + " = " + Member(strconv.Quote(value))
}

// LastName is what members remember of a description or a ref; empty for nothing. While a
// write is under way there may be two, of which it is the later.
func LastName(members []Member, member Member) (value string) {
	for _, m := range members {
		if quoted, ok := strings.CutPrefix(string(m), string(member)+" = "); ok {
			if text, err := strconv.Unquote(quoted); err == nil {
				value = text
			}
		}
	}
	return value
}
