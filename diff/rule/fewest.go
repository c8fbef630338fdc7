package rule

// fewest chooses as many rules as can stay where they are, no two of which stand the wrong way
// round. Rules are their indexes, in the order in which they stand.
//
// "It stands behind a rule, and is to stand in front of it" is a partial order, and rules of which
// no two are related so are an antichain of it. What the smallest cover of the relations does not
// touch is a largest one, and that comes from a largest matching (the theorems of Dilworth and
// König). Of several it is the one in which each rule stands as far in front as in any other. So it
// stays the same where some of those that move have moved: what is left of a plan is its rest.
func fewest(rules []int, wrong func(i, j int) bool) (stay []int) {
	m := matching{front: make([][]int, len(rules)), mate: make([]int, len(rules)), seen: make([]bool, len(rules))}
	for u, i := range rules {
		m.mate[u] = -1
		for v := range u {
			if wrong(rules[v], i) {
				m.front[u] = append(m.front[u], v)
			}
		}
	}
	alone := make([]bool, len(rules)) // paired with none in front
	for u := range rules {
		clear(m.seen)
		alone[u] = !m.augment(u)
	}
	clear(m.seen)
	reached := make([]bool, len(rules))
	for u := range rules {
		if alone[u] {
			m.reach(u, reached)
		}
	}
	for u, i := range rules {
		if reached[u] && !m.seen[u] {
			stay = append(stay, i)
		}
	}
	return stay
}

// matching pairs each rule with at most one that stands in front of it, and each with at most one
// behind it.
type matching struct {
	front [][]int // of each rule, those in front that it cannot stay with
	mate  []int   // of each rule, the one behind that it is paired with; -1 for none
	seen  []bool  // rules in front of another one that a search has come to
}

// augment pairs a rule with one in front of it, if the others can be paired otherwise.
func (m matching) augment(u int) bool {
	for _, v := range m.front[u] {
		if m.seen[v] {
			continue
		}
		if m.seen[v] = true; m.mate[v] < 0 || m.augment(m.mate[v]) {
			m.mate[v] = u
			return true
		}
	}
	return false
}

// reach follows from a rule each pair that it could be in, and from there the pair that there is.
func (m matching) reach(u int, reached []bool) {
	if reached[u] {
		return
	}
	reached[u] = true
	for _, v := range m.front[u] {
		if m.seen[v] = true; m.mate[v] >= 0 {
			m.reach(m.mate[v], reached)
		}
	}
}
