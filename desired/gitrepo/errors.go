package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/seawall-dev/seawall/desired/failure"
	"github.com/seawall-dev/seawall/desired/gitrepo/signature"
)

// Kind is what went wrong, as far as a program acts on it. A Kind is an error
// itself: errors.Is(err, gitrepo.ErrAuth).
type Kind string

// The kinds of [Error].
const (
	ErrSource       Kind = "the source cannot be used"
	ErrUnreachable  Kind = "the git server cannot be reached"
	ErrNotFound     Kind = "there is no such repository"
	ErrAuth         Kind = "the git server does not accept the credential"
	ErrOwner        Kind = "the folder of the repository belongs to another user"
	ErrHostKey      Kind = "the server's host key is not accepted"
	ErrRefNotFound  Kind = "there is no such ref"
	ErrPathNotFound Kind = "there is no such folder in the commit"
	ErrNoCommit     Kind = "there is no such commit in the store"
	ErrShallow      Kind = "the history is cut short"
	ErrFetch        Kind = "the fetch failed"
	ErrTooLarge     Kind = "it is over a bound"
	ErrRejected     Kind = "the git server does not take the branch"
	ErrStore        Kind = "the local store failed"
	ErrFull         Kind = "the disk is full"
	ErrUnsigned          = Kind(signature.ErrUnsigned)
	ErrUntrusted         = Kind(signature.ErrUntrusted)
	ErrTrust             = Kind(signature.ErrTrust)
)

func (k Kind) Error() string { return string(k) }

// Is makes ErrFull the operating system's error for it, and a failure of the store.
func (k Kind) Is(target error) bool {
	return k == ErrFull && (target == syscall.ENOSPC || target == ErrStore)
}

// Error is a failure of this package. Its texts hold no credential.
type Error = failure.Error[Kind]

func storeError(doing string, err error) error {
	if _, known := errors.AsType[*Error](err); known {
		return err
	}
	e := &Error{
		Kind: ErrStore, Doing: doing + " the store", Reason: err.Error(),
		Hint: "check the disk and permissions; you may delete the store, the next fetch creates it again",
	}
	if errors.Is(err, dotgit.ErrPackfileNotFound) || errors.Is(err, fs.ErrNotExist) {
		e.From = errVanished
	}
	if isFull(err) {
		e.Kind, e.Hint = ErrFull, "free space on the disk that holds the state folder"
	}
	return e
}

// errVanished is a file that was gone when a reader came to it.
var errVanished = errors.New("a file of the store is gone")

// isFull reports whether a disk has no space, which says nothing against what is on it.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

func noCommit(hash string, err error) error {
	return &Error{
		Kind: ErrNoCommit, Doing: fmt.Sprintf("reading commit %.12s", hash), Reason: err.Error(),
		Hint: "fetch it first",
	}
}
