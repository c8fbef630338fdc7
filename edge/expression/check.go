package expression

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/edge/nearest"
)

// For is where an expression stands. What is empty is not checked.
type For struct {
	Phase    string // "http_request_firewall_custom"
	Counting bool   // it says what a rate limit counts: it may ask for the response
	Plan     string // one of [Plans]
}

// Bounds of an expression, as the vendor's documents name them.
const (
	longest     = 4096 // characters
	mostRegexps = 64
	deepestSaid = 128
)

// mostMistakes is how many mistakes of a grade are looked for in one expression: who mends them
// sees the rest.
const mostMistakes = 20

// Examine parses a text and checks it. Where it does not parse, the mistake is the only one.
func Examine(text string, f For) (Expr, []Mistake) {
	e, err := Parse(text)
	if wrong := (*SyntaxError)(nil); errors.As(err, &wrong) {
		return e, []Mistake{wrong.Mistake}
	}
	mistakes := Check(e, f)
	if n := utf8.RuneCountInString(text); n > longest {
		mistakes = append(mistakes, Mistake{
			Span: Span{0, len(text)}, Grade: Documented,
			Message: fmt.Sprintf("it has %d characters; the limit is %d", n, longest), Hint: "use a list, $name, or two rules",
		})
	}
	return e, mistakes
}

// Check finds what is wrong with an expression beside its syntax, in the order of the text.
func Check(e Expr, f For) []Mistake {
	c := &checker{For: f}
	if t := c.condition(e.Root); t.isArray() {
		c.add(e.Root, Certain, "it is an array of conditions, not one", "any(…) is true if one of them is, all(…) if each is")
	}
	for _, at := range e.Comments {
		c.addAt(at, Doubtful, "a comment: the published engine takes none", "remove it")
	}
	if e.tab > 0 {
		c.addAt(Span{e.tab - 1, e.tab}, Doubtful, "a tab: the published engine takes blanks and line breaks alone", "write a blank")
	}
	if e.depth > deepestSaid {
		c.add(e.Root, Documented, fmt.Sprintf("nests %d deep; the limit is %d", e.depth, deepestSaid), "")
	}
	if c.regexps > mostRegexps {
		c.add(e.Root, Documented, fmt.Sprintf("it has %d regular expressions; the limit is %d", c.regexps, mostRegexps), "")
	}
	slices.SortStableFunc(c.mistakes, func(a, b Mistake) int { return a.At - b.At })
	return c.mistakes
}

// checker collects the mistakes of an expression.
type checker struct {
	For
	mistakes []Mistake
	count    [Noted + 1]int // by grade
	regexps  int
}

func (c *checker) add(at Node, grade Grade, message, hint string) {
	c.addAt(at.Where(), grade, message, hint)
}

func (c *checker) addAt(at Span, grade Grade, message, hint string) {
	if c.count[grade]++; c.count[grade] <= mostMistakes {
		c.mistakes = append(c.mistakes, Mistake{at, message, hint, grade})
	}
}

// enough reports whether no further unknown name is looked for: to find the nearest takes time.
func (c *checker) enough() bool {
	return c.count[Certain]+c.count[Documented] >= 10*mostMistakes
}

// condition checks something that is true or false, and returns its type: Boolean, or an array
// of them where a part has [*]. It is empty where that is not known.
func (c *checker) condition(n Node) Type {
	switch n := n.(type) {
	case *Logical:
		return c.logical(n)
	case *Not:
		return c.condition(n.Of)
	case *Group:
		return c.condition(n.Of)
	case *Comparison:
		return c.comparison(n)
	case *Term:
		t, each := c.term(n)
		if each && t != "" {
			t = t.array()
		}
		if t != "" && t != Boolean && t != Boolean.array() {
			c.add(n, Certain, fmt.Sprintf("%s is %s, and no condition", n, t.a()), c.toCompare(n, t))
			return ""
		}
		return t
	case *Literal:
		c.add(n, Certain, "a value is no condition", "")
	}
	return ""
}

