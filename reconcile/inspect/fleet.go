package inspect

import (
	"errors"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// MostRows is how many entries one page of a list has at most.
const MostRows = 200

// ErrAfter: a list cannot go on from there, since After is not what its page before had as Next.
var ErrAfter = errors.New("the list cannot go on from there: after is not the next of a page")

// FleetQuery selects declared zones, and a page of them. The zero value selects all.
type FleetQuery struct {
	Account  string            // its key
	Outcomes []Outcome         // any of them; none: all
	Labels   map[string]string // all of them
	Text     string            // in the name of the zone, or its id, in any case
	// May reports whether whoever asks may see a zone; nil: all. A zone that they may not
	// see is in no count.
	May func(ZoneLabels) bool
	// After is Next of the page before; empty: the first page.
	After string
	Limit int // 0, or more than [MostRows]: MostRows
}

// ZoneLabels are the labels of a zone: as the commit in force declares them, and as they were
// when the zone was proved last (nil: never). A right by labels needs both: the author of a
// commit chooses the former.
type ZoneLabels struct{ Declared, Proved map[string]string }

// Fleet is a page of the zones that are declared, sorted by name, with counts.
type Fleet struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	Commit  string    `json:"commit"` // in force; empty: none yet
	// Declared counts all zones, and Outcomes these by outcome; every outcome has its count.
	Declared int             `json:"declared"`
	Outcomes map[Outcome]int `json:"outcomes"`
	// Matches counts the zones that the query selects, on all pages.
	Matches int    `json:"matches"`
	Zones   []Row  `json:"zones"`
	Next    string `json:"next,omitempty"` // for [FleetQuery].After; empty: no page follows
}

// Row is one zone in a list.
type Row struct {
	Zone     string            `json:"zone"`
	Scope    edge.Scope        `json:"zone_id"`
	Account  string            `json:"account"`
	Labels   map[string]string `json:"labels,omitempty"`
	Origin   desired.Origin    `json:"origin"`
	Outcome  Outcome           `json:"outcome"`
	Reason   string            `json:"reason,omitempty"` // of the most severe decision
	Since    time.Time         `json:"since,omitzero"`   // when that was decided so first
	Approve  string            `json:"approve,omitempty"`
	LookedAt time.Time         `json:"looked_at,omitzero"`
	Held     bool              `json:"held,omitempty"`
}

// Grid is the outcome of each zone that a query selects, in the order of [Fleet], without paging.
type Grid struct {
	Outcomes []Outcome
	Scopes   []edge.Scope
}

// CommitList is a page of accepted commits, the newest first.
type CommitList struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	InForce string    `json:"in_force"`
	// Held is the newest commit, where it is not in force; Rollout is of the one that is.
	Held    *Newer          `json:"held,omitempty"`
	Rollout *Rollout        `json:"rollout,omitempty"`
	Changes *Changes        `json:"changes,omitempty"`
	Commits []CommitSummary `json:"commits"`
	Next    string          `json:"next,omitempty"`
}

// CommitSummary is one accepted commit, with what was written for it.
type CommitSummary struct {
	Commit     string    `json:"commit"`
	Author     string    `json:"author,omitempty"`  // as it says itself
	Message    string    `json:"message,omitempty"` // its first line
	AcceptedAt time.Time `json:"accepted_at"`
	Writes     int       `json:"writes"` // of those that the history still has
	Zones      int       `json:"zones"`
	Failed     int       `json:"failed"` // writes that did not converge
}

// EntryList is a page of the history, the newest entry first.
type EntryList struct {
	Version int               `json:"version"`
	At      time.Time         `json:"at"`
	Entries []reconcile.Entry `json:"entries"`
	Next    string            `json:"next,omitempty"`
}

// TokenList is a page of all declared tokens and those on record, by key and id.
type TokenList struct {
	Version  int        `json:"version"`
	At       time.Time  `json:"at"`
	LookedAt time.Time  `json:"looked_at,omitzero"` // zero: not since the start
	Tokens   []TokenRow `json:"tokens"`
	Next     string     `json:"next,omitempty"`
}

