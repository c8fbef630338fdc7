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
	Reason   string            `json:"reason,omitempty"`  // of the most severe decision
	Since    time.Time         `json:"since,omitzero"`    // when that was decided so first
	Approve  string            `json:"approve,omitempty"` // the first digest that a person may approve
	LookedAt time.Time         `json:"looked_at,omitzero"`
	Held     bool              `json:"held,omitempty"`
	May      ZoneLabels        `json:"-"` // by which it is decided who may do something about it
}

// Grid is the outcome of each zone that a query selects, in the order of [Fleet], without paging.
type Grid struct {
	Outcomes []Outcome
	Scopes   []edge.Scope
}

// ZonePage is what is known of one zone, with what is live and its newest history.
type ZonePage struct {
	Zone
	Labels map[string]string `json:"labels,omitempty"`
	// LabelsProved are those that the zone had when it was proved last; none: it had none, or
	// was never proved.
	LabelsProved map[string]string `json:"labels_proved,omitempty"`
	Live         []LiveMember      `json:"live"`
	History      []reconcile.Entry `json:"history"`
	// HistoryUnread: the database does not answer, so the history cannot be read now.
	HistoryUnread bool `json:"history_unread,omitempty"`
	// Waiting are the changes that a person may approve.
	Waiting []WaitingChange `json:"waiting"`
	May     ZoneLabels      `json:"-"`
}

// WaitingChange is a change that a guard holds back until a person approves its digest.
type WaitingChange struct {
	Digest string         `json:"digest"`
	Zone   string         `json:"zone"`
	Scope  edge.Scope     `json:"zone_id"`
	Guard  diff.Guard     `json:"guard"`
	Reason string         `json:"reason"`
	What   []string       `json:"what"` // update core: a line for each change that the digest stands for
	Fields []Field        `json:"fields"`
	Way    diff.Direction `json:"direction"`
}
