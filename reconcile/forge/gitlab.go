package forge

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/seawall-dev/seawall/edge/lazyregexp"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
)

// lab is GitLab. Its client repeats reads that failed, and waits where GitLab
// says when a limit ends.
type lab struct {
	client *gitlab.Client
	project
}

func newGitLab(base *url.URL, p project, client *http.Client) (*lab, error) {
	c, err := gitlab.NewAuthSourceClient(
		gitlab.Unauthenticated{}, // the transport has the token
		gitlab.WithBaseURL(base.String()),
		gitlab.WithHTTPClient(client),
		gitlab.WithOnlyIdempotentRetries(), // a comment must not be there twice
		gitlab.WithCustomRetryMax(retry.GitLab.Attempts-1),
		gitlab.WithCustomRetryWaitMinMax(retry.GitLab.First, retry.GitLab.Most),
	)
	if err != nil {
		return nil, err
	}
	return &lab{c, p}, nil
}

// labPage is a page as [pages] wants it.
func labPage[A any](page []A, answer *gitlab.Response, err error) ([]A, int, error) {
	if err != nil {
		return nil, 0, err
	}
	return page, int(answer.NextPage), nil
}

func (l *lab) user(ctx context.Context) (int64, error) {
	me, _, err := l.client.Users.CurrentUser(gitlab.WithContext(ctx))
	if err != nil {
		return 0, err
	}
	return me.ID, nil
}

func (l *lab) pullRequests(ctx context.Context, branch string) ([]reconcile.PullRequest, error) {
	return pages("open merge requests", func(number int) ([]*gitlab.BasicMergeRequest, int, error) {
		return labPage(l.client.MergeRequests.ListProjectMergeRequests(l.path, &gitlab.ListProjectMergeRequestsOptions{
			ListOptions:  gitlab.ListOptions{Page: int64(number), PerPage: perPage},
			State:        gitlab.Ptr("opened"),
			TargetBranch: &branch,
			OrderBy:      gitlab.Ptr("created_at"),
			Sort:         gitlab.Ptr("asc"),
		}, gitlab.WithContext(ctx)))
	}, each(fromGitLab))
}

func fromGitLab(m *gitlab.BasicMergeRequest) reconcile.PullRequest {
	return reconcile.PullRequest{
		Number: int(m.IID),
		Head:   m.SHA,
		Title:  m.Title,
		Author: labAccount(m.Author).Name, AuthorID: labAccount(m.Author).ID,
		Labels: m.Labels,
		URL:    m.WebURL,
		Fork:   m.SourceProjectID != m.TargetProjectID || m.SourceProjectID == 0,
	}
}

func labAccount(u *gitlab.BasicUser) reconcile.Account {
	if u == nil {
		return reconcile.Account{}
	}
	return reconcile.Account{ID: u.ID, Name: u.Username}
}

func (l *lab) comments(ctx context.Context, pr int) ([]comment, error) {
	return pages("comments", func(number int) ([]*gitlab.Note, int, error) {
		return labPage(l.client.Notes.ListMergeRequestNotes(l.path, int64(pr), &gitlab.ListMergeRequestNotesOptions{
			ListOptions: gitlab.ListOptions{Page: int64(number), PerPage: perPage},
			OrderBy:     gitlab.Ptr("created_at"),
			Sort:        gitlab.Ptr("asc"),
		}, gitlab.WithContext(ctx)))
	}, func(n *gitlab.Note) []comment {
		if n.System {
			return nil
		}
		return []comment{{n.ID, n.Author.ID, n.Author.Username, n.Body}}
	})
}

func (l *lab) create(ctx context.Context, pr int, body string) error {
	_, _, err := l.client.Notes.CreateMergeRequestNote(l.path, int64(pr), &gitlab.CreateMergeRequestNoteOptions{Body: &body}, gitlab.WithContext(ctx))
	return err
}

func (l *lab) update(ctx context.Context, pr int, id int64, body string) error {
	_, _, err := l.client.Notes.UpdateMergeRequestNote(l.path, int64(pr), id, &gitlab.UpdateMergeRequestNoteOptions{Body: &body}, gitlab.WithContext(ctx))
	return err
}

func (l *lab) remove(ctx context.Context, pr int, id int64) error {
	_, err := l.client.Notes.DeleteMergeRequestNote(l.path, int64(pr), id, gitlab.WithContext(ctx))
	return err
}

var quickAction = lazyregexp.New(`(?m)^/`)

// inert takes the power from lines that GitLab would carry out as commands, with
// the rights of the token: "/merge" at the beginning of a line.
func inert(body string) string { return quickAction().ReplaceAllString(body, " /") }

