package nearest

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestWord(t *testing.T) {
	actions := []string{"block", "managed_challenge", "js_challenge", "log", "challenge"}
	for word, want := range map[string]string{
		"blok": "block", "Block": "block", "blcok": "block", "manage_challenge": "managed_challenge", "chalenge": "challenge",
		"lgo": "log", "managed_chalenges": "managed_challenge", "drop": "", "x": "", "": "", "quarantine": "", "js": "",
	} {
		if got := Word(word, actions); got != want {
			t.Errorf("%q is taken for %q, want %q", word, got, want)
		}
	}
	if got := Word("block", []string{"block", "blocks"}); got != "blocks" {
		t.Errorf("a word is never a misspelling of itself: %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"abc", "abd", 1}, {"abc", "acb", 1}, {"abcd", "badc", 2}, {"kitten", "sitting", 3}, {"grün", "grun", 1},
	} {
		if got := distance(c.a, c.b, 9); got != c.want {
			t.Errorf("%q to %q is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// The bound saves work and changes nothing up to it; distances are symmetric.
func TestDistanceIsBounded(t *testing.T) {
	words := rapid.StringOfN(rapid.SampledFrom([]rune("abcd")), 0, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b, limit := words.Draw(t, "a"), words.Draw(t, "b"), rapid.IntRange(0, 8).Draw(t, "limit")
		whole := distance(a, b, 99)
		if got := distance(a, b, limit); got != whole && (got <= limit || whole <= limit) {
			t.Fatalf("%q to %q is %d, and %d when bounded by %d", a, b, whole, got, limit)
		}
		if distance(b, a, 99) != whole {
			t.Fatalf("%q to %q is not the way back", a, b)
		}
	})
}

func TestTexts(t *testing.T) {
	rules := []string{"WordPress login brute force", "SQL injection by a union", "Login, WordPress: many tries", "", "Path traversal"}
	for text, want := range map[string][]int{
		"wordpress login": {2, 0}, "LOGIN WORDPRESS brute-force": {0, 2}, "sql-injection": {1}, "traversal of paths": {4}, "zzz": nil, "": nil,
	} {
		if got := Texts(text, rules, 3); !slices.Equal(got, want) {
			t.Errorf("%q is like %v, want %v", text, got, want)
		}
	}
	if got := Texts("WordPress login", rules, 1); !slices.Equal(got, []int{2}) {
		t.Errorf("of one, it is %v", got)
	}
}
