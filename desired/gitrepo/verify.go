package gitrepo

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/seawall-dev/seawall/desired/failure"
	"github.com/seawall-dev/seawall/desired/gitrepo/signature"
)

// Require says which signatures a commit needs.
type Require string

// The values of [Require].
const (
	RequireHead Require = "head" // on the commit itself
	RequireTag  Require = "tag"  // on an annotated tag of it
	RequireBoth Require = "both"
)

// Policy is what a commit must show before it is acted on.
type Policy struct {
	signature.Trust
	Require Require `json:"require,omitempty"` // zero is RequireHead
	// Ref is the ref that is followed. Where it is a tag (refs/tags/…), that tag
	// alone counts, under its own name; otherwise any tag of the commit does.
	Ref string `json:"ref,omitempty"`
}

// Tags reports whether the policy needs [Source.Tags].
func (p Policy) Tags() bool { return p.Require == RequireTag || p.Require == RequireBoth }

// Accept is [Source.Accept] for commits that this policy wants to be signed; nil where
// only tags count, which come after the commit. The files of keys are read when a commit
// is judged. Its errors are those of [Repo.Verify], which is to be asked all the same.
func (p Policy) Accept(now time.Time) func(raw []byte) error {
	if p.Require == RequireTag {
		return nil
	}
	return func(raw []byte) error {
		keys, err := p.Read()
		if err != nil {
			return refused("", err)
		}
		signed, err := signature.ReadCommit(raw)
		if err == nil {
			_, err = keys.Verify(signed, now)
		}
		if err != nil {
			return refused(fmt.Sprintf("verifying commit %.12s", plumbing.ComputeHash(plumbing.CommitObject, raw)), err)
		}
		return nil
	}
}

// Verify checks a commit against a policy. Keys must be valid at now, whatever
// time a signature claims.
//
// It returns [ErrUnsigned] and [ErrUntrusted] for what the commit lacks,
// [ErrTrust] where the files of keys cannot be used, whatever the commit shows,
// and [ErrNoCommit].
func (r *Repo) Verify(commit string, p Policy, now time.Time) error {
	keys, err := p.Read()
	if err != nil {
		return refused("", err)
	}
	_, err = again(r, func() (struct{}, error) { return struct{}{}, verify(openStorage(r.dir), commit, p, keys, now) })
	return err
}

func verify(st *filesystem.Storage, commit string, p Policy, keys signature.Keys, now time.Time) error {
	if p.Require != RequireTag {
		if _, err := signer(st, commit, keys, now); err != nil {
			return err
		}
	}
	if p.Tags() {
		return verifyTags(st, commit, p.Ref, keys, now)
	}
	return nil
}

// Signer returns who signed a commit, by a key that is trusted and valid as for
// [Repo.Verify], with the errors of that.
func (r *Repo) Signer(commit string, trust signature.Trust, now time.Time) (signature.Signer, error) {
	keys, err := trust.Read()
	if err != nil {
		return signature.Signer{}, refused("", err)
	}
	return again(r, func() (signature.Signer, error) { return signer(openStorage(r.dir), commit, keys, now) })
}

func signer(st *filesystem.Storage, commit string, keys signature.Keys, now time.Time) (signature.Signer, error) {
	found, err := findCommit(st, commit)
	if err != nil {
		return signature.Signer{}, err
	}
	who, err := signerOf(st, found, keys, now)
	if err != nil {
		return signature.Signer{}, refused(fmt.Sprintf("verifying commit %.12s", commit), err)
	}
	return who, nil
}

func signerOf(st *filesystem.Storage, commit *object.Commit, keys signature.Keys, now time.Time) (who signature.Signer, err error) {
	raw, err := rawObject(st, plumbing.CommitObject, commit.Hash)
	if err != nil {
		return who, err
	}
	signed, err := signature.ReadCommit(raw)
	if err == nil {
		err = agrees(signed, commit)
	}
	if err != nil {
		return who, err
	}
	return keys.Verify(signed, now)
}

// agrees makes sure that the commit that is compiled is the one that is verified.
func agrees(signed signature.Object, c *object.Commit) error {
	parents := make([]string, len(c.ParentHashes))
	for i, p := range c.ParentHashes {
		parents[i] = p.String()
	}
	if c.TreeHash.String() != signed.Target || !slices.Equal(parents, signed.Parents) {
		return untrusted("it was not created by git, or was changed afterwards: find out why, and sign it again", "its headers can be read in two ways")
	}
	return nil
}

// maxSigned bounds an object that is verified, in bytes.
const maxSigned = 4 << 20

// rawObject returns an object as it is stored, and makes sure that it is the
// one that the hash names.
func rawObject(st *filesystem.Storage, kind plumbing.ObjectType, hash plumbing.Hash) ([]byte, error) {
	o, err := st.EncodedObject(kind, hash)
	if err != nil {
		return nil, err
	}
	if o.Size() > maxSigned {
		return nil, untrusted("", "it is %s, over the bound of %s", failure.Bytes(o.Size()), failure.Bytes(maxSigned))
	}
	raw, err := contentOf(o)
	if err != nil {
		return nil, err
	}
	if plumbing.ComputeHash(kind, raw) != hash {
		return nil, errors.New("an object is not what its hash says")
	}
	return raw, nil
}

func untrusted(hint, format string, args ...any) error {
	return &Error{Kind: ErrUntrusted, Reason: fmt.Sprintf(format, args...), Hint: hint}
}

// refused is the error for people of what was found.
func refused(doing string, err error) error {
	var why *signature.Error
	var own *Error
	switch {
	case errors.As(err, &why):
		return &Error{Kind: Kind(why.Kind), Doing: cmp.Or(why.Doing, doing), Reason: why.Reason, Hint: why.Hint}
	case errors.As(err, &own) && own.Doing == "":
		return &Error{Kind: own.Kind, Doing: doing, Reason: own.Reason, Hint: own.Hint}
	}
	return storeError(doing+" in", err)
}
