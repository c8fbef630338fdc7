package inspect

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/reconcile"
)

// CommitList is a page of accepted commits, the newest first.
type CommitList struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	InForce string    `json:"in_force"`
	// Held is the newest commit, where it is not in force; Rollout is of the one that is.
	Held    *Newer   `json:"held,omitempty"`
	Rollout *Rollout `json:"rollout,omitempty"`
	Changes *Changes `json:"changes,omitempty"`
	// Kept is false where the daemon keeps no history: it follows a folder.
	Kept    bool            `json:"kept"`
	Commits []CommitSummary `json:"commits"`
	Next    string          `json:"next,omitempty"`
}

// CommitSummary is one accepted commit, with what was written for it.
type CommitSummary struct {
	Commit     string    `json:"commit"`
	Author     string    `json:"author,omitempty"`  // as it says itself
	Message    string    `json:"message,omitempty"` // its first line
	AcceptedAt time.Time `json:"accepted_at"`
	// Writes are those that the history still has, without what corrects drift or was put
	// back; Failed of them are known not to have converged.
	Writes int `json:"writes"`
	Zones  int `json:"zones"`
	Failed int `json:"failed"`
}

// EntryList is a page of the history, the newest entry first.
type EntryList struct {
	Version int               `json:"version"`
	At      time.Time         `json:"at"`
	Kept    bool              `json:"kept"` // false: the daemon keeps no history, since it follows a folder
	Entries []reconcile.Entry `json:"entries"`
	Next    string            `json:"next,omitempty"`
}

// TokenList is a page of all declared tokens and those on record, by key and id.
type TokenList struct {
	Version  int       `json:"version"`
	At       time.Time `json:"at"`
	LookedAt time.Time `json:"looked_at,omitzero"` // zero: not since the start
	// Unknown says why the record may not have all tokens; empty: it has.
	Unknown string     `json:"unknown,omitempty"`
	Fix     string     `json:"fix,omitempty"`
	Tokens  []TokenRow `json:"tokens"`
	Next    string     `json:"next,omitempty"`
}

// TokenRow is one declaration of a token, and the token that counts for it. It has no secret.
type TokenRow struct {
	Token    string         `json:"token"`
	Declared bool           `json:"declared"`          // false: it is only on record
	Account  string         `json:"account,omitempty"` // empty: of the user
	Origin   desired.Origin `json:"origin,omitzero"`
	ID       edge.TokenID   `json:"id,omitempty"`
	Outcome  Outcome        `json:"outcome"`
	Reason   string         `json:"reason,omitempty"`
	Fix      string         `json:"fix,omitempty"`
	Created  time.Time      `json:"created,omitzero"`
	Ends     time.Time      `json:"ends,omitzero"`    // zero: never, or not known
	Rotates  time.Time      `json:"rotates,omitzero"` // when its successor is due; zero: none
}

// DeprecationList is the calendar of deprecations, with what of it concerns this fleet.
type DeprecationList struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	// DataAsOf is the day on which the calendar said what the published schedule says.
	DataAsOf deprecation.Date `json:"data_as_of"`
	// Deprecations has those first that concern this fleet, then by their day: what comes
	// soonest, then what was last.
	Deprecations []Deprecation `json:"deprecations"`
}

// Deprecation is one entry of the calendar.
type Deprecation struct {
	ID       string            `json:"id"`
	Title    string            `json:"title"`
	State    deprecation.State `json:"state"`
	Standing string            `json:"standing"` // in words: "is deprecated since 2026-03-02, and ends on …"
	// Deprecated is the day from which it is, and Ends the day from which it is gone, which
	// may be the same; zero: not known.
	Deprecated time.Time `json:"deprecated,omitzero"`
	Ends       time.Time `json:"ends,omitzero"`
	DaysLeft   int       `json:"days_left"` // to the day that Standing names; negative after it
	Replace    string    `json:"replace,omitempty"`
	Source     string    `json:"source,omitempty"` // of the entry: a row of the reference, or a file
	// Concerns says what here depends on it, a line each; empty: nothing known.
	Concerns []string `json:"concerns"`
}

// PullRequestList is the open pull requests with their newest reviews.
type PullRequestList struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	// Reviewed is false where no forge is configured; LookedAt is when the forge listed them
	// last, zero: not since the start.
	Reviewed     bool          `json:"reviewed"`
	LookedAt     time.Time     `json:"looked_at,omitzero"`
	PullRequests []PullRequest `json:"pull_requests"` // the newest first
	Next         string        `json:"next,omitempty"`
	LeftOut      int           `json:"left_out"` // how many more are open
}

// PullRequest is one pull request, and what Seawall said about its newest commit.
type PullRequest struct {
	Number     int       `json:"number"`
	Title      string    `json:"title,omitempty"`
	Author     string    `json:"author,omitempty"`
	URL        string    `json:"url,omitempty"`
	Fork       bool      `json:"fork,omitempty"`
	Head       string    `json:"head"`    // the commit that was reviewed last; empty: none was
	Verdict    string    `json:"verdict"` // success, failure, pending, error: the commit status
	Summary    string    `json:"summary,omitempty"`
	ReviewedAt time.Time `json:"reviewed_at,omitzero"` // zero: it was not
	// Problem says why the newest commit has no review.
	Problem string `json:"problem,omitempty"`
	// Plan is the plan as the comment has it, as Markdown; only in the answer for one.
	Plan string `json:"plan,omitempty"`
}
