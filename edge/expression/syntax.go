package expression

// Expr is an expression: its tree, and what stands in the text beside it.
type Expr struct {
	Root Node
	// Comments are the places of comments. The vendor's documents write them in examples; its
	// published engine refuses them.
	Comments []Span

	tab   int // the place of the first tab, and 1: 0 for none
	depth int // how deep parentheses, "not" and calls nest
}

// Span is a part of the text of an expression: the bytes from At to To.
type Span struct{ At, To int }

// Where is the span itself: a [Node] has it.
func (s Span) Where() Span { return s }

// Node is a part of the tree: [*Logical], [*Not], [*Group], [*Comparison], [*Term], and
// [*Literal], which is only an argument of a function.
type Node interface {
	Where() Span
	node()
}

// Logical joins two or more expressions by one operator.
type Logical struct {
	Span
	Op    string // "and", "xor" or "or"
	Items []Node
}

// Not is the contrary of an expression.
type Not struct {
	Span
	Of Node
}

// Group is an expression in parentheses.
type Group struct {
	Span
	Of Node
}

// Comparison compares a term with values.
type Comparison struct {
	Span
	Left *Term
	Op   string // its English name
	OpAt Span
	// Right is one value; after "in" a named list, or the values between { and }, which may be
	// none.
	Right []Literal
}

// Term is a field, or what a function returns, or an element of one. Alone it is a condition.
type Term struct {
	Span
	Name    string
	Call    bool
	Args    []Node // of a call
	Indexes []Index
}

// Each reports whether an index is [*].
func (t *Term) Each() bool {
	for _, i := range t.Indexes {
		if i.Kind == Each {
			return true
		}
	}
	return false
}

// Index names an element: of an array by its number, of a map by its key, or all of them.
type Index struct {
	Span
	Kind   IndexKind
	Number uint32
	Key    string
}

// IndexKind is one of the three kinds of an index.
type IndexKind byte

// The kinds of an index.
const (
	Each   IndexKind = iota // [*]
	Number                  // [0]
	Key                     // ["name"]
)

// Literal is a value that the expression says itself.
type Literal struct {
	Span
	Kind LiteralKind
	// Text is the value of a string, the name of a list without $, and else what is written.
	Text string
}

// LiteralKind says how a value is written.
type LiteralKind byte

// The kinds of literals. A bare one is a number, an address, a range of either, a network, or
// bytes such as 0A:0B: which it is depends on what it is compared with.
const (
	Text  LiteralKind = iota // "…", r"…" or r#"…"#
	Bare                     // 80, 192.0.2.0/24
	List                     // $name
	Truth                    // true and false; no documented operator takes them
)

func (*Logical) node()    {}
func (*Not) node()        {}
func (*Group) node()      {}
func (*Comparison) node() {}
func (*Term) node()       {}
func (*Literal) node()    {}

// Walk calls visit for a node and all that it has, those that stand before first.
func Walk(n Node, visit func(Node)) {
	visit(n)
	switch n := n.(type) {
	case *Logical:
		for _, item := range n.Items {
			Walk(item, visit)
		}
	case *Not:
		Walk(n.Of, visit)
	case *Group:
		Walk(n.Of, visit)
	case *Comparison:
		Walk(n.Left, visit)
	case *Term:
		for _, arg := range n.Args {
			Walk(arg, visit)
		}
	case *Literal:
	}
}
