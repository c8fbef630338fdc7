package client

import (
	"context"
	"fmt"
	"net/http"
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
	if err := r.check(edge.CallRulesets, scope); err != nil {
		return nil, err
	}
	return r.c.rulesets(ctx, edge.RulesetsPath(scope))
}

// rulesets lists the rulesets at a path.
func (c *Client) rulesets(ctx context.Context, path string) ([]edge.Ruleset, error) {
	list := call{class: read, method: http.MethodGet, path: path}
	var all []edge.Ruleset
	seen := map[string]bool{"": true}
	for cursor := ""; len(seen) <= maxPages; seen[cursor] = true {
		page, after, err := c.rulesetPage(ctx, list, cursor)
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
	if err := r.check(edge.CallRuleset, scope, string(id)); err != nil {
		return edge.Ruleset{}, err
	}
	return r.c.ruleset(ctx, edge.RulesetPath(scope, id))
}

// RulesetVersion returns a ruleset as it was at a version.
func (r rulesetCalls) RulesetVersion(ctx context.Context, scope edge.Scope, id edge.RulesetID, version string) (edge.Ruleset, error) {
	if err := r.check(edge.CallRulesetVersion, scope, string(id)); err != nil {
		return edge.Ruleset{}, err
	}
	return r.c.ruleset(ctx, edge.VersionPath(scope, id, version))
}

// EntryPoint returns the entry point of a phase. As long as the platform answers the
// same it is the same value, which must not be written to.
func (r rulesetCalls) EntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	if err := r.check(edge.CallEntryPoint, scope); err != nil {
		return edge.Ruleset{}, err
	}
	return r.c.ruleset(ctx, edge.EntryPointPath(scope, phase))
}

func (c *Client) ruleset(ctx context.Context, path string) (edge.Ruleset, error) {
	get := call{class: read, method: http.MethodGet, path: path}
	return ask(ctx, c, get, func(r wire.Response) (edge.Ruleset, error) { return c.decodeRuleset(get, r) })
}

// checkRuleset refuses what cannot be a ruleset: an object of something else
// decodes without a complaint and would read as a ruleset without rules.
func (c call) checkRuleset(r edge.Ruleset) error {
	if r.ID == "" {
		return c.unreadable("the answer holds a ruleset without an id")
	}
	return nil
}

// check refuses a call in a scope that is not offered, and ids that cannot exist: that of a
// ruleset, and that of a rule.
func (r rulesetCalls) check(call edge.Call, scope edge.Scope, ids ...string) error {
	if scope.Level != edge.LevelZone && scope.Level != edge.LevelAccount {
		return fmt.Errorf("%s of %q: %w", call, scope, edge.ErrNotFound)
	}
	err := r.checkOffered(call, scope.Level)
	if err == nil {
		err = checkID(string(scope.Level), scope.ID)
	}
	for i, id := range ids {
		if err == nil {
			err = checkID([]string{"ruleset", "rule"}[i], id)
		}
	}
	return err
}

func (r rulesetCalls) checkOffered(call edge.Call, level edge.Level) error {
	if !r.c.Offers(call, level) {
		return fmt.Errorf("%s of a %s: %w", call, level, edge.ErrNotOffered)
	}
	return nil
}

// checkID refuses an id of another form than the platform's: it cannot exist, and must not
// become a part of a path.
func checkID(what, id string) error {
	if !edge.ValidID(id) {
		return fmt.Errorf("%s %q: %w: an id is 32 hexadecimal digits", what, id, edge.ErrNotFound)
	}
	return nil
}
