package judge

import "slices"

// op is what a node does with those before it.
type op byte

const (
	opAtom op = iota // atom b of variable a
	opTrue
	opNot
	opAnd
	opOr
	opXor
)

// node is a part of an expression. Those that it joins stand before it.
type node struct {
	op   op
	a, b int
}

// form is an expression as nodes over atoms. Atoms of one variable depend on each other.
type form struct {
	nodes     []node
	root      int
	variables []variable
}

func (f *form) add(n node) int {
	f.nodes = append(f.nodes, n)
	return len(f.nodes) - 1
}

// variable is all that an expression asks of one term.
type variable struct {
	term  term
	class class
	atoms []atom // the first is that the term is present
	free  bool   // the term itself is true or false; it has one atom
	full  bool   // it has more atoms than are looked at, and nothing is known of them
	uses  int
}

// atom is a comparison: that the value is in a set, or that a predicate is true of it. Without
// both it is true of each value.
type atom struct {
	key  string // no other atom of the variable has it
	set  *set
	pred *predicate
}

// mostAtoms is how many atoms of a variable are looked at: one column of them is one word.
const mostAtoms = 64

// name is what no two variables share. In an expression that the platform takes a term is either
// compared or true.
type name struct {
	key  string
	free bool
}

// variable is the index of the variable of a term.
func (r *reader) variable(t term, free bool) int {
	n := name{t.key, free}
	i, known := r.names[n]
	if !known {
		i = len(r.form.variables)
		r.names[n] = i
		r.form.variables = append(r.form.variables, variable{term: t, free: free, atoms: make([]atom, 1)})
	}
	return i
}

// atom is the node of an atom.
func (r *reader) atom(t term, a atom) int {
	i := r.variable(t, false)
	v := &r.form.variables[i]
	at := slices.IndexFunc(v.atoms, func(b atom) bool { return b.key == a.key })
	if at < 0 {
		at = len(v.atoms)
		if v.full = at == mostAtoms; v.full {
			at = 0
		} else {
			v.atoms = append(v.atoms, a)
		}
	}
	v.uses++
	return r.form.add(node{op: opAtom, a: i, b: at})
}

// present is that a term is not missing.
func (r *reader) present(t term) int { return r.atom(t, atom{}) }

// truth is that a term is true; that of none is something of which nothing is known.
func (r *reader) truth(t term) int {
	i := r.variable(t, true)
	r.form.variables[i].uses++
	return r.form.add(node{op: opAtom, a: i})
}
