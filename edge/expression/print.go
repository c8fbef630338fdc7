package expression

import (
	"fmt"
	"strings"
)

// String is the expression in one spelling: English operators, one blank between words, and no
// comments. [Parse] reads it back as the same tree.
func (e Expr) String() string {
	var b strings.Builder
	if e.Root != nil {
		write(&b, e.Root)
	}
	return b.String()
}

// String is the term as it is written.
func (t *Term) String() string {
	var b strings.Builder
	write(&b, t)
	return b.String()
}

// Write is a node as it is written.
func Write(n Node) string {
	var b strings.Builder
	write(&b, n)
	return b.String()
}

func write(b *strings.Builder, n Node) {
	switch n := n.(type) {
	case *Logical:
		for i, item := range n.Items {
			if i > 0 {
				b.WriteString(" " + n.Op + " ")
			}
			write(b, item)
		}
	case *Not:
		b.WriteString("not ")
		write(b, n.Of)
	case *Group:
		b.WriteByte('(')
		write(b, n.Of)
		b.WriteByte(')')
	case *Comparison:
		n.write(b)
	case *Term:
		n.write(b)
	case *Literal:
		b.WriteString(n.written(false))
	}
}

func (c *Comparison) write(b *strings.Builder) {
	c.Left.write(b)
	b.WriteString(" " + c.Op + " ")
	set := c.Op == "in" && (len(c.Right) != 1 || c.Right[0].Kind != List)
	if set {
		b.WriteByte('{')
	}
	for i, value := range c.Right {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(value.written(c.Op == "matches"))
	}
	if set {
		b.WriteByte('}')
	}
}

func (t *Term) write(b *strings.Builder) {
	b.WriteString(t.Name)
	if t.Call {
		b.WriteByte('(')
		for i, arg := range t.Args {
			if i > 0 {
				b.WriteString(", ")
			}
			write(b, arg)
		}
		b.WriteByte(')')
	}
	for _, i := range t.Indexes {
		switch i.Kind {
		case Each:
			b.WriteString("[*]")
		case Number:
			fmt.Fprintf(b, "[%d]", i.Number)
		case Key:
			b.WriteString("[" + quoted(i.Key) + "]")
		}
	}
}

// written is the literal as it is written; regex says that it is read as a regular expression.
func (l Literal) written(regex bool) string {
	switch l.Kind {
	case List:
		return "$" + l.Text
	case Text:
		if !strings.ContainsAny(l.Text, "\"\\") && (!regex || !strings.ContainsAny(l.Text, "[]")) {
			return `"` + l.Text + `"`
		}
		if hashes := hashesOf(l.Text); hashes <= 255 {
			mark := strings.Repeat("#", hashes)
			return "r" + mark + `"` + l.Text + `"` + mark
		}
		if regex {
			return quotedRegex(l.Text)
		}
		return quoted(l.Text)
	default:
		return l.Text
	}
}

// hashesOf is how many # a raw string of a text needs.
func hashesOf(text string) (most int) {
	for i := range len(text) {
		if text[i] == '"' {
			most = max(most, 1+span(text[i+1:], func(c byte) bool { return c == '#' }))
		}
	}
	return most
}

// quoted is a string in double quotes.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(text) + `"`
}

// quotedRegex is a regular expression in double quotes: a quote has a backslash outside of […].
func quotedRegex(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	class := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			b.WriteByte(c)
			i++
		case c == '"' && !class:
			b.WriteByte('\\')
		case c == '[':
			class = true
		case c == ']':
			class = false
		}
		b.WriteByte(text[i])
	}
	return b.String() + `"`
}
