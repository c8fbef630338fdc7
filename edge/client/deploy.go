package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
)

var _ edge.ExtendedPlatform = (*Client)(nil)

// beyondCalls are the calls on rulesets and zones that are known beyond the
// reference, which a [Client] has itself.
type beyondCalls struct{ client *Client }

// RulesetVersion returns a ruleset as it was at a version.
func (b beyondCalls) RulesetVersion(ctx context.Context, scope edge.Scope, id edge.RulesetID, version string) (edge.Ruleset, error) {
	if err := checkIDs(scope, id); err != nil {
		return edge.Ruleset{}, err
	}
	return b.client.ruleset(ctx, edge.VersionPath(scope, id, version))
}

// CreateEntryPoint sends one POST of a ruleset, which the platform refuses where
// the zone has an entry point.
func (b beyondCalls) CreateEntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase, rules []edge.Rule) (*edge.Ruleset, error) {
	post, err := createEntryPoint(scope, phase, rules)
	if err != nil {
		return nil, err
	}
	return b.client.write(ctx, scope, post, func(answer edge.Ruleset) bool { return answer.ID != "" && answer.Kind == scope.EntryKind() })
}

// TryCreateEntryPoint sends it as a dry run.
func (b beyondCalls) TryCreateEntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase, rules []edge.Rule) error {
	post, err := createEntryPoint(scope, phase, rules)
	if err != nil {
		return err
	}
	return b.client.dryRun(ctx, post)
}

func createEntryPoint(scope edge.Scope, phase edge.Phase, rules []edge.Rule) (call, error) {
	if err := checkIDs(scope); err != nil {
		return call{}, err
	}
	return call{class: update, method: http.MethodPost, path: edge.RulesetsPath(scope), tells: true}.with(edge.EntryPointBody(scope, phase, rules))
}

// AddRule sends one POST of a rule.
func (b beyondCalls) AddRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, body edge.Rule) (*edge.Ruleset, error) {
	post, err := addRule(scope, entryPoint, body)
	if err != nil {
		return nil, err
	}
	return b.client.write(ctx, scope, post, is(entryPoint))
}

// TryAddRule sends it as a dry run.
func (b beyondCalls) TryAddRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, body edge.Rule) error {
	post, err := addRule(scope, entryPoint, body)
	if err != nil {
		return err
	}
	return b.client.dryRun(ctx, post)
}

func addRule(scope edge.Scope, entryPoint edge.RulesetID, body edge.Rule) (call, error) {
	if err := checkIDs(scope, entryPoint); err != nil {
		return call{}, err
	}
	return call{class: update, method: http.MethodPost, path: edge.RulesPath(scope, entryPoint), tells: true}.with(body.Update())
}

// TryUpdateRule sends the PATCH of UpdateRule as a dry run.
func (b beyondCalls) TryUpdateRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, rule edge.RuleID, body edge.Rule) error {
	patch, err := updateRule(scope, entryPoint, rule, body)
	if err != nil {
		return err
	}
	return b.client.dryRun(ctx, patch)
}

// DeleteRule sends one DELETE of a rule.
func (b beyondCalls) DeleteRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, rule edge.RuleID) (*edge.Ruleset, error) {
	if err := checkIDs(scope, entryPoint, rule); err != nil {
		return nil, err
	}
	return b.client.write(ctx, scope, call{class: remove, method: http.MethodDelete, path: edge.RulePath(scope, entryPoint, rule), tells: true}, is(entryPoint))
}

// with gives a call a body.
func (c call) with(body any) (call, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return c, fmt.Errorf("%s: encoding the body: %w", c, err)
	}
	c.body = json.RawMessage(data)
	return c, nil
}

func is(id edge.RulesetID) func(edge.Ruleset) bool {
	return func(answer edge.Ruleset) bool { return answer.ID == id }
}

// write sends a write of a zone's entry point. An answer that is not the entry point after
// the write is nil, and the caller reads. Mostly the read that proves a write is answered
// as the write was, so its answer is not decoded twice.
func (c *Client) write(ctx context.Context, scope edge.Scope, write call, expected func(edge.Ruleset) bool) (*edge.Ruleset, error) {
	var answer knownAnswer
	err := c.do(ctx, write, func(r wire.Response) error {
		answer = knownAnswer{status: r.Status, sum: sha256.Sum256(r.Body)}
		return r.DecodeOptional(&answer.ruleset)
	})
	if err != nil || !expected(answer.ruleset) {
		return nil, err
	}
	c.known.keep(edge.EntryPointPath(scope, answer.ruleset.Phase), answer)
	return &answer.ruleset, nil
}

// dryRun sends a write that the platform validates and does not make: it then
// answers without a result. It counts for the budget like any other request.
func (c *Client) dryRun(ctx context.Context, write call) error {
	write.class, write.tells, write.query = trial, false, url.Values{"dry_run": {"true"}}
	return c.do(ctx, write, func(r wire.Response) error {
		var result json.RawMessage
		err := r.DecodeOptional(&result)
		if err == nil && (len(result) > 0 || len(bytes.TrimSpace(r.Body)) == 0) {
			err = fmt.Errorf("%s: %w", write, edge.ErrNotDry)
		}
		return err
	})
}
