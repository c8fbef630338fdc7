package evaluate

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/signature"
	"github.com/seawall-dev/seawall/desired/worker"
)

// jobTrailers reads the approvals in the message of a commit.
const jobTrailers = "trailers"

// readingTrailers asks for the approvals in a commit's message, if a trusted key
// has signed it.
type readingTrailers struct {
	Store  string
	Commit string
	Trust  signature.Trust
}

type trailersRead struct {
	Who     string
	Digests []string // sorted
	Git     *gitrepo.Error
}

// approvalTrailer is the key of the trailer that approves of a digest.
const approvalTrailer = "seawall-approve"

func trailersJob(_ context.Context, in []byte, out *worker.Output) error {
	var r readingTrailers
	if err := json.Unmarshal(in, &r); err != nil {
		return err
	}
	return step(out, "reading trailers", func() any { return r.read() })
}

func (r readingTrailers) read() trailersRead {
	repo := gitrepo.Reader(r.Store)
	found, err := repo.Trailers(r.Commit)
	if err != nil || len(found[approvalTrailer]) == 0 {
		return trailersRead{Git: gitErrorOrNone(err)}
	}
	signer, err := repo.Signer(r.Commit, r.Trust, time.Now())
	if err != nil {
		return trailersRead{Git: asGitError("reading trailers", err)}
	}
	digests := slices.Clone(found[approvalTrailer])
	slices.Sort(digests)
	return trailersRead{Who: signer.Principal + " (" + signer.Fingerprint + ")", Digests: digests}
}

func gitErrorOrNone(err error) *gitrepo.Error {
	if err == nil {
		return nil
	}
	return asGitError("reading trailers", err)
}
