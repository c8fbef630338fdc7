package forge

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// driver is what differs between the forges.
type driver interface {
	// user is the id of the account that the token belongs to.
	user(ctx context.Context) (int64, error)
	pullRequests(ctx context.Context, branch string) ([]reconcile.PullRequest, error)

	// comments lists the comments of a pull request, oldest first.
	comments(ctx context.Context, pr int) ([]comment, error)
	create(ctx context.Context, pr int, body string) error
	update(ctx context.Context, pr int, id int64, body string) error
	remove(ctx context.Context, pr int, id int64) error

	status(ctx context.Context, commit string, s reconcile.CommitStatus) error
	reviewed(ctx context.Context, pr int) (reviewed, error)

	// account looks up an account by its name; one that there is not is [reconcile.ErrNoAccount].
	account(ctx context.Context, name string) (reconcile.Account, error)
	// access says what an account may do; a refusal is one for lack of rights.
	access(ctx context.Context, a reconcile.Account) (reconcile.Access, error)
	private(ctx context.Context) (bool, error)
}

// comment is one on a pull request.
type comment struct {
	id     int64
	author int64
	name   string // of the author
	body   string
}

// reviewed is a pull request in the eyes of its reviewers.
type reviewed struct {
	head    string
	author  string
	state   reconcile.PullState
	reviews []review // in the order in which they were given
}

// review is one that says yes, or takes that back.
type review struct {
	user     reconcile.Account
	approves bool   // of commit
	stands   bool   // it says yes to some head, and was not taken back
	commit   string // that was looked at
	at       time.Time
}

// project is the name of a project.
type project struct{ path, owner, name string }

func parseProject(kind Kind, path string) (project, error) {
	parts := strings.Split(path, "/")
	for _, part := range parts {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, " \t\n%?#\\") {
			return project{}, fmt.Errorf("%q is not the name of a project", path)
		}
	}
	if len(parts) < 2 || kind != GitLab && len(parts) > 2 {
		return project{}, fmt.Errorf("%q is not the name of a project: it is owner/name", path)
	}
	return project{path, parts[0], parts[len(parts)-1]}, nil
}

func newDriver(kind Kind, base *url.URL, p project, client *http.Client) (driver, error) {
	switch kind {
	case GitHub:
		return newGitHub(base, p, client)
	case GitLab:
		return newGitLab(base, p, client)
	case Gitea:
		return newGitea(base, p, client)
	default:
		return nil, fmt.Errorf("no kind of forge is called %q", kind)
	}
}

// maxPages bounds a list.
const maxPages = 10

// pages reads a list from one end to the other: get returns a page of it, and the number of
// the following one, zero at the end. An element may stand for nothing. What is longer than
// the bound is an error: a part would look like the whole.
func pages[A, B any](what string, get func(number int) ([]A, int, error), convert func(A) []B) (all []B, err error) {
	number := 1
	for range maxPages {
		page, next, err := get(number)
		if err != nil {
			return nil, err
		}
		for _, each := range page {
			all = append(all, convert(each)...)
		}
		if next == 0 {
			return all, nil
		}
		number = next
	}
	return nil, fmt.Errorf("there are more %s than the %d that Seawall reads", what, len(all))
}

// each converts elements that all stand for something.
func each[A, B any](convert func(A) B) func(A) []B {
	return func(a A) []B { return []B{convert(a)} }
}
