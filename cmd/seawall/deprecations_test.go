package main

import (
	"testing"
)

func TestParseDays(t *testing.T) {
	for text, want := range map[string]int{"": -1, "0d": 0, "90d": 90, "12w": 84, "48h": 2} {
		if got, err := parseDays(text); got != want || err != nil {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"d", "90", "-1d", "1.5d", "3m", "99999999999d", "9223372036854775807w"} {
		if got, err := parseDays(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}
