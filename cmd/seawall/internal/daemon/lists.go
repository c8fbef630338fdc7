package daemon

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/page"
)

// History implements [page.Data].
func (d pageData) History(ctx context.Context, q page.HistoryQuery) (inspect.EntryList, error) {
	list := inspect.EntryList{Version: inspect.Version, At: time.Now(), Entries: []reconcile.Entry{}}
	before, err := cursor(q.After)
	history, kept := d.assembly.Records.(reconcile.HistoryPages)
	if list.Kept = kept; err != nil || !kept {
		return list, err
	}
	entries, earlier, err := history.Page(ctx, reconcile.HistoryFilter{
		Scope: q.Scope, Token: q.Token, Commit: q.Commit, Before: before, Last: rowsOf(q.Limit),
	})
	if err != nil {
		return list, err
	}
	list.Entries = append(list.Entries, entries...)
	if earlier {
		list.Next = strconv.FormatInt(entries[len(entries)-1].Number, 10)
	}
	return list, nil
}

// cursor is the number of the entry before which a page begins; 0 for the newest.
func cursor(after string) (int64, error) {
	if after == "" {
		return 0, nil
	}
	number, err := strconv.ParseInt(after, 10, 64)
	if err != nil || number <= 0 {
		return 0, inspect.ErrAfter
	}
	return number, nil
}

// rowsOf is how many rows a page with a limit has at most.
func rowsOf(limit int) int {
	if limit <= 0 || limit > inspect.MostRows {
		return inspect.MostRows
	}
	return limit
}

// Commits implements [page.Data].
func (d pageData) Commits(ctx context.Context, after string, limit int) (inspect.CommitList, error) {
	list := inspect.CommitList{Version: inspect.Version, At: time.Now(), Commits: []inspect.CommitSummary{}}
	s := d.lookInside()
	list.InForce, list.Held, list.Rollout, list.Changes = s.Commit.InForce, s.Commit.Newer(), s.Rollout, s.Commit.Changes
	before, err := cursor(after)
	history, kept := d.assembly.Records.(reconcile.HistoryPages)
	if list.Kept = kept; err != nil || !kept {
		return list, err
	}
	commits, earlier, err := history.Accepted(ctx, before, rowsOf(limit))
	if err != nil {
		return list, err
	}
	for _, c := range commits {
		list.Commits = append(list.Commits, inspect.CommitSummary{
			Commit: c.Asked.Commit, Author: c.Asked.Author, Message: c.Asked.Message, AcceptedAt: c.At, Writes: c.Writes, Zones: c.Zones, Failed: c.Failed,
		})
	}
	if earlier {
		list.Next = strconv.FormatInt(commits[len(commits)-1].Number, 10)
	}
	return list, nil
}

// mostConcerns bounds how many lines say what depends on one deprecation.
const mostConcerns = 20

// Deprecations implements [page.Data]. What concerns this fleet is what a report would say of
// it today.
func (d pageData) Deprecations(context.Context) (inspect.DeprecationList, error) {
	now := time.Now()
	state, _ := d.inForce()
	calendar := d.assembly.Calendar(state)
	list := inspect.DeprecationList{Version: inspect.Version, At: now, DataAsOf: calendar.DataAsOf}
	for _, rule := range calendar.Rules {
		list.Deprecations = append(list.Deprecations, deprecated(rule.Notice(now), rule.Source))
	}
	for _, n := range d.assembly.Deprecations(state, now) {
		i := slices.IndexFunc(list.Deprecations, func(known inspect.Deprecation) bool { return known.ID == n.Rule })
		if i < 0 { // what an answer of the platform announces is in no calendar
			i = len(list.Deprecations)
			list.Deprecations = append(list.Deprecations, deprecated(n, "an answer of the platform"))
		}
		concern(&list.Deprecations[i], n)
	}
	slices.SortStableFunc(list.Deprecations, byDay)
	return list, nil
}

func deprecated(n deprecation.Notice, source string) inspect.Deprecation {
	day := max(n.Date, n.Extended)
	entry := inspect.Deprecation{
		ID: n.Rule, Title: n.Title, State: n.State, Standing: n.Standing(), DaysLeft: n.DaysLeft, Replace: n.Instead(), Source: source,
		Deprecated: day.Time(), Ends: n.EndOfLife.Date().Time(), Concerns: []string{},
	}
	if n.EndOfLife == "" {
		entry.Ends = day.Time()
	}
	return entry
}

// concern adds who uses what is deprecated. What is information alone is left out, as in reports.
func concern(d *inspect.Deprecation, n deprecation.Notice) {
	if n.Info {
		return
	}
	text := "Seawall itself: " + n.Detail
	if n.Where.Integration != "" {
		text = fmt.Sprintf("integration %s (%s:%d): %s", n.Where.Integration, n.Where.File, n.Where.Line, n.Detail)
	}
	switch {
	case slices.Contains(d.Concerns, text):
	case len(d.Concerns) < mostConcerns:
		d.Concerns = append(d.Concerns, text)
	case len(d.Concerns) == mostConcerns:
		d.Concerns = append(d.Concerns, "… and more: seawall deprecations check shows all")
	}
}

// byDay has those first that concern this fleet, then what comes soonest, then what was last.
func byDay(a, b inspect.Deprecation) int {
	first := func(is bool) int {
		if is {
			return 0
		}
		return 1
	}
	return cmp.Or(
		first(len(a.Concerns) > 0)-first(len(b.Concerns) > 0),
		first(a.DaysLeft >= 0)-first(b.DaysLeft >= 0),
		cmp.Compare(max(a.DaysLeft, -a.DaysLeft), max(b.DaysLeft, -b.DaysLeft)),
	)
}

// PullRequests implements [page.Data].
func (d pageData) PullRequests() inspect.PullRequestList { return d.reviews.PullRequests(time.Now()) }

// PullRequest implements [page.Data].
func (d pageData) PullRequest(number int) (inspect.PullRequest, error) {
	pull, ok := d.reviews.PullRequest(number)
	if !ok {
		return pull, fmt.Errorf("%w: no open pull request %d is known", page.ErrNotFound, number)
	}
	return pull, nil
}
