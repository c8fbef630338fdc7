package review

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff/guard"
)

// The status of a head can gate a merge: pending while a person must agree, success when
// one has, failure when a merge would not be applied.
func TestStatusGates(t *testing.T) {
	f := newFixture(t, 1)
	f.approvedBy("alice", "bob")
	f.Guards.Rules = []guard.Rule{{Name: "weak", Approve: guard.ApproveWeakening}}
	f.converge("c1", fleetZone(1, core("xss")))
	f.open(1, "p1", fleetZone(1, core("xss", "sqli")))
	f.round()
	wantMark := func(want string) {
		t.Helper()
		if len(f.forge.marks) == 0 || f.forge.marks[len(f.forge.marks)-1] != want {
			t.Errorf("marks %q, want the last to be %q", f.forge.marks, want)
		}
	}
	wantMark("p1 seawall/plan pending: 1 change waits for an approving review by alice or bob")
	comment := f.forge.comments[1]
	for _, want := range []string{"**waits for approval**", "An approving review by `alice` or `bob` releases it, unless that is the author."} {
		if !strings.Contains(comment, want) {
			t.Errorf("%q is not in\n%s", want, comment)
		}
	}
	var digests []string
	for _, word := range strings.FieldsFunc(comment, func(r rune) bool { return strings.ContainsRune("` \n.", r) }) {
		if strings.HasPrefix(word, "sha256:") && !slices.Contains(digests, word) {
			digests = append(digests, word)
		}
	}
	if len(digests) != 1 {
		t.Errorf("the comment has the digests %q, want one:\n%s", digests, comment)
	}

	f.clock.advance(time.Second)
	f.forge.approve(1, "p1", f.clock.Now(), "bob")
	f.round()
	wantMark("p1 seawall/plan success: 1 zone: 1 to change, 1 of them weakening")

	f.open(1, "p2", fleetZone(1, core("no-such-tag")))
	f.round()
	wantMark("p2 seawall/plan failure: a merge would not apply 1 change; 1 zone: 1 blocked")

	f.open(1, "p3")
	f.forge.pulls[0].Head = "p3"
	delete(f.heads.at, 1)
	f.heads.failed[1] = errors.New("it has an object of 1 GiB")
	f.round()
	wantMark("p3 seawall/plan failure: this pull request cannot be read")
}
