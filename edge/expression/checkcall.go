package expression

import (
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/edge/nearest"
)

// call checks the call of a function, and returns what it returns: an array where its first
// argument has [*].
func (c *checker) call(n *Term) Type {
	f, known := Functions()[n.Name]
	if !known {
		c.unknownFunction(n)
	} else {
		groups := f.Phases
		if f.More {
			groups = nil
		}
		c.available(n, "function", groups, "")
	}
	var first Type
	mapped := false
	for i, arg := range n.Args {
		t, each := c.argument(arg)
		if each && i > 0 {
			c.add(arg, Certain, "only the first argument of a function may have [*]", "")
		}
		if i == 0 {
			first, mapped = t, each && !isQuantifier(n.Name)
		}
		if known {
			c.param(n, f, i, t)
		}
	}
	if !known {
		return ""
	}
	if least := f.least(); len(n.Args) < least {
		c.add(n, Documented, fmt.Sprintf("%s needs %d arguments, and has %d", n.Name, least, len(n.Args)), f.Signature)
	}
	if n.Name == "regex_replace" {
		c.regexps++
	}
	result := f.Returns
	if result == "First" {
		result = first
	}
	if mapped {
		return result.array()
	}
	return result
}

// isQuantifier reports whether a function makes one condition of many.
func isQuantifier(name string) bool { return name == "any" || name == "all" }

func (c *checker) unknownFunction(n *Term) {
	if _, is := Fields()[n.Name]; is {
		c.add(n, Certain, n.Name+" is a field, and takes no arguments", "")
		return
	}
	if c.enough() {
		return
	}
	all := names(Functions())
	grade := Documented
	if nearest.Word(n.Name, all) != "" {
		grade = Certain
	}
	hint := nearest.Hint(n.Name, all, "docs/expressions.md lists the functions that are known")
	c.add(n, grade, fmt.Sprintf("there is no function %q", n.Name), hint)
}

// least is how many arguments a function needs.
func (f Function) least() (n int) {
	for _, p := range f.Params {
		if !p.Optional && !p.Repeats {
			n++
		}
	}
	return n
}

// argument is the type of an argument; each says that it is many of them, by [*].
func (c *checker) argument(arg Node) (t Type, each bool) {
	switch arg := arg.(type) {
	case *Term:
		return c.term(arg)
	case *Literal:
		return c.literal(arg), false
	default:
		return c.condition(arg), false
	}
}

// literal is the type of a literal that is an argument.
func (c *checker) literal(l *Literal) Type {
	if l.Kind == Text {
		return String
	}
	if _, _, ok := l.Addresses(); ok {
		return IPAddress
	}
	if _, _, ok := l.Integers(); ok {
		return Integer
	}
	return String
}

// param checks an argument against what a function takes at its place.
func (c *checker) param(n *Term, f Function, i int, t Type) {
	last := f.Params[len(f.Params)-1]
	arg := n.Args[i]
	if i >= len(f.Params) && !last.Repeats {
		if i == len(f.Params) {
			c.add(arg, Documented, fmt.Sprintf("%s takes %d arguments", n.Name, len(f.Params)), f.Signature)
		}
		return
	}
	p := f.Params[min(i, len(f.Params)-1)]
	_, isLiteral := arg.(*Literal)
	fits := len(p.Types) == 0
	var wanted []string
	for _, one := range p.Types {
		fits = fits || t.fits(one)
		wanted = append(wanted, one.a())
	}
	switch {
	case !fits:
		c.add(arg, Documented, fmt.Sprintf("argument %d of %s is %s, want %s", i+1, n.Name, t.a(), strings.Join(wanted, " or ")), c.toFit(n, arg, t))
	case p.Literal && !isLiteral:
		c.add(arg, Documented, fmt.Sprintf("argument %d of %s must be a literal value", i+1, n.Name), "")
	case p.NoLiteral && isLiteral:
		c.add(arg, Documented, fmt.Sprintf("argument %d of %s must be a field, or what a function returns", i+1, n.Name), "")
	}
}

// toFit is what to try with an argument whose type does not fit.
func (c *checker) toFit(call *Term, arg Node, t Type) string {
	switch term, isTerm := arg.(*Term); {
	case isQuantifier(call.Name) && t == Boolean:
		return "it needs a comparison of many values, by [*]"
	case isQuantifier(call.Name) && isTerm && t.isArray():
		return fmt.Sprintf("compare its elements: %s(%s[*] eq …)", call.Name, term)
	case isTerm && t.isArray():
		return fmt.Sprintf("%s(%s[*]) does it for each element", call.Name, term)
	}
	return ""
}
