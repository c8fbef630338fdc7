package forge

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"code.gitea.io/sdk/gitea"

	"github.com/seawall-dev/seawall/reconcile"
)

// tea is Gitea or Forgejo.
type tea struct {
	address string
	http    *http.Client
	project
}

func newGitea(base *url.URL, p project, client *http.Client) (*tea, error) {
	t := &tea{base.String(), client, p}
	_, err := t.client(context.Background())
	return t, err
}

// client makes the client of one call: in this library the context is a part of the
// client. It does not ask for the server's version, which Forgejo counts its own
// way and which none of these calls depends on.
func (t *tea) client(ctx context.Context) (*gitea.Client, error) {
	return gitea.NewClient(t.address, gitea.SetHTTPClient(t.http), gitea.SetContext(ctx), gitea.SetGiteaVersion(""))
}

// with is the client of one call. It fails for its options alone, with which [newGitea] has
// made one.
func (t *tea) with(ctx context.Context) *gitea.Client {
	client, _ := t.client(ctx)
	return client
}

// teaPage is the most that servers give at once, unless configured otherwise.
const teaPage = 50

// following is the number of the next page. Some lists name it, some count what
// there is in all.
func following(answer *gitea.Response, number, got, before int) int {
	total, err := strconv.Atoi(answer.Header.Get("X-Total-Count"))
	switch {
	case answer.NextPage > number:
		return answer.NextPage
	case err == nil && got > 0 && before+got < total:
		return number + 1
	}
	return 0
}

// teaList reads a list page by page.
func teaList[A, B any](what string, get func(gitea.ListOptions) ([]A, *gitea.Response, error), convert func(A) []B) ([]B, error) {
	before := 0
	return pages(what, func(number int) ([]A, int, error) {
		page, answer, err := get(gitea.ListOptions{Page: number, PageSize: teaPage})
		if err != nil {
			return nil, 0, err
		}
		next := following(answer, number, len(page), before)
		before += len(page)
		return page, next, nil
	}, convert)
}

func (t *tea) user(ctx context.Context) (int64, error) {
	me, _, err := t.with(ctx).GetMyUserInfo()
	if err != nil {
		return 0, err
	}
	return me.ID, nil
}

func (t *tea) pullRequests(ctx context.Context, branch string) ([]reconcile.PullRequest, error) {
	client := t.with(ctx)
	return teaList("open pull requests", func(o gitea.ListOptions) ([]*gitea.PullRequest, *gitea.Response, error) {
		return client.ListRepoPullRequests(t.owner, t.name, gitea.ListPullRequestsOptions{ListOptions: o, State: gitea.StateOpen, Sort: "oldest"})
	}, func(p *gitea.PullRequest) []reconcile.PullRequest {
		switch {
		case p.Head == nil || p.Base == nil:
			return []reconcile.PullRequest{{}} // refused as unsound
		case p.Base.Ref != branch:
			return nil
		}
		return []reconcile.PullRequest{fromGitea(p)}
	})
}

func fromGitea(p *gitea.PullRequest) reconcile.PullRequest {
	return reconcile.PullRequest{
		Number: int(p.Index),
		Head:   p.Head.Sha,
		Title:  p.Title,
		Author: teaAccount(p.Poster).Name, AuthorID: teaAccount(p.Poster).ID,
		Labels: teaLabels(p.Labels),
		URL:    p.HTMLURL,
		Fork:   p.Head.RepoID != p.Base.RepoID || p.Head.RepoID == 0,
	}
}

func teaAccount(u *gitea.User) reconcile.Account {
	if u == nil {
		return reconcile.Account{}
	}
	return reconcile.Account{ID: u.ID, Name: u.UserName}
}

func teaLabels(labels []*gitea.Label) (names []string) {
	for _, label := range labels {
		names = append(names, label.Name)
	}
	return names
}

