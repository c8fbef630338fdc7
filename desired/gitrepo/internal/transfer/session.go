package transfer

import (
	"context"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// session is go-git's session, which says when it waits for the server.
type session struct {
	transport.UploadPackSession
	transfer *Transfer
}

// AdvertisedReferences implements transport.Session.
func (s session) AdvertisedReferences() (*packp.AdvRefs, error) {
	return s.AdvertisedReferencesContext(s.transfer.ctx)
}

// AdvertisedReferencesContext implements transport.Session.
func (s session) AdvertisedReferencesContext(ctx context.Context) (*packp.AdvRefs, error) {
	defer s.transfer.await()()
	all, err := s.UploadPackSession.AdvertisedReferencesContext(ctx)
	if err != nil || s.transfer.Refs == nil {
		return all, err
	}
	return only(all, s.transfer.Refs), nil
}

// only leaves refs of exactly these names. Left to itself, go-git takes a
// server's refs/tags/refs/heads/main for refs/heads/main where there is no such
// branch.
func only(all *packp.AdvRefs, names []string) *packp.AdvRefs {
	few := *all
	few.References = map[string]plumbing.Hash{}
	for _, name := range names {
		if hash, ok := all.References[name]; ok {
			few.References[name] = hash
		} else if name == plumbing.HEAD.String() && all.Head != nil {
			few.References[name] = *all.Head
		}
	}
	// Where HEAD points to does not matter: its commit is known.
	few.Head = nil
	few.Capabilities.Delete(capability.SymRef)
	return &few
}

// UploadPack implements transport.UploadPackSession.
func (s session) UploadPack(ctx context.Context, req *packp.UploadPackRequest) (*packp.UploadPackResponse, error) {
	defer s.transfer.await()()
	response, err := s.UploadPackSession.UploadPack(ctx, req)
	if err != nil {
		return nil, err
	}
	counted := packp.NewUploadPackResponseWithPackfile(req, body{response, s.transfer})
	counted.ShallowUpdate, counted.ServerResponse = response.ShallowUpdate, response.ServerResponse
	return counted, nil
}

// body is the pack that a server sends.
type body struct {
	io.ReadCloser
	transfer *Transfer
}

func (b body) Read(p []byte) (int, error) {
	defer b.transfer.await()() // which begins anew with each piece
	return b.ReadCloser.Read(p)
}
