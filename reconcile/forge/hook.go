package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/time/rate"

	"github.com/seawall-dev/seawall/edge"
)

// Hook is a webhook that is listened to.
type Hook struct {
	Kind Kind // Generic too
	// Secret is asked for each request, so a rotated file is picked up. One that
	// cannot be read, or is empty, lets nobody in.
	Secret func() (edge.Secret, error)
}

// Outcome is how a request to the webhooks ended. They are few, so that a metric
// can count them.
type Outcome string

// The outcomes of a webhook.
const (
	Poked      Outcome = "woke"
	Ignored    Outcome = "ignored"    // genuine, about something else
	Unverified Outcome = "unverified" // no hook's secret fits
	Unreadable Outcome = "unreadable" // too long, too slow, or broken off
	Throttled  Outcome = "throttled"
	NoPost     Outcome = "no_post"
	Unready    Outcome = "unready" // no secret could be read, or who is to look cannot be told
)

const (
	maxHook     = 1 << 20          // bytes of a request
	hookTimeout = 10 * time.Second // for all of its body to arrive
	hookRate    = rate.Limit(10)   // requests in a second, of all senders together
	hookBurst   = 10               // so many at once, too
)

// Handler takes the webhooks of forges, at any address it is put at. A request
// that one of the hooks' secrets vouches for, and that tells of a push or a pull
// request, pokes all of those who are to look: the source of commits and the reviews of pull
// requests, in this process ([Spaced]) or in the one that has them. Nothing else in it is believed,
// so that to send one again does no more than to look again. The answer comes after the poke is
// on record.
//
// It answers 202 for what pokes, 204 for what is genuine and does not (a ping),
// 401 for what nobody vouches for, 405 for other methods than POST, 413, 408 and
// 429 for too much, 503 where no secret can be read or poke fails: that request comes again,
// from forges that do so. No answer has a text. told learns the outcome of each request.
func Handler(hooks []Hook, told func(Outcome), poke func(context.Context) error) http.Handler {
	limiter := rate.NewLimiter(hookRate, hookBurst)
	return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		outcome, status := receive(answer, r, hooks, limiter)
		if outcome == Poked && poke(r.Context()) != nil {
			outcome, status = Unready, http.StatusServiceUnavailable
		}
		told(outcome)
		answer.Header().Set("Cache-Control", "no-store")
		answer.WriteHeader(status)
	})
}

func receive(answer http.ResponseWriter, r *http.Request, hooks []Hook, limiter *rate.Limiter) (Outcome, int) {
	if r.Method != http.MethodPost {
		answer.Header().Set("Allow", http.MethodPost)
		return NoPost, http.StatusMethodNotAllowed
	}
	if !limiter.Allow() {
		answer.Header().Set("Retry-After", "10")
		return Throttled, http.StatusTooManyRequests
	}
	body, status := readHook(answer, r)
	if status != 0 {
		return Unreadable, status
	}
	kind, err := verify(hooks, r.Header, body)
	switch {
	case errors.Is(err, errNoSecret):
		return Unready, http.StatusServiceUnavailable
	case err != nil:
		return Unverified, http.StatusUnauthorized
	case !isNews(kind, r.Header):
		return Ignored, http.StatusNoContent
	}
	return Poked, http.StatusAccepted
}

// readHook reads a body, or returns the status that refuses it.
func readHook(answer http.ResponseWriter, r *http.Request) ([]byte, int) {
	_ = http.NewResponseController(answer).SetReadDeadline(time.Now().Add(hookTimeout)) // a recorder has none
	body, err := io.ReadAll(http.MaxBytesReader(answer, r.Body, maxHook))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, http.StatusRequestEntityTooLarge
	case err != nil:
		return nil, http.StatusRequestTimeout
	}
	return body, 0
}

var (
	errUnverified = errors.New("no secret matches")
	errNoSecret   = errors.New("no secret can be read")
)

// verify finds the kind of the hook that vouches for a request. All hooks are
// tried, whichever fits, so that time tells nothing.
func verify(hooks []Hook, header http.Header, body []byte) (kind Kind, err error) {
	err, unread := errUnverified, 0
	for _, hook := range hooks {
		secret, failed := hook.Secret()
		if failed != nil || secret.IsZero() {
			unread++
			continue
		}
		if vouches(hook.Kind, secret.Reveal(), header, body) {
			kind, err = hook.Kind, nil
		}
	}
	if err != nil && unread > 0 && unread == len(hooks) {
		return "", errNoSecret
	}
	return kind, err
}

// CheckHooks reports hooks that can let nobody in: of no known kind, or with a
// secret that cannot be read, is empty, or is short enough to be guessed.
func CheckHooks(hooks []Hook) error {
	for i, hook := range hooks {
		if signatures[hook.Kind] == nil {
			return fmt.Errorf("no kind of webhook is called %q", hook.Kind)
		}
		secret, err := hook.Secret()
		if err != nil {
			return fmt.Errorf("reading the secret of webhook %d (%s): %w", i+1, hook.Kind, err)
		}
		if len(secret.Reveal()) < shortestSecret {
			return fmt.Errorf("the secret of webhook %d (%s) has fewer than %d characters: make a random one", i+1, hook.Kind, shortestSecret)
		}
	}
	return nil
}

const shortestSecret = 16
