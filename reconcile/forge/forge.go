// Package forge speaks with the server that pull requests are on: GitHub, GitLab,
// and Gitea or Forgejo.
//
//	f, err := forge.New(forge.Config{
//		Kind: forge.GitHub, Project: "acme/edge", Branch: "main",
//		Token: func() (edge.Secret, error) { return edge.NewSecret(os.Getenv("TOKEN")), nil },
//	})
//	open, err := f.PullRequests(ctx)
//	err = f.Comment(ctx, open[0].Number, "<!-- seawall:plan -->", text)
//	err = f.Status(ctx, open[0].Head, forge.Status{Context: "seawall/plan", State: forge.Success})
//
// What the forges have in common is here: which comment is ours, what is not sent
// twice, whose approval counts. A file for each forge translates to its client
// (driver.go says what is asked of one). All requests pass one transport, which
// alone knows the token: it goes to the configured host and nowhere else.
//
// [Handler] takes the other direction, the forges' webhooks.
package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/outbound"
	"github.com/seawall-dev/seawall/reconcile"
)

// Kind is a kind of forge.
type Kind string

// The kinds of forges.
const (
	GitHub  Kind = "github"
	GitLab  Kind = "gitlab"
	Gitea   Kind = "gitea"   // and Forgejo, which kept its API
	Generic Kind = "generic" // of webhooks alone: whatever can send one
)

// String is the name that people know.
func (k Kind) String() string {
	if name, ok := map[Kind]string{GitHub: "GitHub", GitLab: "GitLab", Gitea: "Gitea"}[k]; ok {
		return name
	}
	return string(k)
}

// HeadRefs is how the names of the refs begin under which a forge shows the heads of pull
// requests. Anybody who may push can create refs of other names.
func (k Kind) HeadRefs() string {
	if k == GitLab {
		return "refs/merge-requests/"
	}
	return "refs/pull/"
}

// Config says which project on which forge. Kind, Project, Branch and Token are
// required.
type Config struct {
	Kind Kind
	// URL is the address of the server or of its API, https, or http to the own
	// machine; empty is github.com or gitlab.com. Gitea has no such place.
	URL string
	// Project is owner/name; in GitLab all groups stand before the name.
	Project string
	// Branch is the followed one, with or without refs/heads/.
	Branch string
	// CAFile holds the authorities to trust, in PEM, instead of the system's.
	CAFile string
	// Token is asked for each request, so a rotated file is picked up.
	Token func() (edge.Secret, error)
	// Timeout bounds one call of a method, with all its pages; zero is 1 minute.
	Timeout time.Duration
}

// Forge is one project on a forge. Its methods may be called at the same time.
type Forge struct {
	driver  driver
	kind    Kind
	project string
	branch  string
	token   func() (edge.Secret, error)
	timeout time.Duration

	commenting sync.Mutex // two at a time would both create the comment
	me         identity
	sent       sent
}

const usualTimeout = time.Minute

// New prepares a client. It sends nothing.
func New(c Config) (*Forge, error) {
	f, err := open(c)
	if err != nil {
		return nil, fmt.Errorf("preparing the client of a forge: %w", err)
	}
	return f, nil
}

func open(c Config) (*Forge, error) {
	project, err := parseProject(c.Kind, c.Project)
	if err != nil {
		return nil, err
	}
	branch := strings.TrimPrefix(c.Branch, "refs/heads/")
	switch {
	case branch == "" || strings.HasPrefix(branch, "refs/"):
		return nil, fmt.Errorf("%q is not a branch; pull requests need one", c.Branch)
	case c.Token == nil:
		return nil, errors.New("the token is missing")
	case c.Timeout < 0:
		return nil, fmt.Errorf("the timeout %v is below zero", c.Timeout)
	case c.Timeout == 0:
		c.Timeout = usualTimeout
	}
	base, err := address(c.Kind, c.URL)
	if err != nil {
		return nil, err
	}
	transport, err := newTransport(c, base)
	if err != nil {
		return nil, err
	}
	driver, err := newDriver(c.Kind, base, project, &http.Client{Transport: transport, CheckRedirect: outbound.Stay})
	if err != nil {
		return nil, err
	}
	return &Forge{
		driver: driver, kind: c.Kind, project: c.Project, branch: branch, token: c.Token, timeout: c.Timeout,
		sent: sent{last: map[string]reconcile.CommitStatus{}},
	}, nil
}

// PullRequests lists the open pull requests against the followed branch, at most
// a thousand; more are an error, not a shorter list.
func (f *Forge) PullRequests(ctx context.Context) ([]reconcile.PullRequest, error) {
	return ask(ctx, f, "listing the pull requests", func(ctx context.Context) ([]reconcile.PullRequest, error) {
		list, err := f.driver.pullRequests(ctx, f.branch)
		if err != nil {
			return nil, err
		}
		return sound(list)
	})
}

// sound leaves out pull requests that have no head: GitLab lists some before it
// has looked at them. Whatever else is not as it should be is an error.
func sound(list []reconcile.PullRequest) (rest []reconcile.PullRequest, err error) {
	for _, p := range list {
		switch {
		case p.Number <= 0:
			return nil, errors.New("the answer has a pull request without a number")
		case p.Head == "":
			continue
		case !commitForm().MatchString(p.Head):
			return nil, fmt.Errorf("the answer has a pull request %d whose head %.80q is not a commit", p.Number, p.Head)
		}
		rest = append(rest, p)
	}
	return rest, nil
}

// ask is [Forge.do] for a call that returns something.
func ask[T any](ctx context.Context, f *Forge, doing string, call func(context.Context) (T, error)) (T, error) {
	var answer, none T
	err := f.do(ctx, doing, func(ctx context.Context) (err error) {
		answer, err = call(ctx)
		return err
	})
	if err != nil {
		return none, err
	}
	return answer, nil
}

// do bounds a call and tells what went wrong with it.
func (f *Forge) do(ctx context.Context, doing string, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("no answer within %v", f.timeout))
	defer cancel()
	seen := &refusal{}
	err := shielded(context.WithValue(ctx, refusalKey{}, seen), call)
	if err == nil {
		return nil
	}
	return f.explain(ctx, doing+" of "+f.project, seen, err)
}

// shielded survives the clients: some panic where a list has null in it, and what
// a forge answers must not end the daemon.
func shielded(ctx context.Context, call func(context.Context) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the answer is not valid (%v)", r)
		}
	}()
	return call(ctx)
}
