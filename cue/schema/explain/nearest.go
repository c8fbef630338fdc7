package explain

import "strings"

// Nearest returns the candidate that word is most likely a misspelling of: at
// most two edits away, three for words over twelve letters, and never more
// than half of a short word. It is empty when none is that close.
func Nearest(word string, candidates []string) string {
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

// distance counts insertions, deletions, changes and swaps of neighbours that
// turn a into b. Words whose lengths alone are too far apart are not compared.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if abs(len(x)-len(y)) > limit || len(x) > 200 {
		return limit + 1
	}
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}

func abs(n int) int { return max(n, -n) }
