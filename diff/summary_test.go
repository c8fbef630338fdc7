package diff

import (
	"fmt"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

// The digest is that of one JSON document, though it is never in memory as a whole.
func TestDigestIsOfTheWhole(t *testing.T) {
	for n := range 4 {
		p := Make(benchInput(n, 60))
		p.Commit = `"changes":[]`
		p.Problems = append(p.Problems, Problem{Reason: `"changes":[]`, Origin: desired.Origin{File: "a.cue"}})
		if len(p.Changes) != n {
			t.Fatalf("%d changes, want %d", len(p.Changes), n)
		}
		p = p.seal()
		whole := p
		whole.Deprecations = []deprecation.Notice{}
		whole.Digest, whole.GeneratedAt, whole.Requests = "", time.Time{}, Requests{ToApply: p.Requests.ToApply}
		if want := "sha256:" + fingerprint(whole); p.Digest != want {
			t.Errorf("%d changes: the digest is %s, want %s", n, p.Digest, want)
		}
	}
}

// What nobody gets to see is not digested, and comes out the same otherwise.
func TestUndigested(t *testing.T) {
	in := benchInput(3, 60)
	want := Guard(Make(in), Facts{})
	in.Undigested = true
	got := Guard(Make(in), Facts{})
	if want.Digest == "" || got.Digest != "" {
		t.Errorf("digests are %q and %q", want.Digest, got.Digest)
	}
	if got.Digest = want.Digest; fmt.Sprintf("%+v", got.Summary) != fmt.Sprintf("%+v", want.Summary) || got.digest() != want.Digest {
		t.Errorf("it is %+v, want %+v", got, want)
	}
}
