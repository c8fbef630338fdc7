package nearest

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// leastLike is how alike two texts must be for one to be named where the other was meant,
// of 0 to 1.
const leastLike = 0.2

// Texts returns the places of at most n candidates that are most like a text, the most
// alike first, and before them one that [Word] finds. Texts are alike where they share pieces of words, in any order: so
// "WordPress login" is like "Login brute force, WordPress". Case and signs count for
// nothing. Candidates that are hardly like it are left out.
func Texts(text string, candidates []string, n int) []int {
	type scored struct {
		place int
		score float64
	}
	var all []scored
	want := pieces(text)
	for i, c := range candidates {
		if score := alike(want, pieces(c)); score >= leastLike {
			all = append(all, scored{i, score})
		}
	}
	if slip := slices.Index(candidates, Word(text, candidates)); slip >= 0 && candidates[slip] != "" {
		all = append(slices.DeleteFunc(all, func(s scored) bool { return s.place == slip }), scored{slip, 2})
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var places []int
	for _, s := range all[:min(n, len(all))] {
		places = append(places, s.place)
	}
	return places
}

// pieces are the pieces of three letters of each word, which begins and ends with a blank.
func pieces(text string) map[string]bool {
	found := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		runes := []rune(" " + word + " ")
		for i := 0; i+3 <= len(runes); i++ {
			found[string(runes[i:i+3])] = true
		}
	}
	return found
}

// alike is the share of pieces that two texts have in common (Dice's coefficient).
func alike(a, b map[string]bool) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	shared := 0
	for piece := range a {
		if b[piece] {
			shared++
		}
	}
	return 2 * float64(shared) / float64(len(a)+len(b))
}
