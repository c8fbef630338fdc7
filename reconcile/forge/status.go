package forge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
	"github.com/seawall-dev/seawall/edge/visible"
	"github.com/seawall-dev/seawall/reconcile"
)

// maxDescription is what GitHub takes, in characters.
const maxDescription = 140

var commitForm = lazyregexp.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Status sets a mark at a commit. The same mark is not sent twice in a row by the
// same process.
func (f *Forge) Status(ctx context.Context, commit string, s reconcile.CommitStatus) error {
	s.Description = short(edge.Redact(s.Description))
	return f.do(ctx, "setting the status "+s.Context, func(ctx context.Context) error {
		if err := checkStatus(commit, s); err != nil {
			return err
		}
		if f.sent.is(commit, s) {
			return nil
		}
		if err := f.driver.status(ctx, commit, s); err != nil {
			return err
		}
		f.sent.put(commit, s)
		return nil
	})
}

func checkStatus(commit string, s reconcile.CommitStatus) error {
	switch s.State {
	case reconcile.StatusPending, reconcile.StatusSuccess, reconcile.StatusFailure, reconcile.StatusError:
	default:
		return fmt.Errorf("%q is not a commit status", s.State)
	}
	if s.Context == "" {
		return errors.New("the context of the status is missing")
	}
	if !commitForm().MatchString(commit) {
		return fmt.Errorf("%q is not a commit", commit)
	}
	return nil
}

func short(text string) string {
	text = strings.Join(strings.Fields(visible.Text(text)), " ")
	if utf8.RuneCountInString(text) > maxDescription {
		return string([]rune(text)[:maxDescription-1]) + "…"
	}
	return text
}

// sent is what the forge was told last, by commit and context.
type sent struct {
	mu   sync.Mutex
	last map[string]reconcile.CommitStatus
}

// maxSent bounds the memory. To forget costs a request, and nothing else.
const maxSent = 4096

func (s *sent) is(commit string, status reconcile.CommitStatus) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, ok := s.last[commit+" "+status.Context]
	return ok && last == status
}

func (s *sent) put(commit string, status reconcile.CommitStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.last) >= maxSent {
		clear(s.last)
	}
	s.last[commit+" "+status.Context] = status
}
