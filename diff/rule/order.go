package rule

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// order is where a rule says that it stands among the rules of its phase; the zero value says
// nothing, and the rule stays where it is.
type order struct {
	First, Last   bool
	Before, After string // the ref of another rule, somewhere in front of or behind which it stands
}

// UnmarshalJSON reads "first", "last", {"before": REF} or {"after": REF}.
func (o *order) UnmarshalJSON(data []byte) error {
	var word string
	if json.Unmarshal(data, &word) == nil {
		*o = order{First: word == "first", Last: word == "last"}
		if *o == (order{}) {
			return fmt.Errorf("the order %q is not known", word)
		}
		return nil
	}
	var of struct{ Before, After string }
	if err := json.Unmarshal(data, &of); err != nil {
		return err
	}
	*o = order{Before: of.Before, After: of.After}
	return nil
}

// placed is a rule that is to be arranged.
type placed struct {
	ref     string
	order   order
	foreign bool  // it is not declared, and does not move
	live    bool  // it is there; else it is to be added
	ahead   []int // the rules in front of which it stands, by their indexes, whatever its order says
}

// arrange returns the order in which all rules stand as they say, by their indexes, and which of
// the live ones stay in it. Rules are the live ones in their order, then those to be added. As
// few as can be told move: rules of others never do. An error is that there is no such order.
func arrange(rules []placed) (target []int, stay []bool, err error) {
	if inOrder(rules) {
		target, stay = make([]int, len(rules)), make([]bool, len(rules))
		for i := range rules {
			target[i], stay[i] = i, true
		}
		return target, stay, nil
	}
	front, err := precedence(rules)
	if err != nil {
		return nil, nil, err
	}
	stay = staying(rules, front)
	front.chain(stay)
	return sorted(rules, front, stay), stay, nil
}

// inOrder reports whether all rules are live, and stand as they say. That is so most often, and
// takes one look at each.
func inOrder(rules []placed) bool {
	index := make(map[string]int, len(rules))
	for i, r := range rules {
		index[r.ref] = i
	}
	for i, r := range rules {
		at, named := index[cmp.Or(r.order.Before, r.order.After)]
		switch {
		case !r.live,
			r.order.First && i > 0 && !rules[i-1].order.First,
			i > 0 && rules[i-1].order.Last && !r.order.Last,
			r.order.Before != "" && (!named || at <= i),
			r.order.After != "" && (!named || at >= i),
			slices.ContainsFunc(r.ahead, func(j int) bool { return j < i }):
			return false
		}
	}
	return true
}

// relation says of each rule in front of which others it stands, if only somewhere: a bit for
// each of them.
type relation [][]uint64

func (r relation) has(i, j int) bool { return r[i][j/64]&(1<<(j%64)) != 0 }

func (r relation) put(i, j int) { r[i][j/64] |= 1 << (j % 64) }

// close adds what follows: a rule stands in front of what those stand in front of.
func (r relation) close() {
	for k := range r {
		for i := range r {
			if r.has(i, k) {
				for w := range r[k] {
					r[i][w] |= r[k][w]
				}
			}
		}
	}
}

// chain adds that some rules keep their order.
func (r relation) chain(those []bool) {
	last := -1
	for i, is := range those {
		if is && last >= 0 {
			r.put(last, i)
		}
		if is {
			last = i
		}
	}
	r.close()
}

