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

// Rulesets lists rulesets, following the cursor through all pages.
func (c *Client) Rulesets(ctx context.Context, scope edge.Scope) ([]edge.Ruleset, error) {
	if err := checkIDs(scope); err != nil {
		return nil, err
	}
	return c.rulesets(ctx, edge.RulesetsPath(scope))
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
func (c *Client) Ruleset(ctx context.Context, scope edge.Scope, id edge.RulesetID) (edge.Ruleset, error) {
	if err := checkIDs(scope, id); err != nil {
		return edge.Ruleset{}, err
	}
	return c.ruleset(ctx, edge.RulesetPath(scope, id))
}

// EntryPoint returns the entry point of a phase. As long as the platform answers the
// same it is the same value, which must not be written to.
func (c *Client) EntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	if err := checkIDs(scope); err != nil {
		return edge.Ruleset{}, err
	}
	return c.ruleset(ctx, edge.EntryPointPath(scope, phase))
}

func (c *Client) ruleset(ctx context.Context, path string) (edge.Ruleset, error) {
	get := call{class: read, method: http.MethodGet, path: path}
	return ask(ctx, c, get, func(r wire.Response) (edge.Ruleset, error) { return c.decodeRuleset(get, r) })
}

// UpdateRule sends one PATCH. The reference does not show the answer: what is
// not the entry point with its new version is nil, and the caller reads. The
// answer must not be written to, as that of EntryPoint.
func (c *Client) UpdateRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, rule edge.RuleID, body edge.Rule) (*edge.Ruleset, error) {
	patch, err := updateRule(scope, entryPoint, rule, body)
	if err != nil {
		return nil, err
	}
	return c.write(ctx, scope, patch, is(entryPoint))
}

func updateRule(scope edge.Scope, entryPoint edge.RulesetID, rule edge.RuleID, body edge.Rule) (call, error) {
	if err := checkIDs(scope, entryPoint, rule); err != nil {
		return call{}, err
	}
	return call{class: update, method: http.MethodPatch, path: edge.RulePath(scope, entryPoint, rule), tells: true}.with(body)
}

// checkRuleset refuses what cannot be a ruleset: an object of something else
// decodes without a complaint and would read as a ruleset without rules.
func (c call) checkRuleset(r edge.Ruleset) error {
	if r.ID == "" {
		return c.unreadable("the answer holds a ruleset without an id")
	}
	return nil
}

// checkIDs refuses an id of another form than the platform's: it cannot exist, and must not
// become a part of a path.
func checkIDs(ids ...any) error {
	for _, id := range ids {
		what, text := "", fmt.Sprint(id)
		switch id := id.(type) {
		case edge.Scope:
			if what, text = string(id.Level), id.ID; id.Level != edge.LevelZone && id.Level != edge.LevelAccount {
				return fmt.Errorf("rulesets of %s: %w", id, edge.ErrNotFound)
			}
		case edge.ZoneID:
			what = "zone"
		case edge.AccountID:
			what = "account"
		case edge.RulesetID:
			what = "ruleset"
		case edge.RuleID:
			what = "rule"
		}
		if !edge.ValidID(text) {
			return fmt.Errorf("%s %q: %w: an id is 32 hexadecimal digits", what, text, edge.ErrNotFound)
		}
	}
	return nil
}
