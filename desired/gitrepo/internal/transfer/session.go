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
	if err != nil {
		return all, err
	}
	if s.transfer.Advertised != nil {
		err = s.transfer.Advertised(all.References, all.Peeled)
	}
	if s.transfer.Refs != nil {
		all = only(all, s.transfer.Refs)
	}
	return all, err
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
		}
	}
	// HEAD is never asked for.
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
	counted := packp.NewUploadPackResponseWithPackfile(req, &body{response, s.transfer})
	counted.ShallowUpdate, counted.ServerResponse = response.ShallowUpdate, response.ServerResponse
	return counted, nil
}

// body is the pack that a server sends.
type body struct {
	io.ReadCloser
	transfer *Transfer
}

func (b *body) Read(p []byte) (int, error) {
	defer b.transfer.await()() // which begins anew with each piece
	return b.ReadCloser.Read(p)
}

// Close has a program that still sends a refused pack killed, as go-git does when a read
// fails: it would be waited for, and it for us.
func (b *body) Close() error {
	if b.transfer.refused.Load() {
		b.transfer.cancel()
		_, _ = io.Copy(io.Discard, io.LimitReader(b.ReadCloser, 1<<20)) // what is buffered, and then an error
	}
	return b.ReadCloser.Close()
}

// pushSession is go-git's session for a push, which says when it waits for the server.
type pushSession struct {
	transport.ReceivePackSession
	transfer *Transfer
}

// AdvertisedReferencesContext implements transport.Session.
func (s pushSession) AdvertisedReferencesContext(ctx context.Context) (*packp.AdvRefs, error) {
	defer s.transfer.await()()
	return s.ReceivePackSession.AdvertisedReferencesContext(ctx)
}

// ReceivePack implements transport.ReceivePackSession.
func (s pushSession) ReceivePack(ctx context.Context, req *packp.ReferenceUpdateRequest) (*packp.ReportStatus, error) {
	defer s.transfer.await()()
	return s.ReceivePackSession.ReceivePack(ctx, req)
}