// precedence is what rules say, and that those of others keep their order. An error names the
// rules that say what cannot be.
func precedence(rules []placed) (relation, error) {
	index, foreign := make(map[string]int, len(rules)), make([]bool, len(rules))
	front := make(relation, len(rules))
	for i, r := range rules {
		index[r.ref], foreign[i] = i, r.foreign
		front[i] = make([]uint64, len(rules)/64+1)
	}
	for i, r := range rules {
		for j, other := range rules {
			if r.order.First && !other.order.First {
				front.put(i, j)
			}
			if r.order.Last && !other.order.Last {
				front.put(j, i)
			}
		}
		for _, j := range r.ahead {
			front.put(i, j)
		}
		if ref := cmp.Or(r.order.Before, r.order.After); ref != "" {
			j, there := index[ref]
			if !there {
				return nil, fmt.Errorf("the order of %q names the rule %q, which is not there", r.ref, ref)
			}
			if r.order.Before != "" {
				front.put(i, j)
			} else {
				front.put(j, i)
			}
		}
	}
	front.chain(foreign)
	for i, r := range rules {
		if front.has(i, i) && !r.foreign {
			return nil, fmt.Errorf("the rules contradict each other: %s", strings.Join(front.contradiction(rules, i), ", "))
		}
	}
	return front, nil
}

// contradiction is what the rules say that would have to stand in front of themselves, one of
// which is i.
func (r relation) contradiction(rules []placed, i int) (said []string) {
	for j, rule := range rules {
		if r.has(i, j) && r.has(j, i) && rule.order != (order{}) {
			said = append(said, fmt.Sprintf("%q %s", rule.ref, rule.order))
		}
		if r.has(i, j) && r.has(j, i) && len(rule.ahead) > 0 {
			said = append(said, fmt.Sprintf("%q before the execute rule of its deployment", rule.ref))
		}
	}
	return said
}

// staying chooses the live rules that do not move: those of others, then as many as can stay of
// the declared ones that say nothing, and then of those that do. No two of them stand the wrong
// way round.
func staying(rules []placed, front relation) []bool {
	stay := make([]bool, len(rules))
	for i, r := range rules {
		stay[i] = r.live && r.foreign
	}
	wrong := func(i, j int) bool { return front.has(max(i, j), min(i, j)) }
	fits := func(i int) bool {
		for j := range rules {
			if stay[j] && wrong(i, j) {
				return false
			}
		}
		return true
	}
	for _, says := range []bool{false, true} {
		var candidates []int
		for i, r := range rules {
			if r.live && !r.foreign && (r.order != order{}) == says && fits(i) {
				candidates = append(candidates, i)
			}
		}
		for _, i := range fewest(candidates, wrong) {
			stay[i] = true
		}
	}
	return stay
}

// sorted is an order as a relation says. Rules that stay come as soon as they can; one that is
// to stand behind another comes directly behind it, and one that is to stand in front of another
// directly in front. What says nothing comes last.
func sorted(rules []placed, front relation, stay []bool) (target []int) {
	waits, done := make([]int, len(rules)), make([]bool, len(rules)) // for so many others
	for i := range rules {
		for j := range rules {
			if front.has(i, j) {
				waits[j]++
			}
		}
	}
	for range rules {
		head := -1 // the next one that stays
		for i := range rules {
			if stay[i] && !done[i] {
				head = i
				break
			}
		}
		next, best := -1, 0
		for i := range rules {
			if done[i] || waits[i] > 0 {
				continue
			}
			if rank := rankOf(rules[i], i, head, front); next < 0 || rank < best {
				next, best = i, rank
			}
		}
		done[next] = true
		target = append(target, next)
		for j := range rules {
			if front.has(next, j) {
				waits[j]--
			}
		}
	}
	return target
}

// rankOf is how soon a rule comes among those that can come next; head is the next one that stays.
func rankOf(r placed, i, head int, front relation) int {
	switch {
	case r.order.First || r.order.After != "":
		return 0
	case i == head:
		return 1
	case head >= 0 && front.has(i, head):
		return 2
	default:
		return 3
	}
}

// String is the order as people read it.
func (o order) String() string {
	switch {
	case o.First:
		return "first"
	case o.Last:
		return "last"
	case o.Before != "":
		return "before " + o.Before
	case o.After != "":
		return "after " + o.After
	default:
		return ""
	}
}

// readOrder reads where the declaration says that the rule stands.
func (w *wanted) readOrder() error {
	data, err := json.Marshal(w.values[string(orderMember)])
	if err != nil {
		return err
	}
	return json.Unmarshal(data, &w.order)
}
