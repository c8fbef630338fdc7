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

// UpdateRule sends one PATCH. The reference does not show the answer: what is
// not the entry point with its new version is nil, and the caller reads. The
// answer must not be written to, as that of EntryPoint.
func (r rulesetCalls) UpdateRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, rule edge.RuleID, body edge.Rule) (*edge.Ruleset, error) {
	return r.updateRule(scope, entryPoint, rule, body).send(ctx)
}

// TryUpdateRule sends it as a dry run.
func (r rulesetCalls) TryUpdateRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, rule edge.RuleID, body edge.Rule) error {
	return r.updateRule(scope, entryPoint, rule, body).try(ctx)
}

func (r rulesetCalls) updateRule(scope edge.Scope, entryPoint edge.RulesetID, rule edge.RuleID, body edge.Rule) change {
	patch := call{class: update, method: http.MethodPatch, path: edge.RulePath(scope, entryPoint, rule)}
	err := r.check(edge.CallUpdateRule, scope, string(entryPoint), string(rule))
	return r.change(err, scope, patch, body, is(entryPoint))
}

// CreateEntryPoint sends one POST of a ruleset, which the platform refuses where
// there is an entry point.
func (r rulesetCalls) CreateEntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase, rules []edge.Rule) (*edge.Ruleset, error) {
	return r.createEntryPoint(scope, phase, rules).send(ctx)
}

// TryCreateEntryPoint sends it as a dry run.
func (r rulesetCalls) TryCreateEntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase, rules []edge.Rule) error {
	return r.createEntryPoint(scope, phase, rules).try(ctx)
}

func (r rulesetCalls) createEntryPoint(scope edge.Scope, phase edge.Phase, rules []edge.Rule) change {
	post := call{class: update, method: http.MethodPost, path: edge.RulesetsPath(scope)}
	expected := func(answer edge.Ruleset) bool { return answer.ID != "" && answer.Kind == scope.EntryKind() }
	return r.change(r.check(edge.CallCreateEntryPoint, scope), scope, post, edge.EntryPointBody(scope, phase, rules), expected)
}

// AddRule sends one POST of a rule.
func (r rulesetCalls) AddRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, body edge.Rule) (*edge.Ruleset, error) {
	return r.addRule(scope, entryPoint, body).send(ctx)
}

// TryAddRule sends it as a dry run.
func (r rulesetCalls) TryAddRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, body edge.Rule) error {
	return r.addRule(scope, entryPoint, body).try(ctx)
}

func (r rulesetCalls) addRule(scope edge.Scope, entryPoint edge.RulesetID, body edge.Rule) change {
	post := call{class: update, method: http.MethodPost, path: edge.RulesPath(scope, entryPoint)}
	return r.change(r.check(edge.CallAddRule, scope, string(entryPoint)), scope, post, body.Update(), is(entryPoint))
}

// DeleteRule sends one DELETE of a rule.
func (r rulesetCalls) DeleteRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, rule edge.RuleID) (*edge.Ruleset, error) {
	gone := call{class: remove, method: http.MethodDelete, path: edge.RulePath(scope, entryPoint, rule)}
	err := r.check(edge.CallDeleteRule, scope, string(entryPoint), string(rule))
	return r.change(err, scope, gone, nil, is(entryPoint)).send(ctx)
}

func is(id edge.RulesetID) func(edge.Ruleset) bool {
	return func(answer edge.Ruleset) bool { return answer.ID == id }
}

// change is a write of an entry point, to be sent or tried.
type change struct {
	c        *Client
	scope    edge.Scope
	write    call
	expected func(edge.Ruleset) bool // whether an answer is the entry point after the write
	err      error                   // why it cannot be sent
}

// change makes a write with a body, nil for none; err is what is against it.
func (r rulesetCalls) change(err error, scope edge.Scope, write call, body any, expected func(edge.Ruleset) bool) change {
	x := change{c: r.c, scope: scope, write: write, expected: expected, err: err}
	if err != nil || body == nil {
		return x
	}
	data, err := json.Marshal(body)
	if err != nil {
		x.err = fmt.Errorf("%s: encoding the body: %w", write, err)
	}
	x.write.body = json.RawMessage(data)
	return x
}

// send sends the write. An answer that is not the entry point after
// the write is nil, and the caller reads. Mostly the read that proves a write is answered
// as the write was, so its answer is not decoded twice.
func (x change) send(ctx context.Context) (*edge.Ruleset, error) {
	if x.err != nil {
		return nil, x.err
	}
	x.write.tells = true
	var answer knownAnswer
	err := x.c.do(ctx, x.write, func(r wire.Response) error {
		answer = knownAnswer{status: r.Status, sum: sha256.Sum256(r.Body)}
		return r.DecodeOptional(&answer.ruleset)
	})
	if err != nil || !x.expected(answer.ruleset) {
		return nil, err
	}
	x.c.known.keep(edge.EntryPointPath(x.scope, answer.ruleset.Phase), answer)
	return &answer.ruleset, nil
}

// try has the platform validate the write and not make it: it then
// answers without a result. It counts for the budget like any other request.
func (x change) try(ctx context.Context) error {
	if x.err != nil {
		return x.err
	}
	x.write.class, x.write.query = trial, url.Values{"dry_run": {"true"}}
	return x.c.do(ctx, x.write, func(r wire.Response) error {
		var result json.RawMessage
		err := r.DecodeOptional(&result)
		if err == nil && (len(result) > 0 || len(bytes.TrimSpace(r.Body)) == 0) {
			err = fmt.Errorf("%s: %w", x.write, edge.ErrNotDry)
		}
		return err
	})
}
