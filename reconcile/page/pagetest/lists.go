package pagetest

import (
	"context"
	"crypto/sha1" //nolint:gosec // of names alone
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/page"
)

// History implements [page.Data]: entry number n is of zone n modulo the zones.
func (d *Data) History(_ context.Context, q page.HistoryQuery) (inspect.EntryList, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := inspect.EntryList{Version: inspect.Version, At: At, Kept: true, Entries: []reconcile.Entry{}}
	if len(d.rows) == 0 {
		return list, nil
	}
	from := int64(lastEntry)
	if q.After != "" {
		after, err := strconv.ParseInt(q.After, 10, 64)
		if err != nil {
			return list, inspect.ErrAfter
		}
		from = after - 1
	}
	limit := q.Limit
	if limit <= 0 || limit > inspect.MostRows {
		limit = inspect.MostRows
	}
	for n := from; n > 0; n-- {
		e := d.entry(n, d.rows[int(n)%len(d.rows)])
		if q.Scope != (edge.Scope{}) && e.Subject.Scope != q.Scope || q.Token != "" && e.Subject.Token != q.Token || !strings.HasPrefix(e.Asked.Commit, q.Commit) {
			continue
		}
		if len(list.Entries) == limit {
			list.Next = strconv.FormatInt(list.Entries[limit-1].Number, 10)
			break
		}
		list.Entries = append(list.Entries, e)
	}
	return list, nil
}

// commits are how many commits there are.
const commits = 250

// Commits implements [page.Data].
func (d *Data) Commits(_ context.Context, after string, limit int) (inspect.CommitList, error) {
	list := inspect.CommitList{Version: inspect.Version, At: At, Kept: true, InForce: d.inForce(), Commits: []inspect.CommitSummary{}}
	if d.empty {
		return list, nil
	}
	status := d.Status()
	list.Held, list.Rollout, list.Changes = status.Commit.Newer(), status.Rollout, status.Commit.Changes
	if limit <= 0 || limit > inspect.MostRows {
		limit = inspect.MostRows
	}
	first := 0
	if after != "" {
		n, err := strconv.Atoi(after)
		if err != nil || n < 0 || n >= commits {
			return list, inspect.ErrAfter
		}
		first = n + 1
	}
	last := min(first+limit, commits)
	for i := first; i < last; i++ {
		c := inspect.CommitSummary{
			Commit: commitOf(i), Author: d.text("Ada Lovelace <ada@example.com>"), Message: d.text("Raise the paranoia of %s", names[i%len(names)]),
			AcceptedAt: At.Add(-time.Duration(i)*7*time.Hour - 40*time.Minute), Writes: i * 3 % 41, Zones: i * 3 % 37,
		}
		if i%9 == 4 {
			c.Failed = 1
		}
		list.Commits = append(list.Commits, c)
	}
	if last < commits {
		list.Next = strconv.Itoa(last - 1)
	}
	return list, nil
}

func commitOf(i int) string {
	switch i {
	case 0:
		return Commit
	case 1:
		return Before
	}
	return fmt.Sprintf("%x", sha1.Sum([]byte(strconv.Itoa(i)))) //nolint:gosec // looks like one of git
}

// tokens are those of the fleet: how many days old they are, and how many are left; 0: they
// do not end.
var tokens = []struct {
	outcome     inspect.Outcome
	age, left   int
	reason, fix string
}{
	{inspect.InSync, 120, 18, "", ""},
	{inspect.InSync, 40, 28, "", ""},
	{inspect.Undelivered, 2, 88, "its secret waits for the sink vault: connection refused", "check that the sink answers"},
	{inspect.InSync, 200, 165, "", ""},
	{inspect.Quarantined, 1, 89, "it may exist, and its secret is lost", "revoke it in the dashboard, then seawall token resolve"},
	{inspect.Pending, 30, 60, "commit 4f6d1c0e9b7a changes it", ""},
	{inspect.InSync, 300, 0, "", ""},
	{inspect.Refused, 90, -12, "it has ended, and nothing follows it", "declare another end"},
	{inspect.Unknown, 10, 80, "GET /user/tokens: 503 Service Unavailable", ""},
	{inspect.InSync, 75, 290, "", ""},
}

