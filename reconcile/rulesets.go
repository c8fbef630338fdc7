package reconcile

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// RulesetMemory keeps the versions of managed rulesets that were seen, so that what a new one
// changes can be told. reconcile/ledger does. Of each ruleset of each account the last
// [MostVersions] are kept.
type RulesetMemory interface {
	// SawRuleset records a version that was read, of the account of this key, where it differs
	// from the one that was seen last. news reports whether it does; a first version is news.
	// before is the one that was seen before it; nil where it is the first. What a version means
	// that is news and not the first is recorded with it, as means says.
	SawRuleset(ctx context.Context, account string, seen rulesets.Seen, means func(before rulesets.Seen) radar.Published) (before *rulesets.Seen, news bool, err error)
	// Rulesets returns the versions on record, in the order in which they were seen. What
	// cannot be read fails the whole: it is never no change.
	Rulesets(ctx context.Context) ([]rulesets.Seen, error)
}

// MostVersions is how many versions of a managed ruleset are kept: more than a year of them,
// where one is published each week.
const MostVersions = 60

// PublishedEntry is the entry of a new version of a managed ruleset.
func PublishedEntry(account string, before, now rulesets.Seen) Entry {
	return Entry{
		Kind: EntryFound, Action: ActionPublished, Trigger: TriggerSync, Subject: Subject{Account: account, Ruleset: now.Ruleset.ID},
		Members: []MemberChange{{Path: diff.Member("version"), Old: rawValue(before.Ruleset.Version), New: rawValue(now.Ruleset.Version)}},
		Reason:  fmt.Sprintf("%q, rules: %s", now.Ruleset.Name, rulesets.Compare(before.Ruleset, now.Ruleset)),
	}
}

// Radar records the versions of managed rulesets that are read, and tells what a new one means
// for the zones that are declared.
type Radar struct {
	Memory RulesetMemory
	Log    *slog.Logger
	Told   func(radar.Report) // told of each new version; nil is not
}

// Saw records a version that was read of an account, which has all zones that are declared;
// listed are the rulesets that the account had then. A version that is on record already is
// told of where fresh says that this process had another one before.
func (r Radar) Saw(ctx context.Context, account desired.Account, listed []edge.Ruleset, ruleset edge.Ruleset, at time.Time, fresh bool) error {
	seen := rulesets.Seen{Account: account.ID, At: at, Ruleset: ruleset}
	var report radar.Report
	means := func(before rulesets.Seen) radar.Published {
		if report = meaning(account, listed, before, seen); len(report.Rulesets) == 0 {
			return radar.Compared(radar.Account{Key: account.Key, ID: account.ID}, before, seen)
		}
		return report.Rulesets[0]
	}
	before, news, err := r.Memory.SawRuleset(ctx, account.Key, seen, means)
	if err != nil {
		return fmt.Errorf("recording version %s of managed ruleset %q: %w", ruleset.Version, ruleset.Name, err)
	}
	if before == nil || !news && !fresh {
		return nil
	}
	if !news { // another process has recorded what it means
		means(*before)
	}
	r.log(ctx, account.Key, *before, seen, report)
	if r.Told != nil {
		r.Told(report)
	}
	return nil
}

// meaning compares two versions of a ruleset by what an account declares.
func meaning(account desired.Account, listed []edge.Ruleset, before, seen rulesets.Seen) radar.Report {
	return radar.Make(radar.Input{
		State: desired.State{Accounts: []desired.Account{account}}, Seen: []rulesets.Seen{before, seen}, Ruleset: string(seen.Ruleset.ID),
		RulesetOf: func(_ desired.Account, ref desired.RulesetRef) edge.RulesetID {
			found, err := rulesets.Find(ref, listed)
			if err != nil {
				return ""
			}
			return found.ID
		},
	})
}

// log writes one line of a new version.
func (r Radar) log(ctx context.Context, account string, before, now rulesets.Seen, report radar.Report) {
	level := slog.LevelInfo
	if report.Weakens() || report.Blocked() > 0 {
		level = slog.LevelWarn
	}
	r.Log.Log(ctx, level, "a managed ruleset has a new version", "account", account, "ruleset", now.Ruleset.Name, "ruleset_id", string(now.Ruleset.ID),
		"from", before.Ruleset.Version, "to", now.Ruleset.Version, "rules", rulesets.Compare(before.Ruleset, now.Ruleset).String(),
		"weakened", report.Towards(diff.Weakens), "strengthened", report.Towards(diff.Strengthens), "blocked", report.Blocked(), "hint", "seawall radar")
}
