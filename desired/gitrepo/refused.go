package gitrepo

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
)

// refusedFile is where a store remembers the commit that it refused last.
const refusedFile = "seawall.refused"

// refusal is a commit that was not brought. What it is made of does not change, so that
// it is not asked for again until the ref moves: a commit over a limit while the limits
// are the same, an unsigned one while it is not trusted.
type refusal struct {
	Commit string      `json:"commit"`
	Limits FetchLimits `json:"limits"`
	Error  Error       `json:"error"`
	Raw    []byte      `json:"raw,omitempty"` // of a commit that is not trusted, to be judged again
}

// remember writes a refusal to the folder of a store.
func remember(dir string, r refusal) error {
	data, err := json.Marshal(r)
	if err != nil {
		return storeError("writing", err)
	}
	return (&Repo{dir}).replace(refusedFile, string(data))
}

// recall returns why a commit was refused; nil where it was not, with these limits. A
// commit that was not trusted is judged again by accept: keys may have changed.
func recall(dir string, commit plumbing.Hash, limits FetchLimits, accept func(raw []byte) error) error {
	data, err := os.ReadFile(filepath.Join(dir, refusedFile))
	if err != nil {
		return nil //nolint:nilerr // nothing is remembered: it is asked for
	}
	var r refusal
	if json.Unmarshal(data, &r) != nil || r.Commit != commit.String() {
		return nil //nolint:nilerr // nor is what cannot be read
	}
	switch {
	case r.Error.Kind != ErrTooLarge && accept != nil && len(r.Raw) > 0:
		return accept(r.Raw)
	case r.Error.Kind == ErrTooLarge && r.Limits.same(limits):
		return &r.Error
	}
	return nil
}

// forget drops what a store remembers of a commit that it has taken since.
func forget(dir string) { _ = os.Remove(filepath.Join(dir, refusedFile)) } // there mostly is none

// Later reports whether a fetch failed for what may be otherwise another time, though not
// soon: it took all of its time, or other heads take the room of this one.
func Later(err error) bool {
	return errors.Is(err, errNoRoom) || errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, errSilent)
}

// errStoreFull is a store that takes all that it may by itself.
var errStoreFull = errors.New("the store has no room")

// errNoRoom is a store that is full by what is beside it.
var errNoRoom = errors.New("no room is left")
