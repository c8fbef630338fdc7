// Package signature checks the signatures of git commits and tags against keys that
// the machine names. What comes in are the raw bytes of an object and the files of keys
// ([Trust]); what goes out is who signed ([Signer]), or an [Error] that says why the
// signature does not count. It reads no repository and imports no git library.
//
//	keys, err := signature.Trust{SSH: "/etc/seawall/allowed_signers"}.Read()
//	object, err := signature.ReadCommit(raw)
//	who, err := keys.Verify(object, time.Now())
//
// OpenPGP and SSH signatures are understood (git-commit(1), gpg.format in
// git-config(1); PROTOCOL.sshsig of OpenSSH).
package signature

import (
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/desired/failure"
)

// Kind is why a signature does not count. A Kind is an error itself.
type Kind string

// The kinds of [Error].
const (
	ErrUnsigned  Kind = "it is not signed"
	ErrUntrusted Kind = "its signature is not accepted"
	ErrTrust     Kind = "the keys to trust cannot be used"
)

func (k Kind) Error() string { return string(k) }

// Error says why a signature does not count. What was verified is for the caller to
// say: Doing is empty but for [ErrTrust].
type Error = failure.Error[Kind]

// Form is how something was signed.
type Form string

// The forms of signatures that are understood.
const (
	OpenPGP Form = "openpgp"
	SSH     Form = "ssh"
)

// Signer is who signed, as the trusted keys tell it: nothing of it is taken
// from the repository.
type Signer struct {
	Form Form `json:"kind"`
	// Fingerprint is that of the OpenPGP primary key in capital hexadecimal
	// digits, or of the SSH key in OpenSSH's form, SHA256:….
	Fingerprint string `json:"fingerprint"`
	// Principal is the primary user id of an OpenPGP key, or the list of
	// principals of an SSH key as its line has it, which may hold patterns.
	Principal string `json:"principal,omitempty"`
}

// clockSkew is how far the clock of who signs may be ahead.
const clockSkew = 10 * time.Minute

// Verify checks one object's signature. Keys must be valid at now, whatever time the
// signature claims: whoever has stolen an expired key can claim any.
//
// It returns an [*Error] of the kinds [ErrUnsigned] and [ErrUntrusted].
func (k Keys) Verify(o Object, now time.Time) (Signer, error) {
	if o.when.After(now.Add(clockSkew)) {
		return Signer{}, untrusted("check the clocks", "it claims a time in the future, %s", o.when.UTC().Format(time.RFC3339))
	}
	switch formOf(o.signature) {
	case OpenPGP:
		return k.verifyOpenPGP(o, now)
	case SSH:
		return k.verifySSH(o, now)
	}
	if len(o.signature) == 0 {
		return Signer{}, &Error{Kind: ErrUnsigned, Hint: signHint}
	}
	return Signer{}, untrusted("sign with OpenPGP or SSH", "its signature has an unknown format")
}

func untrusted(hint, format string, args ...any) error {
	return &Error{Kind: ErrUntrusted, Reason: fmt.Sprintf(format, args...), Hint: hint}
}

const (
	signHint    = "sign it with a trusted key (git commit --amend -S), or push a signed commit on top"
	trustHint   = "sign it with a trusted key, or add the key to the file after you have compared its fingerprint"
	expiredHint = "push a commit signed with a valid key on top, or update the file of keys"
	brokenHint  = "it was not created by git, or was changed afterwards: find out why, and sign it again"
)
