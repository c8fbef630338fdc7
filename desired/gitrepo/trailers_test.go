package gitrepo_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
)

func TestTrailers(t *testing.T) {
	u := gittest.New(t)
	u.Commit("a.cue", "a: 1\n")
	for _, test := range []struct {
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
	} {
		t.Run(test.name, func(t *testing.T) {
			commit := stored(t, u, "commit", payload(u, test.message))
			got, err := bring(t, u, commit).Trailers(commit)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) == 0 {
				got = nil
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("trailers (-want +got):\n%s", diff)
			}
			if strings.Contains(test.message, "\r") {
				return // git keeps the CR in a value
			}
			cmd := exec.Command("git", "log", "-1", "--format=%(trailers:only,unfold)", commit)
			cmd.Dir = u.Dir
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			theirs := map[string][]string{}
			for line := range strings.SplitSeq(strings.TrimSpace(string(out)), "\n") {
				if key, value, ok := strings.Cut(line, ":"); ok {
					key = strings.ToLower(key)
					theirs[key] = append(theirs[key], strings.TrimSpace(value))
				}
			}
			if len(theirs) == 0 {
				theirs = nil
			}
			if diff := cmp.Diff(theirs, got); diff != "" {
				t.Errorf("git finds others (-git +ours):\n%s", diff)
			}
		})
	}
	if _, err := open(t).Trailers(strings.Repeat("ab", 20)); !errors.Is(err, gitrepo.ErrNoCommit) {
		t.Errorf("a commit that is not here: %v", err)
	}
}
