package page

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/login"
)

// newestCommits is how many commits the overview has.
const newestCommits = 5

// zonesPerPage is how many zones a page lists: a browser is slower with them than a program.
const zonesPerPage = 100

// perPage is how many commits a page lists.
const perPage = 50

// OutageList is the outages that last.
type OutageList struct {
	Version int                `json:"version"`
	At      time.Time          `json:"at"`
	Started time.Time          `json:"started"`
	Outages []reconcile.Outage `json:"outages"`
}

// CredentialList is the state of each credential for rulesets.
type CredentialList struct {
	Version     int                  `json:"version"`
	At          time.Time            `json:"at"`
	Budget      inspect.Budget       `json:"budget"` // of all that this process works with
	Queue       []inspect.Priority   `json:"queue"`
	Credentials []inspect.Credential `json:"credentials"`
}

// ReplicaList is the daemons that share the work, and which of them does what.
type ReplicaList struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	// Replicas is absent where the ledger is a file: there is no other daemon.
	Replicas *inspect.Replicas `json:"replicas,omitempty"`
}

// CommitPage is one commit with its entries of the history, the newest first.
type CommitPage struct {
	Version int    `json:"version"`
	Commit  string `json:"commit"`
	InForce bool   `json:"in_force"`
	// Rollout and Changes are of the commit in force.
	Rollout *inspect.Rollout `json:"rollout,omitempty"`
	Changes *inspect.Changes `json:"changes,omitempty"`
	// Held says why it is not in force.
	Held    *inspect.Held     `json:"held,omitempty"`
	History inspect.EntryList `json:"history"`
}

func overviewOf(q *question) (Overview, error) {
	commits, err := q.Data.Commits(q.Context(), "", newestCommits)
	overview := Overview{Status: q.Data.Status(), Commits: commits}
	if overview.Unread = q.away(err); overview.Unread {
		err = nil // the rest is known
	}
	return overview, err
}

func zonesOf(q *question) (inspect.Fleet, error) {
	query := q.fleet()
	if !isAPI(q.Request) {
		query.Limit = zonesPerPage
	}
	return q.Data.Fleet(query)
}

func zoneOf(q *question) (inspect.ZonePage, error) {
	text := q.PathValue("scope")
	zone, err := q.Data.Zone(q.Context(), edge.ParseScope(text))
	switch {
	case errors.Is(err, inspect.ErrNoZone), !q.may(zone.May): // the same answer, whatever else is wrong
		return inspect.ZonePage{}, &inspect.NoZoneError{Zone: text}
	case err == nil && !q.person.MayAll(login.Viewer):
		zone = zone.Alone(q.Now())
	}
	return zone, err
}

func commitsOf(q *question) (inspect.CommitList, error) {
	return q.Data.Commits(q.Context(), q.param("after"), perPage)
}

func commitOf(q *question) (CommitPage, error) {
	commit := q.PathValue("commit")
	if err := checkCommit(commit); err != nil {
		return CommitPage{}, err
	}
	entries, err := q.Data.History(q.Context(), HistoryQuery{Commit: commit, After: q.param("after")})
	if err != nil {
		return CommitPage{}, err
	}
	status := q.Data.Status()
	page := CommitPage{Version: inspect.Version, Commit: commit, History: entries}
	switch {
	case begins(status.Commit.InForce, commit):
		page.Commit, page.InForce, page.Rollout, page.Changes = status.Commit.InForce, true, status.Rollout, status.Commit.Changes
	case status.Commit.Held != nil && begins(status.Commit.Wanted, commit):
		page.Commit, page.Held = status.Commit.Wanted, status.Commit.Held
	case len(entries.Entries) == 0 && q.param("after") == "":
		return CommitPage{}, fmt.Errorf("%w: no entry of the history is of commit %s", ErrNotFound, commit)
	}
	return page, nil
}

func historyOf(q *question) (inspect.EntryList, error) {
	return q.Data.History(q.Context(), HistoryQuery{
		Scope: edge.ParseScope(q.param("zone")), Token: q.param("token"), Commit: q.param("commit"), After: q.param("after"),
	})
}

func tokensOf(q *question) (inspect.TokenList, error) {
	list, err := q.Data.Tokens(q.Context())
	if after := q.param("after"); err == nil && after != "" {
		list.Tokens, err = tokensAfter(list.Tokens, after)
	}
	if len(list.Tokens) > inspect.MostRows {
		list.Tokens = list.Tokens[:inspect.MostRows]
		list.Next = tokenCursor(list.Tokens[inspect.MostRows-1])
	}
	return list, err
}

func tokenCursor(t inspect.TokenRow) string { return t.Token + " " + string(t.ID) }

// tokensAfter are the tokens after a cursor. The token of the cursor may have gone meanwhile.
func tokensAfter(tokens []inspect.TokenRow, cursor string) ([]inspect.TokenRow, error) {
	if !strings.Contains(cursor, " ") {
		return nil, inspect.ErrAfter
	}
	if i := slices.IndexFunc(tokens, func(t inspect.TokenRow) bool { return tokenCursor(t) == cursor }); i >= 0 {
		return tokens[i+1:], nil
	}
	if i := slices.IndexFunc(tokens, func(t inspect.TokenRow) bool { return tokenCursor(t) > cursor }); i >= 0 {
		return tokens[i:], nil
	}
	return tokens[len(tokens):], nil
}

func radarOf(q *question) (inspect.RadarList, error) {
	query := inspect.RadarQuery{Account: q.param("account"), May: q.mayFunc(), After: q.param("after")}
	if since := q.param("since"); since != "" {
		query.Since, _ = inspect.Since(since, q.Now()) // it was checked
	}
	return q.Data.Radar(q.Context(), query)
}

func radarVersionOf(q *question) (inspect.RadarPage, error) {
	number, err := strconv.ParseInt(q.PathValue("published"), 10, 64)
	if err != nil || number <= 0 {
		return inspect.RadarPage{}, fmt.Errorf("%w: a new version has a number in the list of the radar", ErrNotFound)
	}
	return q.Data.RadarVersion(q.Context(), number, inspect.RadarQuery{May: q.mayFunc(), After: q.param("after")})
}

func deprecationsOf(q *question) (inspect.DeprecationList, error) {
	return q.Data.Deprecations(q.Context())
}

func pullsOf(q *question) (inspect.PullRequestList, error) { return q.Data.PullRequests(), nil }

func pullOf(q *question) (inspect.PullRequest, error) {
	number, err := strconv.Atoi(q.PathValue("number"))
	if err != nil {
		return inspect.PullRequest{}, fmt.Errorf("%w: a pull request has a number", ErrNotFound)
	}
	return q.Data.PullRequest(number)
}

func outagesOf(q *question) (OutageList, error) {
	s := q.Data.Status()
	return OutageList{inspect.Version, s.At, s.Started, s.Outages}, nil
}

func credentialsOf(q *question) (CredentialList, error) {
	s := q.Data.Status()
	return CredentialList{inspect.Version, s.At, s.Budget, s.Queue, append([]inspect.Credential{}, s.Work.Credentials...)}, nil
}

func replicasOf(q *question) (ReplicaList, error) {
	s := q.Data.Status()
	return ReplicaList{inspect.Version, s.At, s.Replicas}, nil
}
