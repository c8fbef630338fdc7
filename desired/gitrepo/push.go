package gitrepo

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/seawall-dev/seawall/desired/gitrepo/internal/transfer"
)

// Branch is one commit on top of another, for a branch that is new on the server.
type Branch struct {
	Name    string            `json:"name"`  // of the branch: NAME, or refs/heads/NAME
	Base    string            `json:"base"`  // the commit that was fetched
	Files   map[string][]byte `json:"files"` // new contents of files of Base, by their names in the repository
	Message string            `json:"message"`
	Author  Author            `json:"author"`
}

// Author is who makes a commit, and when.
type Author struct {
	Name  string    `json:"name"`
	Email string    `json:"email"`
	When  time.Time `json:"when"`
}

// Pushed is what a push came to.
type Pushed struct {
	Commit string   `json:"commit"`
	Server []string `json:"server,omitempty"` // what the server said, line by line, without credentials
}

// Push makes the commit and sends it, as a branch that the server does not have. It sends
// no more than the new objects, changes no other branch, and leaves the store as it is.
//
// Beside the errors of [Repo.Fetch] it returns [ErrNoCommit] and [ErrPathNotFound] for a
// base or a file that the store does not have, and [ErrRejected] where the server has the
// branch already or refuses it. As Fetch, it returns at once when ctx ends: call it in a
// worker.
func (r *Repo) Push(ctx context.Context, s Source, b Branch) (Pushed, error) {
	job, err := r.newFetch(s)
	if err != nil {
		return Pushed{}, err
	}
	b.Name = "refs/heads/" + strings.TrimPrefix(b.Name, "refs/heads/")
	if checkRef(b.Name) != nil {
		return Pushed{}, badSource(fmt.Sprintf("%q is not the name of a branch", b.Name), "write a name such as absorb-shop")
	}
	made, err := again(r, func() (*newObjects, error) { return r.commit(b) })
	if err != nil {
		return Pushed{}, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	said, err := until(ctx, func(ctx context.Context) ([]string, error) { return job.push(ctx, b.Name, made) })
	if err != nil {
		return Pushed{}, explainPush(ctx, job, b.Name, said, err)
	}
	return Pushed{Commit: made.tip.String(), Server: said}, nil
}

// newObjects are those that a commit adds to its base.
type newObjects struct {
	base  *filesystem.Storage
	fresh *memory.Storage
	tip   plumbing.Hash
}

// commit makes the objects of a commit, in memory.
func (r *Repo) commit(b Branch) (*newObjects, error) {
	n := &newObjects{base: openStorage(r.dir), fresh: memory.NewStorage()}
	base, err := findCommit(n.base, b.Base)
	if err != nil {
		return nil, err
	}
	tree, err := n.tree(base.TreeHash, ".", b.Files)
	if err != nil {
		if known, ok := errors.AsType[*Error](err); ok {
			known.Doing = fmt.Sprintf("changing commit %.12s", b.Base)
			return nil, err
		}
		return nil, storeError("reading", err)
	}
	who := object.Signature{Name: b.Author.Name, Email: b.Author.Email, When: b.Author.When}
	commit := object.Commit{Author: who, Committer: who, Message: b.Message, TreeHash: tree, ParentHashes: []plumbing.Hash{base.Hash}}
	n.tip, err = n.add(&commit)
	return n, err
}

// tree is a tree with other contents of some files, by their names below it.
func (n *newObjects) tree(hash plumbing.Hash, at string, files map[string][]byte) (plumbing.Hash, error) {
	old, err := object.GetTree(n.base, hash)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	own, below := map[string][]byte{}, map[string]map[string][]byte{}
	for name, content := range files {
		folder, rest, nested := strings.Cut(name, "/")
		if !nested {
			own[name] = content
			continue
		}
		if below[folder] == nil {
			below[folder] = map[string][]byte{}
		}
		below[folder][rest] = content
	}
	changed := object.Tree{Entries: slices.Clone(old.Entries)}
	for i, e := range changed.Entries {
		content, isOwn := own[e.Name]
		switch {
		case isOwn && isFile(e.Mode):
			changed.Entries[i].Hash, err = n.blob(content)
			delete(own, e.Name)
		case below[e.Name] != nil && e.Mode == filemode.Dir:
			changed.Entries[i].Hash, err = n.tree(e.Hash, path.Join(at, e.Name), below[e.Name])
			delete(below, e.Name)
		}
		if err != nil {
			return plumbing.ZeroHash, err
		}
	}
	for name := range own {
		return plumbing.ZeroHash, &Error{Kind: ErrPathNotFound, Reason: fmt.Sprintf("it has no file %s", path.Join(at, name))}
	}
	for name := range below {
		return plumbing.ZeroHash, &Error{Kind: ErrPathNotFound, Reason: fmt.Sprintf("it has no folder %s", path.Join(at, name))}
	}
	return n.add(&changed)
}

func (n *newObjects) blob(content []byte) (plumbing.Hash, error) {
	o := new(plumbing.MemoryObject)
	o.SetType(plumbing.BlobObject)
	_, _ = o.Write(content) // to memory
	return n.fresh.SetEncodedObject(o)
}

func (n *newObjects) add(what object.Object) (plumbing.Hash, error) {
	o := new(plumbing.MemoryObject)
	if err := what.Encode(o); err != nil {
		return plumbing.ZeroHash, err
	}
	return n.fresh.SetEncodedObject(o)
}

// maxSaid bounds what is kept of a server's words, in bytes and lines.
const (
	maxSaid      = 8 << 10
	maxSaidLines = 12
)

// words keeps the beginning of what is written to it.
type words struct{ bytes.Buffer }

func (w *words) Write(p []byte) (int, error) {
	w.Buffer.Write(p[:min(len(p), max(0, maxSaid-w.Len()))])
	return len(p), nil
}

// errExists is a branch that the server has already.
var errExists = errors.New("the branch exists already")

// push sends the objects, and returns what the server said.
func (f *fetch) push(ctx context.Context, branch string, n *newObjects) ([]string, error) {
	var said words
	err := f.talk(ctx, transfer.Options{Push: true}, func(t *transfer.Transfer) error { //nolint:contextcheck // the transfer has a context of ctx, with its bounds
		said.Reset()
		session, err := receiver(f.address.url, t)
		if err != nil {
			return err
		}
		defer session.Close()
		refs, err := session.AdvertisedReferencesContext(t.Context())
		if err != nil {
			return err
		}
		switch have, exists := refs.References[branch]; {
		case exists && have == n.tip:
			return nil // of an earlier try
		case exists:
			return errExists
		}
		request, err := n.request(branch, refs.Capabilities, &said)
		if err != nil {
			return err
		}
		_, err = session.ReceivePack(t.Context(), request)
		return err
	})
	var lines []string
	for line := range strings.Lines(f.scrub(said.String())) {
		if line = strings.TrimSpace(line); line != "" && len(lines) < maxSaidLines {
			lines = append(lines, line)
		}
	}
	return lines, err
}

func receiver(url string, t *transfer.Transfer) (transport.ReceivePackSession, error) {
	ep, err := transport.NewEndpoint(url)
	if err != nil {
		return nil, err
	}
	c, err := client.NewClient(ep)
	if err != nil {
		return nil, err
	}
	return c.NewReceivePackSession(ep, t)
}

// request asks to create the branch.
func (n *newObjects) request(branch string, offered *capability.List, said io.Writer) (*packp.ReferenceUpdateRequest, error) {
	request := packp.NewReferenceUpdateRequestFromCapabilities(offered)
	if offered.Supports(capability.Sideband64k) {
		if err := request.Capabilities.Set(capability.Sideband64k); err != nil {
			return nil, err
		}
		request.Progress = said
	}
	request.Commands = []*packp.Command{{Name: plumbing.ReferenceName(branch), Old: plumbing.ZeroHash, New: n.tip}}
	var pack bytes.Buffer
	if _, err := packfile.NewEncoder(&pack, n.fresh, false).Encode(slices.Collect(maps.Keys(n.fresh.Objects)), 0); err != nil {
		return nil, err
	}
	request.Packfile = io.NopCloser(&pack)
	return request, nil
}

// explainPush is [fetch.explain] for a push.
func explainPush(ctx context.Context, f *fetch, branch string, said []string, err error) error {
	const write = "the credential in source.auth may have to be allowed to write to the repository; a deploy key is often for reading only"
	var e *Error
	if !errors.As(f.explain(ctx, err), &e) {
		return err
	}
	name := strings.TrimPrefix(branch, "refs/heads/")
	e.Doing = fmt.Sprintf("pushing branch %s to %s", name, f.address.display)
	refused, byHook := strings.CutPrefix(err.Error(), "command error on "+branch+": ")
	switch {
	case errors.Is(err, errExists):
		e.Kind, e.Reason, e.Hint = ErrRejected, errExists.Error(), "choose another name with --branch, or delete the branch on the server"
	case byHook:
		e.Kind, e.Reason, e.Hint = ErrRejected, strings.Join(append([]string{firstLine(f.scrub(refused))}, said...), ": "), "the server has a rule against it: choose another name with --branch, or ask who runs the server"
	case e.Kind == ErrAuth, e.Kind == ErrFetch, e.Kind == ErrNotFound:
		e.Hint = write
	}
	return e
}

// Identity is who makes commits here, as git would say: by GIT_AUTHOR_NAME and
// GIT_AUTHOR_EMAIL, or the configuration of the user. What is not said there is empty.
func Identity() (name, email string) {
	c, err := config.LoadConfig(config.GlobalScope)
	if err != nil { // git would refuse to work with it; a commit needs no more than a name
		c = config.NewConfig()
	}
	name = cmp.Or(os.Getenv("GIT_AUTHOR_NAME"), c.Author.Name, c.User.Name)
	email = cmp.Or(os.Getenv("GIT_AUTHOR_EMAIL"), c.Author.Email, c.User.Email)
	return name, email
}