// TokenRow is one declaration of a token, and the token that counts for it. It has no secret.
type TokenRow struct {
	Token   string         `json:"token"`
	Account string         `json:"account,omitempty"` // empty: of the user
	Origin  desired.Origin `json:"origin,omitzero"`
	ID      edge.TokenID   `json:"id,omitempty"`
	Outcome Outcome        `json:"outcome"`
	Reason  string         `json:"reason,omitempty"`
	Fix     string         `json:"fix,omitempty"`
	Created time.Time      `json:"created,omitzero"`
	Ends    time.Time      `json:"ends,omitzero"`    // zero: never, or not known
	Rotates time.Time      `json:"rotates,omitzero"` // when its successor is due; zero: none
}

// DeprecationList is the calendar of deprecations, with what of it concerns this fleet.
type DeprecationList struct {
	Version      int           `json:"version"`
	At           time.Time     `json:"at"`
	Deprecations []Deprecation `json:"deprecations"` // by their end
}

// Deprecation is one entry of the calendar.
type Deprecation struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Announced time.Time `json:"announced,omitzero"`
	Ends      time.Time `json:"ends,omitzero"` // zero: no end is announced
	Replace   string    `json:"replace,omitempty"`
	URL       string    `json:"url,omitempty"`
	// Concerns says what here depends on it, a line each; empty: nothing known.
	Concerns []string `json:"concerns"`
}

// PullRequestList is a page of the open pull requests with their newest reviews.
type PullRequestList struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	// Reviewed is false where no forge is configured; LookedAt is when the forge listed them
	// last, zero: not since the start.
	Reviewed     bool          `json:"reviewed"`
	LookedAt     time.Time     `json:"looked_at,omitzero"`
	PullRequests []PullRequest `json:"pull_requests"` // the newest first
	Next         string        `json:"next,omitempty"`
}

// PullRequest is one pull request, and what Seawall said about its newest commit.
type PullRequest struct {
	Number     int       `json:"number"`
	Title      string    `json:"title,omitempty"`
	Author     string    `json:"author,omitempty"`
	URL        string    `json:"url,omitempty"`
	Head       string    `json:"head"`
	Verdict    string    `json:"verdict"` // success, failure, pending, error: the commit status
	Summary    string    `json:"summary,omitempty"`
	ReviewedAt time.Time `json:"reviewed_at,omitzero"`
	// Plan is the plan as the comment has it, as Markdown; only in the answer for one.
	Plan string `json:"plan,omitempty"`
}

// ZonePage is what is known of one zone, with what is live and its newest history.
type ZonePage struct {
	Zone
	Labels  map[string]string `json:"labels,omitempty"`
	Live    []LiveMember      `json:"live"` // of what is declared; none where Unread says why
	History []reconcile.Entry `json:"history"`
	// Waiting are the changes that a person may approve.
	Waiting []WaitingChange `json:"waiting"`
	May     ZoneLabels      `json:"-"`
}

// LiveMember is a declared member beside its live value.
type LiveMember struct {
	Kind       desired.KindName `json:"kind,omitempty"`
	Deployment string           `json:"deployment"`
	Path       string           `json:"path"`
	Declared   any              `json:"declared"`
	Live       any              `json:"live,omitempty"` // absent: there is none
	Same       bool             `json:"same"`
	Origin     desired.Origin   `json:"origin"`
}

// WaitingChange is a change that a guard holds back until a person approves its digest.
type WaitingChange struct {
	Digest string         `json:"digest"`
	Zone   string         `json:"zone"`
	Scope  edge.Scope     `json:"zone_id"`
	Guard  diff.Guard     `json:"guard"`
	Reason string         `json:"reason"`
	Fields []Field        `json:"fields"`
	Way    diff.Direction `json:"direction"`
}
