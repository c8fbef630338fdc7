package gitrepo

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// Trust names the files of keys whose signatures count. They are read at each
// verification, so a key is added or taken back by writing a file. At least one
// is given.
type Trust struct {
	// OpenPGP is a file of armored public keys, one block or several.
	OpenPGP string `json:"openpgp,omitempty"`
	// SSH is a file of allowed signers, in the form of ssh-keygen(1).
	SSH string `json:"ssh,omitempty"`
}

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
	Trust
	Require Require `json:"require,omitempty"` // zero is RequireHead
	// Ref is the ref that is followed. Where it is a tag (refs/tags/…), that tag
	// alone counts, under its own name; otherwise any tag of the commit does.
	Ref string `json:"ref,omitempty"`
}

// Tags reports whether the policy needs [Source.Tags].
func (p Policy) Tags() bool { return p.Require == RequireTag || p.Require == RequireBoth }

// SignatureKind is how something was signed.
type SignatureKind string

// The kinds of signatures that are understood.
const (
	SignedOpenPGP SignatureKind = "openpgp"
	SignedSSH     SignatureKind = "ssh"
)

// Signer is who signed, as the trusted keys tell it: nothing of it is taken
// from the repository.
type Signer struct {
	Kind SignatureKind `json:"kind"`
	// Fingerprint is that of the OpenPGP primary key in capital hexadecimal
	// digits, or of the SSH key in OpenSSH's form, SHA256:….
	Fingerprint string `json:"fingerprint"`
	// Principal is the primary user id of an OpenPGP key, or the list of
	// principals of an SSH key as its line has it, which may hold patterns.
	Principal string `json:"principal,omitempty"`
}

// Verify checks a commit against a policy. Keys must be valid at now, whatever
// time a signature claims: whoever has stolen an expired key can claim any.
//
// It returns [ErrUnsigned] and [ErrUntrusted] for what the commit lacks,
// [ErrTrust] where the files of keys cannot be used, whatever the commit shows,
// and [ErrNoCommit].
func (r *Repo) Verify(commit string, p Policy, now time.Time) error {
	keys, err := p.read()
	if err != nil {
		return err
	}
	if p.Require != RequireTag {
		if _, err := r.signer(commit, keys, now); err != nil {
			return err
		}
	}
	if p.Tags() {
		return r.verifyTags(commit, p.Ref, keys, now)
	}
	return nil
}

// Signer returns who signed a commit, by a key that is trusted and valid as for
// [Repo.Verify], with the errors of that.
func (r *Repo) Signer(commit string, trust Trust, now time.Time) (Signer, error) {
	keys, err := trust.read()
	if err != nil {
		return Signer{}, err
	}
	return r.signer(commit, keys, now)
}

func (r *Repo) signer(commit string, keys trusted, now time.Time) (Signer, error) {
	st := openStorage(r.dir)
	found, err := findCommit(st, commit)
	if err != nil {
		return Signer{}, err
	}
	doing := fmt.Sprintf("verifying commit %.12s", commit)
	raw, err := rawObject(st, plumbing.CommitObject, found.Hash)
	if err != nil {
		return Signer{}, refused(doing, err)
	}
	object, err := splitCommit(raw)
	if err == nil {
		err = object.agrees(found)
	}
	if err != nil {
		return Signer{}, refused(doing, err)
	}
	who, err := keys.verify(object, now)
	if err != nil {
		return Signer{}, refused(doing, err)
	}
	return who, nil
}

// refusal says why a signature does not count, for [refused].
type refusal struct {
	kind         Kind
	reason, hint string
}

func (r *refusal) Error() string { return r.reason }

func untrusted(hint, format string, args ...any) error {
	return &refusal{ErrUntrusted, fmt.Sprintf(format, args...), hint}
}

// refused is the error for a person of what was found.
func refused(doing string, err error) error {
	var why *refusal
	if errors.As(err, &why) {
		return &Error{Kind: why.kind, Doing: doing, Reason: why.reason, Hint: why.hint}
	}
	return storeError(doing+" in", err)
}

const (
	signHint    = "sign it with a trusted key (git commit --amend -S), or push a signed commit on top"
	trustHint   = "sign it with a trusted key, or add the key to the file after you have compared its fingerprint"
	expiredHint = "push a commit signed with a valid key on top, or update the file of keys"
	brokenHint  = "it was not created by git, or was changed afterwards: find out why, and sign it again"
)

// clockSkew is how far the clock of who signs may be ahead.
const clockSkew = 10 * time.Minute

// verify checks one object's signature.
func (k trusted) verify(o signedObject, now time.Time) (Signer, error) {
	if o.when.After(now.Add(clockSkew)) {
		return Signer{}, untrusted("check the clocks", "it claims a time in the future, %s", o.when.UTC().Format(time.RFC3339))
	}
	switch kindOf(o.signature) {
	case SignedOpenPGP:
		return k.verifyOpenPGP(o, now)
	case SignedSSH:
		return k.verifySSH(o, now)
	}
	if len(o.signature) == 0 {
		return Signer{}, &refusal{ErrUnsigned, "", signHint}
	}
	return Signer{}, untrusted("sign with OpenPGP or SSH", "its signature has an unknown format")
}
