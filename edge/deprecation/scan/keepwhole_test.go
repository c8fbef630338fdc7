package scan

import (
	"slices"
	"strings"
	"testing"
)

// A rule may be about a header or a body alone, and then the target says nothing.
func TestKeepWhole(t *testing.T) {
	const plain = "POST /anything {\"notification_email\":\"a@b.example\"}\nGET /anything\n"
	refuse := func([]byte) bool { return false }
	for _, whole := range []bool{false, true} {
		got, _ := scanned(t, "plain", plain, Options{Keep: refuse, KeepWhole: whole})
		post := slices.ContainsFunc(got, func(c string) bool { return strings.Contains(c, "POST") })
		if post != whole || len(got) > 1 {
			t.Errorf("KeepWhole %v hands on %q", whole, got)
		}
	}
}
