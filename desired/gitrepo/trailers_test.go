package gitrepo_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestTrailers(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	u.Commit("a.cue", "a: 1\n")
	tests := []struct {
		name, message string
		want          map[string][]string
	}{
		{"none", "Change\n", nil},
		{"the subject is none", "Approved-by: Ada\n", nil},
		{"one", "Change\n\nApproved: sha256:12\n", map[string][]string{"approved": {"sha256:12"}}},
		{"several", "Change\n\nText: not here\n\nA-b: 1\nC:2\na-B:  3 \n", map[string][]string{"a-b": {"1", "3"}, "c": {"2"}}},
		{"not the last paragraph", "Change\n\nApproved: x\n\nMore text.\n", nil},
		{"among prose", "Change\n\nThis is\nApproved: x\nto nobody\n", nil},
		{"among prose, with git's own", "Change\n\nthis is\nApproved: x\nSigned-off-by: A <a@b>\n", map[string][]string{"approved": {"x"}, "signed-off-by": {"A <a@b>"}}},
		{"continued", "Change\n\nApproved: a\n  b\n\tc\nX: y\n", map[string][]string{"approved": {"a b c"}, "x": {"y"}}},
		{"indented", "Change\n\n Approved: a\n", nil},
		{"spaced key", "Change\n\nApproved by: a\n", nil},
		{"empty", "Change\n\nApproved:\n", map[string][]string{"approved": {""}}},
		{"CRLF", "Change\r\n\r\nApproved: a\r\nX: y\r\n", map[string][]string{"approved": {"a"}, "x": {"y"}}},
		{"blank lines behind", "Change\n\nApproved: a\n\n \n", map[string][]string{"approved": {"a"}}},
		{"a header's look", "Change\n\nparent 1\n\ngpgsig x\n", nil},
	}
	var all []string
	for _, test := range tests {
		all = append(all, payload(u, test.message))
	}
	r, commits := brought(t, u, all...)
	found := strings.Split(u.Git(append([]string{"log", "--no-walk=unsorted", "--format=%x00%(trailers:only,unfold)"}, commits...)...), "\x00")[1:]
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := r.Trailers(commits[i])
			must.Do(t, err)
			if len(got) == 0 {
				got = nil
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("trailers (-want +got):\n%s", diff)
			}
			if strings.Contains(test.message, "\r") {
				return // git keeps the CR in a value
			}
			if diff := cmp.Diff(trailersIn(found[i]), got); diff != "" {
				t.Errorf("git finds others (-git +ours):\n%s", diff)
			}
		})
	}
	if _, err := open(t).Trailers(strings.Repeat("ab", 20)); !errors.Is(err, gitrepo.ErrNoCommit) {
		t.Errorf("a commit that is not here: %v", err)
	}
}

// trailersIn are the trailers that git prints; nil for none.
func trailersIn(text string) map[string][]string {
	var found map[string][]string
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if key, value, ok := strings.Cut(line, ":"); ok {
			if found == nil {
				found = map[string][]string{}
			}
			key = strings.ToLower(key)
			found[key] = append(found[key], strings.TrimSpace(value))
		}
	}
	return found
}
