package diff

import (
	"fmt"
	"maps"
	"slices"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// cmpHint returns the first hint that says something.
func cmpHint(hints ...string) string {
	for _, h := range hints {
		if h != "" {
			return h
		}
	}
	return ""
}

// didYouMean returns a hint naming the candidate nearest to name, or nothing
// when none is near enough to be a slip of the hand.
func didYouMean(name string, candidates []string) string {
	best, at := "", max(2, len(name)/3)+1
	for _, c := range candidates {
		if d := distance(name, c, at); d < at {
			best, at = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", best)
}

// distance is the Levenshtein distance of a and b, or bound once it is sure
// to be at least that.
func distance(a, b string, bound int) int {
	if len(a)-len(b) >= bound || len(b)-len(a) >= bound {
		return bound
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal, least := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
			least = min(least, row[j+1])
		}
		if least >= bound {
			return bound
		}
	}
	return row[len(b)]
}