func (l *lab) status(ctx context.Context, commit string, s reconcile.CommitStatus) error {
	options := &gitlab.SetCommitStatusOptions{State: labState(s.State), Name: &s.Context, Description: &s.Description}
	if s.URL != "" {
		options.TargetURL = &s.URL
	}
	if s.Ref != "" {
		options.Ref = &s.Ref
	}
	_, _, err := l.client.Commits.SetCommitStatus(l.path, commit, options, gitlab.WithContext(ctx))
	if err != nil && s.State == reconcile.StatusPending && strings.Contains(err.Error(), "Cannot transition status via :enqueue from :pending") {
		return nil // it is pending already; GitLab takes that for a mistake
	}
	return err
}

func labState(s reconcile.CommitState) gitlab.BuildStateValue {
	switch s {
	case reconcile.StatusPending:
		return gitlab.Pending
	case reconcile.StatusSuccess:
		return gitlab.Success
	default:
		return gitlab.Failed
	}
}

// reviewed: GitLab keeps when somebody approved, and not of what. What there was
// to see then is the version of the merge request; so an approval is one of this
// head where it is younger than the latest version.
func (l *lab) reviewed(ctx context.Context, pr int) (r reviewed, err error) {
	request, _, err := l.client.MergeRequests.GetMergeRequest(l.path, int64(pr), nil, gitlab.WithContext(ctx))
	if err != nil {
		return r, err
	}
	since, err := l.since(ctx, pr, request.SHA)
	if err != nil {
		return r, err
	}
	approvals, _, err := l.client.MergeRequestApprovals.GetConfiguration(l.path, int64(pr), gitlab.WithContext(ctx))
	if err != nil {
		return r, err
	}
	r = reviewed{head: request.SHA, author: labAccount(request.Author).Name, state: labPullState(request.State)}
	for _, each := range approvals.ApprovedBy {
		switch {
		case each.ApprovedAt == nil:
			return r, fmt.Errorf("this GitLab version does not report when %s approved, so the approved commit is unknown; update GitLab", labAccount(each.User).Name)
		default:
			r.reviews = append(r.reviews, review{labAccount(each.User), each.ApprovedAt.After(since), true, request.SHA, *each.ApprovedAt})
		}
	}
	return r, nil
}

// since is when the merge request got its head.
func (l *lab) since(ctx context.Context, pr int, head string) (time.Time, error) {
	versions, _, err := l.client.MergeRequests.GetMergeRequestDiffVersions(l.path, int64(pr), nil, gitlab.WithContext(ctx))
	if err != nil {
		return time.Time{}, err
	}
	var latest *gitlab.MergeRequestDiffVersion
	for _, each := range versions { // the newest first, but that is not promised
		if latest == nil || each.ID > latest.ID {
			latest = each
		}
	}
	if latest == nil || latest.HeadCommitSHA != head || latest.CreatedAt == nil {
		return time.Time{}, fmt.Errorf("%w: GitLab has not yet processed %.12s", ErrMoved, head)
	}
	return *latest.CreatedAt, nil
}

func labPullState(state string) reconcile.PullState {
	switch state {
	case "merged":
		return reconcile.PullMerged
	case "closed":
		return reconcile.PullClosed
	}
	return reconcile.PullOpen // "locked" is one that is about to be merged
}

func (l *lab) account(ctx context.Context, name string) (reconcile.Account, error) {
	users, _, err := l.client.Users.ListUsers(&gitlab.ListUsersOptions{Username: &name}, gitlab.WithContext(ctx))
	if err != nil {
		return reconcile.Account{}, err
	}
	for _, user := range users {
		if strings.EqualFold(user.Username, name) {
			return reconcile.Account{ID: user.ID, Name: user.Username}, nil
		}
	}
	return reconcile.Account{}, reconcile.ErrNoAccount
}

// access counts members of the groups above the project too.
func (l *lab) access(ctx context.Context, a reconcile.Account) (reconcile.Access, error) {
	member, answer, err := l.client.ProjectMembers.GetInheritedProjectMember(l.path, a.ID, gitlab.WithContext(ctx))
	if answer != nil && answer.StatusCode == http.StatusNotFound {
		return reconcile.AccessRead, nil
	}
	if err != nil {
		return reconcile.AccessUnknown, err
	}
	return accessOf(member.AccessLevel >= gitlab.DeveloperPermissions && member.State != "blocked"), nil
}

func (l *lab) private(ctx context.Context) (bool, error) {
	project, _, err := l.client.Projects.GetProject(l.path, nil, gitlab.WithContext(ctx))
	if err != nil {
		return false, err
	}
	return project.Visibility == gitlab.PrivateVisibility, nil
}
