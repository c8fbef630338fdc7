package evaluate

import (
	"log/slog"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/signature"
	"github.com/seawall-dev/seawall/integration/must"
)

// Without a policy anybody could write a trailer, so none is read.
func TestTrailersOfUnverifiedSources(t *testing.T) {
	p := newPulled(t)
	p.Git("commit", "-q", "--allow-empty", "-m", "Weaker", "-m", "Seawall-Approve: sha256:00")
	r, err := OpenRepository(t.TempDir(), p.heads.remote, slog.New(slog.DiscardHandler))
	must.Do(t, err)
	commit, err := r.Fetch(t.Context())
	must.Do(t, err)
	if read, err := r.Trailers(t.Context(), commit); err != nil || len(read.Digests) > 0 {
		t.Errorf("approved %v, %v", read.Digests, err)
	}
	r.remote.Policy = &gitrepo.Policy{Trust: signature.Trust{SSH: "/nowhere/signers"}}
	if read, err := r.Trailers(t.Context(), commit); err == nil || len(read.Digests) > 0 {
		t.Errorf("without keys: approved %v, %v", read.Digests, err)
	}
}
