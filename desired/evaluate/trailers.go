package evaluate

import (
	"context"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/signature"
)

// toReadTrailers reads the approvals in the message of a commit.
var toReadTrailers = call[readingTrailers, Trailers]{"reading trailers", readingTrailers.read}

// readingTrailers asks for the approvals in a commit's message, if a trusted key
// has signed it.
type readingTrailers struct {
	Store  string
	Commit string
	Trust  signature.Trust
}

// Trailers are the approvals in the message of a commit.
type Trailers struct {
	Who     string   // signed it
	Text    string   // stands for what was signed; see [signature.Object.Text]
	Digests []string // sorted, each once
}

// approvalTrailer is the key of the trailer that approves of a digest.
const approvalTrailer = "seawall-approve"

func (r readingTrailers) read(context.Context) (Trailers, error) {
	repo := gitrepo.Reader(r.Store)
	found, err := repo.Trailers(r.Commit)
	if err != nil || len(found[approvalTrailer]) == 0 {
		return Trailers{}, err
	}
	signer, err := repo.Signer(r.Commit, r.Trust, time.Now())
	if err != nil {
		return Trailers{}, err
	}
	text, err := repo.Text(r.Commit)
	if err != nil {
		return Trailers{}, err
	}
	digests := slices.Compact(slices.Sorted(slices.Values(found[approvalTrailer])))
	return Trailers{Who: signer.Principal + " (" + signer.Fingerprint + ")", Text: text, Digests: digests}, nil
}
