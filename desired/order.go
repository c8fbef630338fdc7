package desired

import (
	"fmt"
	"slices"
	"strings"
)

// place is where a declaration says that a rule stands among those of its phase.
type place struct {
	first, last   bool
	before, after string
}

func placeOf(o Other) (p place, is bool) {
	switch order := o.values()["order"].(type) {
	case string:
		return place{first: order == "first", last: order == "last"}, true
	case map[string]any:
		p.before, _ = order["before"].(string)
		p.after, _ = order["after"].(string)
		return p, true
	}
	return p, false
}

func (p place) String() string {
	switch {
	case p.first:
		return "first"
	case p.last:
		return "last"
	case p.before != "":
		return "before " + p.before
	}
	return "after " + p.after
}

// Contradiction says which of the rules of one phase cannot all stand as they are declared to,
// whatever else is live: their orders lead round in a circle. It is empty where they can. Where a
// rule is named that is not declared, only a plan can tell.
func Contradiction(rules []Other) (among []Other, said string) {
	places, index := make([]place, len(rules)), map[string]int{}
	for i, o := range rules {
		places[i], _ = placeOf(o)
		index[o.Key] = i
	}
	behind := make([][]int, len(rules)) // those that stand behind a rule
	for i, p := range places {
		for j, other := range places {
			if p.first && !other.first {
				behind[i] = append(behind[i], j)
			}
			if p.last && !other.last {
				behind[j] = append(behind[j], i)
			}
		}
		if j, declared := index[p.before]; declared && p.before != "" {
			behind[i] = append(behind[i], j)
		}
		if j, declared := index[p.after]; declared && p.after != "" {
			behind[j] = append(behind[j], i)
		}
	}
	var texts []string
	for _, i := range circle(behind) {
		if _, says := placeOf(rules[i]); says {
			among, texts = append(among, rules[i]), append(texts, fmt.Sprintf("%q %s", rules[i].Key, places[i]))
		}
	}
	return among, strings.Join(texts, ", ")
}

// circle are the indexes of a circle of edges, with all circles that it is in: none where there is
// none.
func circle(edges [][]int) (on []int) {
	if !circular(edges) {
		return nil
	}
	from := 0
	for !reach(edges, from)[from] {
		from++
	}
	there := reach(edges, from)
	for i := range edges {
		if there[i] && reach(edges, i)[from] {
			on = append(on, i)
		}
	}
	return on
}

// reach says to which indexes ways lead from one.
func reach(edges [][]int, from int) []bool {
	seen, next := make([]bool, len(edges)), slices.Clone(edges[from])
	for len(next) > 0 {
		i := next[len(next)-1]
		if next = next[:len(next)-1]; !seen[i] {
			seen[i], next = true, append(next, edges[i]...)
		}
	}
	return seen
}

// circular reports whether edges have a circle.
func circular(edges [][]int) bool {
	waits := make([]int, len(edges))
	for _, to := range edges {
		for _, j := range to {
			waits[j]++
		}
	}
	var free []int
	for i, n := range waits {
		if n == 0 {
			free = append(free, i)
		}
	}
	done := 0
	for ; len(free) > 0; done++ {
		i := free[len(free)-1]
		free = free[:len(free)-1]
		for _, j := range edges[i] {
			if waits[j]--; waits[j] == 0 {
				free = append(free, j)
			}
		}
	}
	return done < len(edges)
}
