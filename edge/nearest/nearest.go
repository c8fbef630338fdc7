// Package nearest finds the word that someone meant who wrote another one, for
// hints of the kind "did you mean". It is pure and knows nothing of what the
// words are about.
package nearest

import (
	"fmt"
	"strings"
)

// Word returns the candidate that word is most likely a misspelling of: at most
// two slips away, three for words over twelve letters, and never more than half
// of a short word. Case counts for nothing. It is empty where none is that
// close: a hint that leads astray is worse than none.
func Word(word string, candidates []string) string {
	best, limit := "", min(2, len(word)/2)
	if len(word) > 12 {
		limit = 3
	}
	for _, c := range candidates {
		if c == word {
			continue
		}
		if d := distance(strings.ToLower(word), strings.ToLower(c), limit); d <= limit && (best == "" || d < limit) {
			best, limit = c, d
		}
	}
	return best
}

// Hint asks whether the nearest candidate was meant; where none is close, it says otherwise.
func Hint(word string, candidates []string, otherwise string) string {
	if near := Word(word, candidates); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return otherwise
}

// distance counts insertions, deletions, changes and swaps of neighbours that
// turn a into b, or returns more than limit once it is sure to be more.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > limit || len(y)-len(x) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(y); j++ {
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differ(x[i-1], y[j-1]))
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit+1 { // a swap may still save one
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}

func differ(a, b rune) int {
	if a == b {
		return 0
	}
	return 1
}
