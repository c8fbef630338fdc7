package expression

import (
	"fmt"
	"slices"
	"strings"
)

// Line is a line of an explanation. Those of more depth are parts of the one above.
type Line struct {
	Depth int
	Text  string
}

// Explain says in words which requests an expression matches.
func Explain(e Expr) []Line {
	x := &explainer{}
	x.explain(e.Root, 0, "")
	return x.lines
}

type explainer struct{ lines []Line }

func (x *explainer) add(depth int, format string, values ...any) {
	x.lines = append(x.lines, Line{depth, fmt.Sprintf(format, values...)})
}

// explain adds what a condition says. before is what is said in front of it: "not: ".
func (x *explainer) explain(n Node, depth int, before string) {
	switch n := n.(type) {
	case *Logical:
		x.add(depth, "%s%s", before, map[string]string{
			"and": "all of these are true:", "or": "one or more of these are true:", "xor": "an odd number of these is true:",
		}[n.Op])
		for _, item := range n.Items {
			x.explain(item, depth+1, "")
		}
	case *Group:
		x.explain(n.Of, depth, before)
	case *Not:
		x.explain(n.Of, depth, before+"not: ")
	case *Comparison:
		x.add(depth, "%s%s", before, compared(n))
	case *Term:
		x.term(n, depth, before)
	case *Literal:
		x.add(depth, "%s%s", before, Write(n))
	}
}

// term explains a term that is a condition.
func (x *explainer) term(n *Term, depth int, before string) {
	verb := map[string]string{"starts_with": "begins with", "ends_with": "ends with"}[n.Name]
	switch {
	case n.Call && isQuantifier(n.Name) && len(n.Args) == 1:
		which := map[string]string{"any": "of at least one element", "all": "of each element"}[n.Name]
		x.explain(n.Args[0], depth, before+which+": ")
	case n.Call && verb != "" && len(n.Args) == 2:
		x.add(depth, "%s%s %s %s", before, Write(n.Args[0]), verb, Write(n.Args[1]))
	case n.Name == "true":
		x.add(depth, "%severy request", before)
	case n.Name == "false":
		x.add(depth, "%sno request", before)
	default:
		x.add(depth, "%s%s is true", before, n)
	}
}

// verbs are what operators say.
var verbs = map[string]string{
	"eq": "is", "ne": "is not", "lt": "is less than", "le": "is at most", "gt": "is more than", "ge": "is at least",
	"contains": "contains", "bitwise_and": "has one or more of the bits of",
	"matches":  "has a part that matches the regular expression",
	"wildcard": "is like, in upper or lower case,", "strict wildcard": "is like",
}

// compared is what a comparison says.
func compared(n *Comparison) string {
	var values []string
	for _, value := range n.Right {
		values = append(values, value.written(n.Op == "matches"))
	}
	switch {
	case n.Op != "in":
		return fmt.Sprintf("%s %s %s", n.Left, verbs[n.Op], strings.Join(values, ", "))
	case len(n.Right) == 0:
		return fmt.Sprintf("%s is in an empty set, which is never true", n.Left)
	case n.Right[0].Kind == List:
		return fmt.Sprintf("%s is in the list %s", n.Left, n.Right[0].Text)
	case len(n.Right) == 1:
		return fmt.Sprintf("%s is %s", n.Left, within(values[0]))
	}
	return fmt.Sprintf("%s is one of %s", n.Left, strings.Join(values, ", "))
}

// within is the one value of a set: in a range or a network, or the value itself.
func within(value string) string {
	if isSeveral(value) {
		return "in " + value
	}
	return value
}

// Used are the names of the fields and functions of an expression, each once, in its order.
func Used(e Expr) (used []string) {
	Walk(e.Root, func(n Node) {
		if t, is := n.(*Term); is && !slices.Contains(used, t.Name) {
			used = append(used, t.Name)
		}
	})
	return used
}
