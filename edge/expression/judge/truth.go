package judge

import (
	"math/bits"
	"slices"
)

// mostCases is how many cases of all variables together are gone through: those of twelve that
// are true or false. An expression of very many nodes has fewer: mostWork is their product.
const (
	mostCases = 1 << 12
	mostWork  = 1 << 21
)

// chosen is a variable whose cases are gone through. Of others each atom may be true or false.
type chosen struct {
	variable int
	columns  []uint64
	stride   int
}

// may has a bit for each of 64 cases: whether a node may be true in it, and whether it may not.
type may struct{ be, notBe uint64 }

// holds reports whether an expression is want in each case.
func (f *form) holds(m mode, want bool) bool {
	picked, total := f.choose(m)
	if total == 0 {
		return false
	}
	atoms := make([][]may, len(f.variables))
	for i, v := range f.variables {
		atoms[i] = slices.Repeat([]may{{^uint64(0), ^uint64(0)}}, len(v.atoms))
	}
	nodes := make([]may, len(f.nodes))
	for from := 0; from < total; from += 64 {
		count := min(64, total-from)
		for _, c := range picked {
			c.fill(atoms[c.variable], from, count)
		}
		f.evaluate(nodes, atoms)
		contrary := nodes[f.root].notBe
		if !want {
			contrary = nodes[f.root].be
		}
		if contrary<<(64-count) != 0 {
			return false
		}
	}
	return true
}

// choose picks the variables whose cases are gone through, those with few first, and counts the
// cases. A variable that is asked for once is as good as unknown.
func (f *form) choose(m mode) ([]chosen, int) {
	var all []chosen
	for i := range f.variables {
		v := &f.variables[i]
		if v.free && v.uses == 1 {
			continue
		}
		columns, ok := v.columns(m)
		if ok && (v.uses > 1 || len(columns) < 2) {
			all = append(all, chosen{variable: i, columns: columns})
		}
	}
	slices.SortStableFunc(all, func(a, b chosen) int { return len(a.columns) - len(b.columns) })
	total, limit := 1, min(mostCases, mostWork/len(f.nodes))
	for i := range all {
		if total*len(all[i].columns) > limit {
			return all[:i], total
		}
		all[i].stride = total
		total *= len(all[i].columns)
	}
	return all, total
}

// fill sets what the atoms of a variable are in some cases.
func (c chosen) fill(atoms []may, from, count int) {
	clear(atoms)
	for k := range count {
		for column := c.columns[(from+k)/c.stride%len(c.columns)]; column != 0; column &= column - 1 {
			atoms[bits.TrailingZeros64(column)].be |= 1 << k
		}
	}
	for i := range atoms {
		atoms[i].notBe = ^atoms[i].be
	}
}

// evaluate sets what each node is, from what the atoms are.
func (f *form) evaluate(nodes []may, atoms [][]may) {
	for i, n := range f.nodes {
		switch n.op {
		case opAtom:
			nodes[i] = atoms[n.a][n.b]
		case opTrue:
			nodes[i] = may{be: ^uint64(0)}
		case opNot:
			nodes[i] = may{nodes[n.a].notBe, nodes[n.a].be}
		case opAnd:
			a, b := nodes[n.a], nodes[n.b]
			nodes[i] = may{a.be & b.be, a.notBe | b.notBe}
		case opOr:
			a, b := nodes[n.a], nodes[n.b]
			nodes[i] = may{a.be | b.be, a.notBe & b.notBe}
		case opXor:
			a, b := nodes[n.a], nodes[n.b]
			nodes[i] = may{a.be&b.notBe | a.notBe&b.be, a.be&b.be | a.notBe&b.notBe}
		}
	}
}
