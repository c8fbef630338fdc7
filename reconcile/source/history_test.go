package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
)

// at is a repository whose ref stands at a commit.
type at string

func (a at) Fetch(context.Context) (string, error) { return string(a), nil }

func (a at) Compile(context.Context, string) (desired.State, []desired.Problem, error) {
	return desired.State{Commit: string(a)}, nil, nil
}

// A move that is no fast-forward is reported with both commits, once, and held where that
// is required. Unrelated history is held in any case.
func TestHistory(t *testing.T) {
	unknown := fmt.Errorf("%w: the history is cut short", ErrNotKnown)
	unread := errors.New("the local store failed")
	for name, test := range map[string]struct {
		inForce  string
		move     Move
		err      error
		require  bool
		reported bool
		held     string
	}{
		"forward":                        {"old", Forward, nil, true, false, ""},
		"nothing in force":               {"", Unrelated, nil, true, false, ""},
		"back":                           {"old", Back, nil, false, true, ""},
		"rewritten":                      {"old", Rewritten, nil, false, true, ""},
		"rewritten, forward is required": {"old", Rewritten, nil, true, true, "moved from old to new, which does not contain it (rewritten)"},
		"back, forward is required":      {"old", Back, nil, true, true, "(back); seawall apply accepts it"},
		"unrelated":                      {"old", Unrelated, nil, false, true, "no history in common"},
		"unknown":                        {"old", "", unknown, false, false, ""},
		"unknown, forward is required":   {"old", "", unknown, true, true, ": the history is cut short"},
		"unreadable":                     {"old", "", unread, false, true, "is not known: the local store failed"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			repository := at("new")
			s := New(Config{
				Source: repository, Compiler: repository, Now: time.Now, FastForward: test.require,
				Log:   slog.New(slog.NewTextHandler(&log, nil)),
				Moved: func(context.Context, string, string) (Move, error) { return test.move, test.err },
			})
			for range 2 {
				p := s.Look(t.Context(), test.inForce)
				switch {
				case test.held == "" && (p.Err != nil || p.State.Commit != "new"):
					t.Errorf("held: %v", p.Err)
				case test.held != "" && (p.Err == nil || !strings.Contains(p.Err.Error(), test.held) || p.Commit != "new"):
					t.Errorf("commit %q, error %v, want %q", p.Commit, p.Err, test.held)
				}
			}
			if n := strings.Count(log.String(), "from=old to=new"); (n == 1) != test.reported {
				t.Errorf("reported %d times:\n%s", n, log.String())
			}
		})
	}
}

// A revert of a commit that is held for how the ref moved stays held: it is not advised.
func TestTheAdviceOnAMove(t *testing.T) {
	s := New(Config{Now: time.Now, Moved: func(context.Context, string, string) (Move, error) { return Unrelated, nil }})
	var advised interface{ Advice() string }
	if err := s.follows(t.Context(), "0123456789abcdef", "c2"); !errors.As(err, &advised) || !strings.Contains(advised.Advice(), "back to 0123456789ab or") {
		t.Errorf("%v", err)
	}
}