// Tokens implements [page.Data].
func (d *Data) Tokens(context.Context) (inspect.TokenList, error) {
	list := inspect.TokenList{Version: inspect.Version, At: At, Tokens: []inspect.TokenRow{}}
	if d.empty {
		return list, nil
	}
	list.LookedAt = At.Add(-4 * time.Minute)
	for i, known := range tokens {
		t := inspect.TokenRow{
			Token: d.token(i), Declared: true, Origin: originOf(d.text("tokens.cue"), 3+9*i), ID: edge.TokenID(fmt.Sprintf("%032x", 0x70ce00+i)), Outcome: known.outcome,
			Created: At.AddDate(0, 0, -known.age), Ends: At.AddDate(0, 0, known.left),
		}
		if i%2 == 0 {
			t.Account, t.Rotates = d.text("%s", Accounts[i%len(Accounts)]), t.Ends.AddDate(0, 0, -14)
		}
		if known.left == 0 {
			t.Ends, t.Rotates = time.Time{}, time.Time{}
		}
		if known.reason != "" {
			t.Reason = d.text("%s", known.reason)
		}
		if known.fix != "" {
			t.Fix = d.text("%s", known.fix)
		}
		list.Tokens = append(list.Tokens, t)
	}
	return list, nil
}

// Deprecations implements [page.Data].
func (d *Data) Deprecations(context.Context) (inspect.DeprecationList, error) {
	day := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 0, 0, 0, 0, time.UTC) }
	return inspect.DeprecationList{Version: inspect.Version, At: At, DataAsOf: "2026-10-21", Deprecations: []inspect.Deprecation{
		{
			ID: "firewall-rules", Title: d.text("The API of firewall rules"), Deprecated: day(1, 20), Ends: day(6, 15),
			State: deprecation.PastEnd, Standing: "ended on 2026-06-15", DaysLeft: -163,
			Replace: d.text("rulesets of the phase http_request_firewall_custom"), Source: "reference/firewall-rules", Concerns: []string{},
		},
		{
			ID: "waf-packages", Title: d.text("The former managed rules"), Deprecated: day(3, 2), Ends: day(12, 15),
			State: deprecation.Deprecated, Standing: "is deprecated, and ends on 2026-12-15", DaysLeft: 20,
			Replace: d.text("managed rulesets"), Source: "reference/waf-packages",
			Concerns: []string{d.text("zones/prod.cue:16: shop-00000.example"), d.text("the credential rulesets of account prod")},
		},
		{
			ID: "token-verify", Title: d.text("Tokens without an end"), Deprecated: day(10, 1),
			State: deprecation.Deprecated, Standing: "is deprecated since 2026-10-01", Concerns: []string{d.text("token logs-06 has no end")},
		},
	}}, nil
}

// PullRequests implements [page.Data].
func (d *Data) PullRequests() inspect.PullRequestList {
	list := inspect.PullRequestList{Version: inspect.Version, At: At, Reviewed: !d.empty, PullRequests: []inspect.PullRequest{}}
	if d.empty {
		return list
	}
	list.LookedAt = At.Add(-90 * time.Second)
	for i, verdict := range []string{"success", "failure", "pending", "error"} {
		list.PullRequests = append(list.PullRequests, inspect.PullRequest{
			Number: 104 - i, Title: d.text("Lower the threshold of %s", names[i]), Author: d.text("grace"), URL: fmt.Sprintf("https://git.example/edge/pulls/%d", 104-i),
			Head: commitOf(40 + i), Verdict: verdict, Summary: d.text("%s, 1 weakened", count(12*i+1, "zones change")), ReviewedAt: At.Add(-time.Duration(i+1) * time.Hour),
		})
	}
	return list
}

// PullRequest implements [page.Data].
func (d *Data) PullRequest(number int) (inspect.PullRequest, error) {
	for _, pr := range d.PullRequests().PullRequests {
		if pr.Number == number {
			pr.Plan = d.text("### Plan\n\n| zone | member | live | declared |\n|---|---|---|---|\n| shop-00000.example | `core`: paranoia | 3 | 2 **weakens** |\n\n1 to change.")
			return pr, nil
		}
	}
	return inspect.PullRequest{}, fmt.Errorf("%w: pull request %d", page.ErrNotFound, number)
}