func (c *checker) logical(n *Logical) Type {
	first := c.condition(n.Items[0])
	for _, item := range n.Items[1:] {
		if t := c.condition(item); t != "" && first != "" && t.isArray() != first.isArray() {
			c.add(item, Certain, "a condition and an array of conditions are joined", "any(…) or all(…) makes one of an array")
		} else if first == "" {
			first = t
		}
	}
	return first
}

// toCompare is how a term that is no condition becomes one.
func (c *checker) toCompare(n *Term, t Type) string {
	switch {
	case t.isArray() && n.Each():
		return fmt.Sprintf("compare its elements: any(%s eq …)", n)
	case t.isArray():
		return fmt.Sprintf("compare its elements: any(%s[*] eq …)", n)
	case t.isMap():
		return fmt.Sprintf(`compare an element: %s["key"]`, n)
	}
	return "compare it with a value"
}

// term checks a field or a call, and returns the type of a value of it. each says that there are
// many, by [*].
func (c *checker) term(n *Term) (t Type, each bool) {
	if n.Call {
		t = c.call(n)
	} else {
		t = c.field(n)
	}
	for _, index := range n.Indexes {
		element, is := t.Element()
		switch {
		case t == "":
			return "", each || index.Kind == Each
		case index.Kind == Each && is, index.Kind == Number && t.isArray(), index.Kind == Key && t.isMap():
			t, each = element, each || index.Kind == Each
		default:
			why := "has no elements"
			if is {
				why = map[bool]string{true: "has elements by number, [0]", false: `has elements by key, ["name"]`}[t.isArray()]
			}
			c.addAt(index.Span, Certain, fmt.Sprintf("%s %s", t.a(), why), "")
			return "", each
		}
	}
	return t, each
}

// field checks the name of a field, and returns its type.
func (c *checker) field(n *Term) Type {
	f, known := Fields()[n.Name]
	if !known {
		c.unknownField(n)
		return ""
	}
	c.available(n, "field", f.Phases, f.Plan)
	return f.Type
}

// available checks that the phase and the plan have a field or a function.
func (c *checker) available(n *Term, what string, groups []string, plan string) {
	counted := c.Counting && slices.Contains(groups, "response")
	if c.Phase != "" && !has(groups, c.Phase) && !counted {
		c.add(n, Documented, fmt.Sprintf("the %s %s is not offered in the phase %s", what, n.Name, c.Phase), "")
	}
	if slices.Contains(Plans, c.Plan) && slices.Index(Plans, c.Plan) < slices.Index(Plans, plan) {
		c.add(n, Documented, fmt.Sprintf("the %s %s needs the plan %s", what, n.Name, plan), "")
	}
}

// unknownField says how sure it is that there is no such field: a slip of a known one, or one of
// a family that does not exist, is surely none. Others may be newer than the table.
func (c *checker) unknownField(n *Term) {
	if _, is := Functions()[n.Name]; is {
		c.add(n, Certain, n.Name+" is a function", "it needs its arguments: "+Functions()[n.Name].Signature)
		return
	}
	if c.enough() {
		return
	}
	all := names(Fields())
	near := nearest.Word(n.Name, all)
	family, _, _ := strings.Cut(n.Name, ".")
	exists := slices.ContainsFunc(all, func(name string) bool { return name == family || strings.HasPrefix(name, family+".") })
	grade := Certain
	if exists && (near == "" || withoutDigits(near) == withoutDigits(n.Name)) {
		grade = Documented
	}
	c.add(n, grade, fmt.Sprintf("there is no field %q", n.Name), nearest.Hint(n.Name, all, "docs/expressions.md lists the fields that are known"))
}

// withoutDigits is a name without its digits: fields of the next version differ in these.
func withoutDigits(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, name)
}
