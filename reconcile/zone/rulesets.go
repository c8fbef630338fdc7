package zone

import (
	"context"
	"errors"
	"fmt"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// mostAsked bounds how many zones of an account are asked for their lists of rulesets at
// a time: plans differ, and with them what a zone can deploy.
const mostAsked = 3

// listAnew lists the rulesets of an account. Where the credential may not list them, what
// its zones can deploy serves, or else the rulesets whose ids are declared. The caller has
// the account's turn.
func (a *Accounts) listAnew(ctx context.Context, of desired.Account) (listed []edge.Ruleset, byZone bool, err error) {
	listed, err = a.reader.Rulesets(ctx, edge.AccountScope(of.ID))
	if !errors.Is(err, edge.ErrForbidden) {
		return listed, false, err
	}
	listed, asked, zoneErr := a.ofZones(ctx, of, nil)
	if len(listed) > 0 || ctx.Err() != nil {
		return listed, true, ctx.Err()
	}
	for _, ref := range deployed(of) {
		if ref.ID == "" {
			continue
		}
		if full, readErr := a.full(ctx, of, ref.ID); readErr == nil {
			full.Rules = nil
			listed = append(listed, full)
		}
	}
	switch {
	case len(listed) > 0, asked > 0 && zoneErr == nil: // other zones may be able to deploy more
		return listed, true, nil
	case zoneErr != nil:
		return nil, false, fmt.Errorf("%w; asking a zone: %w", err, zoneErr)
	}
	return nil, false, err
}

// ofZones adds what zones can deploy to a list, until it has all that is declared, and
// returns how many zones were asked.
func (a *Accounts) ofZones(ctx context.Context, of desired.Account, listed []edge.Ruleset) (_ []edge.Ruleset, asked int, _ error) {
	if !a.reader.Offers(edge.CallRulesets, edge.LevelZone) {
		return listed, 0, nil
	}
	for _, z := range of.Zones {
		if desired.Sought(z.Scope.ID) || z.Scope.Level == edge.LevelAccount || len(z.Deployments) == 0 || asked == mostAsked || asked > 0 && complete(of, listed) {
			continue
		}
		asked++
		rulesets, err := a.reader.Rulesets(ctx, z.Scope)
		if err != nil {
			return listed, asked, err
		}
		for _, r := range rulesets {
			if r.Kind == edge.KindManaged && !lists(listed, r.ID) {
				listed = append(listed[:len(listed):len(listed)], r)
			}
		}
	}
	return listed, asked, nil
}

// complete reports whether a list has all rulesets that an account's zones deploy.
func complete(of desired.Account, listed []edge.Ruleset) bool {
	for _, ref := range deployed(of) {
		if _, err := rulesets.Find(ref, listed); err != nil {
			return false
		}
	}
	return true
}

// full reads a ruleset, by way of a zone where the credential may not read the account's.
func (a *Accounts) full(ctx context.Context, of desired.Account, id edge.RulesetID) (edge.Ruleset, error) {
	full, err := a.reader.Ruleset(ctx, edge.AccountScope(of.ID), id)
	if !errors.Is(err, edge.ErrForbidden) || !a.reader.Offers(edge.CallRuleset, edge.LevelZone) {
		return full, err
	}
	for _, z := range of.Zones {
		if !desired.Sought(z.Scope.ID) && z.Scope.Level != edge.LevelAccount {
			if full, zoneErr := a.reader.Ruleset(ctx, z.Scope, id); zoneErr == nil {
				return full, nil
			}
			break
		}
	}
	return full, err
}

// more adds what a zone can deploy to an account's list that was made of other zones'
// lists, once for each zone and list. The caller has the account's turn.
func (a *Accounts) more(ctx context.Context, known *account, of desired.Account, listed []edge.Ruleset) []edge.Ruleset {
	known.mu.Lock()
	byZone := known.byZone
	known.mu.Unlock()
	if !byZone || complete(of, listed) || len(of.Zones) != 1 || known.zones[of.Zones[0].Scope] {
		return listed
	}
	known.zones[of.Zones[0].Scope] = true
	listed, _, err := a.ofZones(ctx, of, listed)
	if err != nil {
		return listed // the plan says what is missing
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	known.listed = listed
	return listed
}
