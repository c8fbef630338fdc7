package expression

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
)

// byType are the operators that each type has.
var byType = map[Type][]string{
	String:    {"eq", "ne", "lt", "le", "gt", "ge", "contains", "matches", "wildcard", "strict wildcard", "in"},
	Integer:   {"eq", "ne", "lt", "le", "gt", "ge", "bitwise_and", "in"},
	IPAddress: {"eq", "ne", "in", "lt", "le", "gt", "ge"},
}

// comparison checks that an operator and values fit what they are compared with.
func (c *checker) comparison(n *Comparison) Type {
	t, each := c.term(n.Left)
	result := Boolean
	if each {
		result = Boolean.array()
	}
	switch {
	case t == "": // nothing is known of it
	case t == Boolean:
		c.boolean(n)
	case t.isArray(), t.isMap():
		c.add(n.Left, Certain, fmt.Sprintf("%s is %s, which is compared with nothing", n.Left, t.a()), c.toCompare(n.Left, t))
	case !slices.Contains(byType[t], n.Op):
		c.addAt(n.OpAt, Certain, fmt.Sprintf("%s is %s, which %q does not take", n.Left, t.a(), n.Op), "it takes "+strings.Join(byType[t], ", "))
	default:
		if t == IPAddress && strings.Contains("lt le gt ge", n.Op) {
			c.addAt(n.OpAt, Doubtful,
				fmt.Sprintf("the documents say that addresses do not have %q; the published engine takes it", n.Op), "a range is written in {first..last}")
		}
		for i := range n.Right {
			c.value(n, &n.Right[i], t)
		}
	}
	if n.Op == "in" && len(n.Right) == 0 {
		c.add(n, Doubtful, "the set is empty, so that nothing is in it", "")
	}
	c.pattern(n)
	return result
}

// boolean checks a comparison of what is true or false itself.
func (c *checker) boolean(n *Comparison) {
	grade, hint := Certain, fmt.Sprintf("write %s, or not %s", n.Left, n.Left)
	if (n.Op == "eq" || n.Op == "ne") && n.Right[0].Kind == Truth {
		grade = Documented
		if (n.Op == "eq") == (n.Right[0].Text == "true") {
			hint = "write " + n.Left.String()
		} else {
			hint = "write not " + n.Left.String()
		}
	}
	c.addAt(n.OpAt, grade, fmt.Sprintf("%s is a Boolean, which is a condition without an operator", n.Left), hint)
}

// value checks that a literal is of a type.
func (c *checker) value(n *Comparison, l *Literal, t Type) {
	if l.Kind == List {
		return
	}
	var ok bool
	hint := ""
	switch t {
	case String:
		_, ok = l.Bytes()
		ok = ok && (l.Kind == Text || !strings.Contains(n.Op, "wildcard") && n.Op != "matches")
		hint = fmt.Sprintf("write %q", l.Text)
	case Integer:
		_, _, ok = l.Integers()
		hint = "numbers are written without quotes"
	case IPAddress:
		_, _, ok = l.Addresses()
		hint = "addresses are written without quotes"
	default:
	}
	if !ok {
		if l.Kind != Text && t != String {
			hint = ""
		}
		c.add(l, Certain, fmt.Sprintf("%s is %s; %s is none", n.Left, t.a(), l.written(false)), hint)
	}
}

// pattern checks regular expressions and wildcards.
func (c *checker) pattern(n *Comparison) {
	if len(n.Right) == 0 || n.Right[0].Kind != Text {
		return
	}
	switch value := &n.Right[0]; n.Op {
	case "matches":
		c.regexps++
		if at := slices.Index(Plans, c.Plan); at >= 0 && at < slices.Index(Plans, "business") {
			c.addAt(n.OpAt, Documented, `"matches" needs the plan business`, "wildcard, contains and starts_with() are for all plans")
		}
		c.regex(value)
	case "wildcard", "strict wildcard":
		c.wildcard(value)
	}
}

// regex checks the syntax of a regular expression. The platform has another engine, Rust's, whose
// syntax is nearly that of Go: what Go alone refuses is doubtful.
func (c *checker) regex(l *Literal) {
	_, err := syntax.Parse(l.Text, syntax.Perl)
	var wrong *syntax.Error
	if !errors.As(err, &wrong) {
		return
	}
	grade, hint := Doubtful, ""
	switch wrong.Code {
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen, syntax.ErrMissingBracket, syntax.ErrMissingRepeatArgument, syntax.ErrTrailingBackslash:
		grade = Certain
	case syntax.ErrInvalidPerlOp:
		if strings.HasPrefix(wrong.Expr, "(?=") || strings.HasPrefix(wrong.Expr, "(?!") || strings.HasPrefix(wrong.Expr, "(?<") {
			grade, hint = Certain, "there is no look-around"
		}
	case syntax.ErrInvalidEscape:
		if len(wrong.Expr) > 1 && isDigit(wrong.Expr[1]) {
			grade, hint = Certain, "there are no references to groups"
		}
	default:
	}
	c.add(l, grade, fmt.Sprintf("the regular expression has a mistake at %q: %s", wrong.Expr, wrong.Code), hint)
}

// wildcard checks a pattern with stars.
func (c *checker) wildcard(l *Literal) {
	for i := 0; i < len(l.Text); i++ {
		switch rest := l.Text[i:]; {
		case strings.HasPrefix(rest, "**"):
			c.add(l, Certain, `"**" is no wildcard`, "one * stands for any text")
			return
		case strings.HasPrefix(rest, `\*`), strings.HasPrefix(rest, `\\`):
			i++
		case rest[0] == '\\':
			c.add(l, Documented, `in a wildcard a backslash stands before * or \ alone`, `a backslash itself is \\`)
			return
		}
	}
}
