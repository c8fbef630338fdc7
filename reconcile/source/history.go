package source

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
)

// Move is how the followed ref came from the commit in force to another one.
type Move string

// The values of [Move].
const (
	Forward   Move = "forward"   // the new commit contains the old one
	Back      Move = "back"      // the old commit contains the new one
	Rewritten Move = "rewritten" // both go back to a common commit
	Unrelated Move = "unrelated" // they have no commit in common
)

// ErrNotKnown is how a ref has moved where no history says so: it is cut short, or does not go
// back to the commit in force.
var ErrNotKnown = errors.New("the history does not say it")

// follows reports a move that is no fast-forward, once, and returns an error where the
// commit is to be held for it: unrelated history always, and one that cannot be read; any
// other where a fast-forward is required. An empty inForce is followed by any commit: none is in force, or another
// process has accepted a newer one.
func (s *Source) follows(ctx context.Context, inForce, commit string) error {
	if inForce == "" || commit == "" {
		return nil
	}
	move, err := s.Moved(ctx, inForce, commit)
	if err == nil && move == Forward {
		return nil
	}
	why := fmt.Errorf("the ref moved from %s to %s, which does not contain it (%s)", inForce, commit, move)
	switch {
	case errors.Is(err, ErrNotKnown) && !s.FastForward:
		s.Log.DebugContext(ctx, "how the ref has moved is not known", "from", inForce, "to", commit, "error", err.Error())
		return nil
	case err != nil:
		why = fmt.Errorf("whether the ref moved forward from %s to %s is not known: %w", inForce, commit, err)
	case move == Unrelated:
		why = fmt.Errorf("the ref moved from %s to %s, which has no history in common with it", inForce, commit)
	}
	held := err != nil || move == Unrelated || s.FastForward
	level := slog.LevelWarn
	if s.reported == inForce+commit {
		level = slog.LevelDebug
	}
	s.reported = inForce + commit
	s.Log.Log(ctx, level, "the followed ref did not move forward", "from", inForce, "to", commit, "move", string(move), "held", held)
	if !held {
		return nil
	}
	told := fmt.Errorf("%w; seawall apply accepts it", why)
	if err != nil { // which says itself what helps
		return told
	}
	return moveError{told, inForce}
}

// moveError is a move for which a commit is held. To take the commit back is no way out of it.
type moveError struct {
	error
	inForce string
}

// Unwrap returns what is told.
func (e moveError) Unwrap() error { return e.error }

// Advice is what a person can do.
func (e moveError) Advice() string {
	return "move the branch back to " + e.inForce[:min(len(e.inForce), 12)] + " or to a commit on top of it; or accept what it is now: seawall apply"
}
