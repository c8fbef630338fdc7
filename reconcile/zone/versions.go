package zone

import (
	"context"
	"errors"
	"maps"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// mostVersions bounds how many versions of the past are kept in memory for an account.
const mostVersions = 64

// Versions adds to live the versions of managed rulesets that a zone runs, or is declared
// to run, and that are not the latest. A version never changes: it is read once. It reads
// nothing where the profile has no such call, and writes to no map that live has.
func (a *Accounts) Versions(ctx context.Context, of desired.Account, zone desired.Zone, live *diff.AccountLive, entryPoint edge.Ruleset) error {
	ctx = a.hurried(ctx)
	if live.Documented || live.Listed.Err != nil {
		return nil //nolint:nilerr // the list's error is reported by itself
	}
	known := a.of(of.ID)
	for _, v := range rulesets.Versions(of, zone, *live, entryPoint) {
		if have, read := live.Versions[v]; read && have.Err == nil {
			continue
		}
		full, err := a.version(ctx, known, of.ID, v)
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		all := make(map[diff.RulesetVersion]diff.Observed[edge.Ruleset], len(live.Versions)+1)
		maps.Copy(all, live.Versions) // which zones that are worked on at once may share
		all[v] = diff.Observed[edge.Ruleset]{Value: full, Err: err}
		live.Versions = all
	}
	return nil
}

func (a *Accounts) version(ctx context.Context, known *account, id edge.AccountID, v diff.RulesetVersion) (edge.Ruleset, error) {
	known.mu.Lock()
	have, ok := known.versions[v]
	known.mu.Unlock()
	if ok {
		return have.Value, have.Err
	}
	full, err := a.reader.RulesetVersion(ctx, edge.AccountScope(id), v.Ruleset, v.Version)
	if err != nil && !errors.Is(err, edge.ErrNotFound) {
		return edge.Ruleset{}, err
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if err == nil {
		if known.versions == nil || len(known.versions) >= mostVersions {
			known.versions = map[diff.RulesetVersion]diff.Observed[edge.Ruleset]{}
		}
		known.versions[v] = diff.Observed[edge.Ruleset]{Value: full}
	}
	return full, err
}