// comments: servers give all of them at once and do not know pages here.
func (t *tea) comments(ctx context.Context, pr int) (list []comment, err error) {
	all, _, err := t.with(ctx).ListIssueComments(t.owner, t.name, int64(pr), gitea.ListIssueCommentOptions{ListOptions: gitea.ListOptions{Page: -1}})
	for _, each := range all {
		if each.Poster != nil {
			list = append(list, comment{each.ID, each.Poster.ID, each.Poster.UserName, each.Body})
		}
	}
	return list, err
}

func (t *tea) create(ctx context.Context, pr int, body string) error {
	_, _, err := t.with(ctx).CreateIssueComment(t.owner, t.name, int64(pr), gitea.CreateIssueCommentOption{Body: body})
	return err
}

func (t *tea) update(ctx context.Context, _ int, id int64, body string) error {
	_, _, err := t.with(ctx).EditIssueComment(t.owner, t.name, id, gitea.EditIssueCommentOption{Body: body})
	return err
}

func (t *tea) remove(ctx context.Context, _ int, id int64) error {
	_, err := t.with(ctx).DeleteIssueComment(t.owner, t.name, id)
	return err
}

func (t *tea) status(ctx context.Context, commit string, s reconcile.CommitStatus) error {
	_, _, err := t.with(ctx).CreateStatus(t.owner, t.name, commit, gitea.CreateStatusOption{
		State: gitea.StatusState(s.State), TargetURL: s.URL, Description: s.Description, Context: s.Context,
	})
	return err
}

func (t *tea) reviewed(ctx context.Context, pr int) (reviewed, error) {
	client := t.with(ctx)
	request, _, err := client.GetPullRequest(t.owner, t.name, int64(pr))
	if err != nil {
		return reviewed{}, err
	}
	given, err := teaList("reviews", func(o gitea.ListOptions) ([]*gitea.PullReview, *gitea.Response, error) {
		return client.ListPullReviews(t.owner, t.name, int64(pr), gitea.ListPullReviewsOptions{ListOptions: o})
	}, each(func(r *gitea.PullReview) *gitea.PullReview { return r }))
	if err != nil {
		return reviewed{}, err
	}
	slices.SortStableFunc(given, func(a, b *gitea.PullReview) int { return cmp.Compare(a.ID, b.ID) })
	r := reviewed{author: teaAccount(request.Poster).Name, state: reconcile.PullOpen}
	switch {
	case request.HasMerged:
		r.state = reconcile.PullMerged
	case request.State == gitea.StateClosed:
		r.state = reconcile.PullClosed
	}
	if request.Head != nil {
		r.head = request.Head.Sha
	}
	for _, each := range given {
		r.reviews = append(r.reviews, teaOpinions(each)...)
	}
	return r, nil
}

func teaOpinions(r *gitea.PullReview) []review {
	list := opinions(teaAccount(r.Reviewer), string(r.State), r.CommitID, r.Submitted)
	for i := range list {
		list[i].stands = list[i].stands && !r.Dismissed
		list[i].approves = list[i].stands && !r.Stale
	}
	return list
}

func (t *tea) account(ctx context.Context, name string) (reconcile.Account, error) {
	user, answer, err := t.with(ctx).GetUserInfo(name)
	if answer != nil && answer.StatusCode == http.StatusNotFound {
		return reconcile.Account{}, reconcile.ErrNoAccount
	}
	return teaAccount(user), err
}

// access: Gitea tells only a token whose user may manage the project.
func (t *tea) access(ctx context.Context, a reconcile.Account) (reconcile.Access, error) {
	level, answer, err := t.with(ctx).CollaboratorPermission(t.owner, t.name, a.Name)
	if answer != nil && answer.StatusCode == http.StatusNotFound {
		return reconcile.AccessRead, nil
	}
	if err != nil || level == nil {
		return reconcile.AccessUnknown, err
	}
	write := level.Permission == gitea.AccessModeWrite || level.Permission == gitea.AccessModeAdmin || level.Permission == gitea.AccessModeOwner
	return accessOf(write && teaAccount(level.User).ID == a.ID), nil
}

func (t *tea) private(ctx context.Context) (bool, error) {
	repository, _, err := t.with(ctx).GetRepo(t.owner, t.name)
	if err != nil {
		return false, err
	}
	return repository.Private || repository.Internal, nil
}
