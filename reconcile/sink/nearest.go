package sink

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// instead helps whoever named a sink that is not there.
func (s *Sinks) instead(name string) string {
	names := slices.Sorted(maps.Keys(s.byName))
	if len(names) == 0 {
		return ", which has none"
	}
	near := slices.MinFunc(names, func(a, b string) int { return distance(name, a) - distance(name, b) })
	if distance(name, near) <= max(2, len(name)/3) {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return fmt.Sprintf(" (it has %s)", strings.Join(names, ", "))
}

// distance is the Levenshtein distance of two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
