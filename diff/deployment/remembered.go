package deployment

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Beside what a declaration owns, [diff.Applied] remembers, as members with these beginnings,
// what was there when the deployment was last proved. While a write is under way there may be
// two with one beginning: what was before, and what is written. What was written by an earlier
// version of Seawall, or what is lost, remembers nothing.
const (
	ofExpression = "expression = " // a quoted filter expression
	ofRule       = "rule "         // which rule a quoted description named: its id
	ofFound      = "found"         // what was live and not declared; alone it says that this is on record
)

// What an execute rule is called, as members of fields.
const (
	descriptionMember diff.Member = "description"
	refMember         diff.Member = "ref"
)

// recall returns what members remember behind a beginning, in their order.
func recall(members []diff.Member, begin string) (found []string) {
	for _, m := range members {
		if rest, ok := strings.CutPrefix(string(m), begin); ok {
			found = append(found, rest)
		}
	}
	return found
}

// recallText is recall of quoted texts.
func recallText(members []diff.Member, begin string) (found []string) {
	for _, quoted := range recall(members, begin) {
		if text, err := strconv.Unquote(quoted); err == nil {
			found = append(found, text)
		}
	}
	return found
}

func rememberText(begin, text string) diff.Member { return diff.Member(begin + strconv.Quote(text)) }

// ofName begins the member that remembers the description or the ref of an execute rule.
func ofName(member diff.Member, rule edge.RuleID) string {
	return string(member) + " of " + string(rule) + " = "
}

// lastName is what members remember of the description or the ref of an execute rule; empty
// for nothing, as of a rule that took its place. Of two it is the later.
func lastName(members []diff.Member, member diff.Member, rule edge.RuleID) string {
	if names := recallText(members, ofName(member, rule)); len(names) > 0 {
		return names[len(names)-1]
	}
	return ""
}

// lastOfAny is lastName of whichever rule it was.
func lastOfAny(members []diff.Member, member diff.Member) string {
	for _, m := range slices.Backward(members) {
		of, text, both := strings.Cut(string(m), " = ")
		if both && strings.HasPrefix(of, string(member)+" of ") {
			if name, err := strconv.Unquote(text); err == nil {
				return name
			}
		}
	}
	return ""
}

// ofNamed begins the member that remembers which rule a description named.
func ofNamed(description string) string { return ofRule + strconv.Quote(description) + " = " }

// foundBefore are the members that were live and not declared when a deployment was proved
// first, and those that its declaration has kept since.
type foundBefore struct {
	known   bool
	members []string // sorted
}

func foundIn(applied []diff.Member) foundBefore {
	f := foundBefore{known: slices.Contains(applied, ofFound), members: recall(applied, ofFound+" ")}
	slices.Sort(f.members)
	return f
}

// isNew reports whether a member that is live and not declared came after the first proof.
func (f foundBefore) isNew(m diff.Member) bool {
	_, there := slices.BinarySearch(f.members, string(m))
	return f.known && !there
}

// rememberFound are the members that remember what is live and not declared, sorted.
func rememberFound(live []diff.Member) []diff.Member {
	all := make([]diff.Member, 0, len(live)+1)
	all = append(all, ofFound)
	for _, m := range live {
		all = append(all, ofFound+" "+m)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
