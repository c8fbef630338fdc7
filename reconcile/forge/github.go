package forge

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/google/go-github/v90/github"

	"github.com/seawall-dev/seawall/reconcile"
)

// hub is GitHub. The client refuses by itself to send what a known rate limit
// forbids.
type hub struct {
	client *github.Client
	project
}

func newGitHub(base *url.URL, p project, client *http.Client) (*hub, error) {
	at := base.String()
	c, err := github.NewClient(github.WithHTTPClient(client), github.WithURLs(&at, &at))
	if err != nil {
		return nil, err
	}
	return &hub{c, p}, nil
}

// perPage is the most that GitHub and GitLab give at once.
const perPage = 100

// hubPage is a page as [pages] wants it.
func hubPage[A any](page []A, answer *github.Response, err error) ([]A, int, error) {
	if err != nil {
		return nil, 0, err
	}
	return page, answer.NextPage, nil
}

func (h *hub) user(ctx context.Context) (int64, error) {
	me, _, err := h.client.Users.Get(ctx, "")
	return me.GetID(), err
}

func (h *hub) pullRequests(ctx context.Context, branch string) ([]reconcile.PullRequest, error) {
	return pages("open pull requests", func(number int) ([]*github.PullRequest, int, error) {
		return hubPage(h.client.PullRequests.List(ctx, h.owner, h.name, &github.PullRequestListOptions{
			State: "open", Base: branch, Sort: "created", Direction: "asc",
			ListOptions: github.ListOptions{Page: number, PerPage: perPage},
		}))
	}, each(fromGitHub))
}

func fromGitHub(p *github.PullRequest) reconcile.PullRequest {
	head, base := p.GetHead().GetRepo(), p.GetBase().GetRepo()
	return reconcile.PullRequest{
		Number: p.GetNumber(),
		Head:   p.GetHead().GetSHA(),
		Title:  p.GetTitle(),
		Author: p.GetUser().GetLogin(), AuthorID: p.GetUser().GetID(),
		Labels: hubLabels(p.Labels),
		URL:    p.GetHTMLURL(),
		Fork:   head == nil || base == nil || head.GetID() != base.GetID(),
	}
}

func (h *hub) comments(ctx context.Context, pr int) ([]comment, error) {
	return pages("comments", func(number int) ([]*github.IssueComment, int, error) {
		return hubPage(h.client.Issues.ListComments(ctx, h.owner, h.name, pr, &github.IssueListCommentsOptions{
			ListOptions: github.ListOptions{Page: number, PerPage: perPage},
		}))
	}, each(func(c *github.IssueComment) comment {
		return comment{c.GetID(), c.GetUser().GetID(), c.GetUser().GetLogin(), c.GetBody()}
	}))
}

func (h *hub) create(ctx context.Context, pr int, body string) error {
	_, _, err := h.client.Issues.CreateComment(ctx, h.owner, h.name, pr, &github.IssueComment{Body: &body})
	return err
}

func (h *hub) update(ctx context.Context, _ int, id int64, body string) error {
	_, _, err := h.client.Issues.EditComment(ctx, h.owner, h.name, id, &github.IssueComment{Body: &body})
	return err
}

func (h *hub) remove(ctx context.Context, _ int, id int64) error {
	_, err := h.client.Issues.DeleteComment(ctx, h.owner, h.name, id)
	return err
}

func (h *hub) status(ctx context.Context, commit string, s reconcile.CommitStatus) error {
	state := string(s.State)
	status := github.RepoStatus{State: &state, Context: &s.Context, Description: &s.Description}
	if s.URL != "" {
		status.TargetURL = &s.URL
	}
	_, _, err := h.client.Repositories.CreateStatus(ctx, h.owner, h.name, commit, status)
	return err
}

func (h *hub) reviewed(ctx context.Context, pr int) (reviewed, error) {
	request, _, err := h.client.PullRequests.Get(ctx, h.owner, h.name, pr)
	if err != nil {
		return reviewed{}, err
	}
	reviews, err := pages("reviews", func(number int) ([]*github.PullRequestReview, int, error) {
		return hubPage(h.client.PullRequests.ListReviews(ctx, h.owner, h.name, pr, &github.ListOptions{Page: number, PerPage: perPage}))
	}, func(r *github.PullRequestReview) []review {
		return opinions(reconcile.Account{ID: r.GetUser().GetID(), Name: r.GetUser().GetLogin()}, r.GetState(), r.GetCommitID(), r.GetSubmittedAt().Time)
	})
	state := reconcile.PullOpen
	switch {
	case request.GetMerged() || request.MergedAt != nil:
		state = reconcile.PullMerged
	case request.GetState() == "closed":
		state = reconcile.PullClosed
	}
	return reviewed{request.GetHead().GetSHA(), request.GetUser().GetLogin(), state, reviews}, err
}

func hubLabels(labels []*github.Label) (names []string) {
	for _, label := range labels {
		names = append(names, label.GetName())
	}
	return names
}

func (h *hub) account(ctx context.Context, name string) (reconcile.Account, error) {
	user, answer, err := h.client.Users.Get(ctx, name)
	if answer != nil && answer.StatusCode == http.StatusNotFound {
		return reconcile.Account{}, reconcile.ErrNoAccount
	}
	return reconcile.Account{ID: user.GetID(), Name: user.GetLogin()}, err
}

// access: GitHub answers by name; by then it may be that of another account.
func (h *hub) access(ctx context.Context, a reconcile.Account) (reconcile.Access, error) {
	level, answer, err := h.client.Repositories.GetPermissionLevel(ctx, h.owner, h.name, a.Name)
	if answer != nil && answer.StatusCode == http.StatusNotFound {
		return reconcile.AccessRead, nil
	}
	if err != nil {
		return reconcile.AccessUnknown, err
	}
	write := level.GetPermission() == "admin" || level.GetPermission() == "write"
	return accessOf(write && level.GetUser().GetID() == a.ID), nil
}

func (h *hub) private(ctx context.Context) (bool, error) {
	repository, _, err := h.client.Repositories.Get(ctx, h.owner, h.name)
	return repository.GetPrivate(), err
}

// opinions is a review that says something about the whole: none for a remark, or
// one that is still being written.
func opinions(user reconcile.Account, state, commit string, at time.Time) []review {
	switch state {
	case "APPROVED":
		return []review{{user, true, true, commit, at}}
	case "CHANGES_REQUESTED", "REQUEST_CHANGES", "DISMISSED":
		return []review{{user, false, false, commit, at}}
	}
	return nil
}
