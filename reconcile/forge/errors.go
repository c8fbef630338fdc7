package forge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v90/github"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/visible"
)

var (
	// ErrDenied: the forge does not know the token, or does not let it do that. A
	// project that a token may not see looks like one that is not there.
	ErrDenied = errors.New("denied")
	// ErrLimited: the forge wants to be asked later.
	ErrLimited = errors.New("limited")
	// ErrMoved: the pull request has another head than the one asked about.
	ErrMoved = errors.New("the pull request has new commits")
)

// limited says how long a forge does not want to be asked.
type limited struct{ wait time.Duration }

func (l *limited) Error() string {
	if l.wait <= 0 {
		return "the rate limit of the forge is reached"
	}
	return fmt.Sprintf("the rate limit of the forge is reached; the next request is possible in %v", l.wait.Round(time.Second))
}

// refusal is the last answer with an error in a call.
type refusal struct {
	status int
	body   []byte
	wait   time.Duration
}

type refusalKey struct{}

// failure is what a caller learns: a text without the token, and what it is.
type failure struct {
	text string
	is   []error
}

func (f *failure) Error() string   { return f.text }
func (f *failure) Unwrap() []error { return f.is }

// explain says what went wrong: what was being done, what the forge said, and
// what to try. The errors of the clients are not wrapped: some repeat requests.
func (f *Forge) explain(ctx context.Context, doing string, seen *refusal, err error) error {
	text, is := f.reason(ctx, seen, err)
	return &failure{doing + ": " + edge.Redact(text), is}
}

func (f *Forge) reason(ctx context.Context, seen *refusal, err error) (string, []error) {
	if wait, ok := limit(seen, err); ok {
		return (&limited{wait}).Error(), []error{ErrLimited}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx).Error(), []error{ctx.Err()}
	}
	if errors.Is(err, ErrMoved) {
		return err.Error(), []error{ErrMoved}
	}
	if seen.status == 0 {
		return plain(err), nil
	}
	text := fmt.Sprintf("%s answered %d %s", f.kind, seen.status, http.StatusText(seen.status))
	if said := message(seen.body); said != "" {
		text += ": " + said
	}
	switch seen.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return text + "; " + f.rights(seen.status), []error{ErrDenied}
	}
	return text, nil
}

// limit recognizes an answer, or a client, that wants no more requests.
func limit(seen *refusal, err error) (time.Duration, bool) {
	var own *limited
	var primary *github.RateLimitError
	var secondary *github.AbuseRateLimitError
	switch {
	case errors.As(err, &own):
		return own.wait, true
	case errors.As(err, &primary):
		return time.Until(primary.Rate.Reset.Time), true
	case errors.As(err, &secondary):
		return secondary.GetRetryAfter(), true
	}
	return seen.wait, seen.status == http.StatusTooManyRequests
}

// plain is an error without the address that net/http puts before it.
func plain(err error) string {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err
	}
	return err.Error()
}

var needs = map[Kind]string{
	GitHub: "a fine-grained token needs this repository and the permissions Pull requests and Commit statuses, both read and write",
	GitLab: "a project access token needs the scope api and the role Developer",
	Gitea:  "the token needs the scopes write:repository, write:issue and read:user, and its user needs write access to the project",
}

// rights is what a person looks at when the forge says no.
func (f *Forge) rights(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "check that the token belongs to this forge and is still valid"
	case http.StatusNotFound:
		return "check that the project is called " + f.project + "; " + needs[f.kind]
	}
	return needs[f.kind]
}

// longestMessage is how much of what a forge says is repeated, in bytes.
const longestMessage = 500

// message finds what a forge says in the shapes that errors have: "message" or
// "error" as text, list or lists by field, and GitHub's "errors".
func message(body []byte) string {
	var answer map[string]any
	if json.Unmarshal(body, &answer) != nil {
		return "" // a page for people
	}
	var parts []string
	for _, key := range []string{"message", "error", "error_description", "errors"} {
		for _, part := range texts(answer[key]) {
			if part != "" && !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
	}
	said := strings.Join(strings.Fields(visible.Text(strings.Join(parts, ", "))), " ")
	if len(said) > longestMessage {
		said = strings.ToValidUTF8(said[:longestMessage], "") + " …"
	}
	return said
}

// texts are the sentences in a value: a field that was refused is named before
// them.
func texts(value any) (list []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, element := range v {
			list = append(list, texts(element)...)
		}
	case map[string]any:
		if said, ok := v["message"].(string); ok {
			return []string{said}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = append(list, strings.TrimSpace(key+" "+strings.Join(texts(v[key]), ", ")))
		}
	}
	return list
}
