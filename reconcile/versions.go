package reconcile

import (
	"context"
	"errors"
	"time"

	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/edge"
)

// RulesetPages is what new versions of managed rulesets meant when they were seen, a page at a
// time. It compares nothing with what is declared: that was done once, when a version was
// recorded. A version without the one before it on record is not among them.
type RulesetPages interface {
	// NewVersions returns the versions that a filter selects, the one that was seen last first,
	// and whether there are earlier ones.
	NewVersions(ctx context.Context, filter VersionFilter) (versions []NewVersion, earlier bool, err error)
	// VersionDetail returns one version with its zones from a place on: a page of them, or with all
	// every one. It returns [ErrNoVersion] where it is not on record.
	VersionDetail(ctx context.Context, number int64, from int, all bool) (VersionDetail, error)
	// FirstVersions returns each managed ruleset of which there is a version on record.
	FirstVersions(ctx context.Context) ([]FirstVersion, error)
}

// ErrNoVersion: a version of a managed ruleset is not on record, or not any more.
var ErrNoVersion = errors.New("this version of a managed ruleset is not on record")

// VersionFilter selects new versions, and a page of them.
type VersionFilter struct {
	Accounts []edge.AccountID // of any of them; nil: all
	Since    time.Time        // seen then or later
	Before   int64            // with a lower number; 0: the newest
	Last     int              // at most so many
	Classes  bool             // with their classes
}

// NewVersion is a version of a managed ruleset that followed another one in an account. Without
// Zones, what it meant is not on record: an earlier program has recorded it.
type NewVersion struct {
	Number int64 // grows with each version that is seen
	radar.News
	Classes []radar.Class
}

// VersionDetail is all that is on record of a new version.
type VersionDetail struct {
	NewVersion
	Rules radar.Rules
	Zones []radar.Extract // from place From on
	From  int
	Next  int // the place at which the next page begins; 0: there is none
}

// FirstVersion is the first version on record of a managed ruleset in an account.
type FirstVersion struct {
	Account edge.AccountID
	Ruleset edge.RulesetID
	At      time.Time // when it was seen
}
