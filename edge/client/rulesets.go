package client

import (
	"context"
	"fmt"
	"net/url"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
)

const (
	pageSize = 50
	maxPages = 1000
)

// rulesetCalls are the calls on zones, accounts and rulesets, which a [Client] has itself.
type rulesetCalls struct{ c *Client }

// Rulesets lists rulesets, following the cursor through all pages.
func (r rulesetCalls) Rulesets(ctx context.Context, scope edge.Scope) ([]edge.Ruleset, error) {
	if err := checkIDs(edge.CallRulesets, scope); err != nil {
		return nil, err
	}
	list := reading(edge.CallRulesets, scope.Level, edge.RulesetsPath(scope))
	var all []edge.Ruleset
	seen := map[string]bool{"": true}
	for cursor := ""; len(seen) <= maxPages; seen[cursor] = true {
		page, after, err := r.c.rulesetPage(ctx, list, cursor)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if after == "" {
			return all, nil
		}
		if seen[after] {
			return nil, list.unreadable("the cursor of the next page repeats")
		}
		cursor = after
	}
	return nil, list.unreadable(fmt.Sprintf("the list has more than %d pages", maxPages))
}

func (c *Client) rulesetPage(ctx context.Context, list call, cursor string) (page []edge.Ruleset, after string, err error) {
	list.query = url.Values{"per_page": {fmt.Sprint(pageSize)}}
	if cursor != "" {
		list.query.Set("cursor", cursor)
	}
	err = c.do(ctx, list, func(r wire.Response) (err error) {
		page = nil
		after, err = r.Decode(&page)
		for i := 0; i < len(page) && err == nil; i++ {
			err = list.checkRuleset(page[i])
		}
		return err
	})
	return page, after, err
}

// Ruleset returns one ruleset with its rules.
func (r rulesetCalls) Ruleset(ctx context.Context, scope edge.Scope, id edge.RulesetID) (edge.Ruleset, error) {
	return r.one(ctx, edge.CallRuleset, scope, edge.RulesetPath(scope, id), string(id))
}

// RulesetVersion returns a ruleset as it was at a version.
func (r rulesetCalls) RulesetVersion(ctx context.Context, scope edge.Scope, id edge.RulesetID, version string) (edge.Ruleset, error) {
	return r.one(ctx, edge.CallRulesetVersion, scope, edge.VersionPath(scope, id, version), string(id))
}

// EntryPoint returns the entry point of a phase. As long as the platform answers the
// same it is the same value, which must not be written to.
func (r rulesetCalls) EntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	return r.one(ctx, edge.CallEntryPoint, scope, edge.EntryPointPath(scope, phase))
}

// one asks for one ruleset. The ids are those in the path.
func (r rulesetCalls) one(ctx context.Context, name edge.Call, scope edge.Scope, path string, ids ...string) (edge.Ruleset, error) {
	if err := checkIDs(name, scope, ids...); err != nil {
		return edge.Ruleset{}, err
	}
	request := reading(name, scope.Level, path)
	return ask(ctx, r.c, request, func(answer wire.Response) (edge.Ruleset, error) { return r.c.decodeRuleset(request, answer) })
}

// checkRuleset refuses what cannot be a ruleset: an object of something else
// decodes without a complaint and would read as a ruleset without rules.
func (c call) checkRuleset(r edge.Ruleset) error {
	if r.ID == "" {
		return c.unreadable("the answer holds a ruleset without an id")
	}
	return nil
}

// checkIDs refuses a call in a scope that has no rulesets, and ids that cannot exist: that of a
// ruleset, and that of a rule.
func checkIDs(call edge.Call, scope edge.Scope, ids ...string) error {
	if scope.Level != edge.LevelZone && scope.Level != edge.LevelAccount {
		return fmt.Errorf("%s of %q: %w", call, scope, edge.ErrNotFound)
	}
	err := checkID(string(scope.Level), scope.ID)
	for i, id := range ids {
		if err == nil {
			err = checkID([]string{"ruleset", "rule"}[i], id)
		}
	}
	return err
}

// checkID refuses an id of another form than the platform's: it cannot exist, and must not
// become a part of a path.
func checkID(what, id string) error {
	if !edge.ValidID(id) {
		return fmt.Errorf("%s %q: %w: an id is 32 hexadecimal digits", what, id, edge.ErrNotFound)
	}
	return nil
}
