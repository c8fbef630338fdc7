package mem

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seawall-dev/seawall/edge"
)

// RulesetCalls are the calls of the contract on zones, accounts and rulesets, which a
// [Platform] has itself. They encode their bodies and hand them to [Rulesets].
type RulesetCalls struct{ p *Platform }

// in returns the rulesets of a scope for a call, where that is offered.
func (c RulesetCalls) in(ctx context.Context, call edge.Call, scope edge.Scope, request string, dry bool) (Rulesets, error) {
	if err := ctx.Err(); err != nil {
		return Rulesets{}, err
	}
	if !c.p.Offers(call, scope.Level) || dry && !c.p.extended {
		return Rulesets{}, notOffered(request)
	}
	return c.p.In(scope, dry), nil
}

// read answers a call that only reads, where that is offered.
func read[T any](ctx context.Context, c RulesetCalls, call edge.Call, scope edge.Scope, path string, do func(Rulesets) (T, error)) (none T, err error) {
	r, err := c.in(ctx, call, scope, "GET "+path, false)
	if err != nil {
		return none, err
	}
	return do(r)
}

// Rulesets lists rulesets in the order of the seed, without their rules: a zone's
// with the managed ones of its account.
func (c RulesetCalls) Rulesets(ctx context.Context, scope edge.Scope) ([]edge.Ruleset, error) {
	return read(ctx, c, edge.CallRulesets, scope, edge.RulesetsPath(scope), func(r Rulesets) ([]edge.Ruleset, error) { return r.List(ctx) })
}

// Ruleset returns one of them with its rules. Under the quirk ruleset-bump a read
// may find a newer version.
func (c RulesetCalls) Ruleset(ctx context.Context, scope edge.Scope, id edge.RulesetID) (edge.Ruleset, error) {
	return read(ctx, c, edge.CallRuleset, scope, edge.RulesetPath(scope, id), func(r Rulesets) (edge.Ruleset, error) { return r.Get(ctx, id) })
}

// RulesetVersion returns a ruleset as it was at a version.
func (c RulesetCalls) RulesetVersion(ctx context.Context, scope edge.Scope, id edge.RulesetID, version string) (edge.Ruleset, error) {
	return read(ctx, c, edge.CallRulesetVersion, scope, edge.VersionPath(scope, id, version), func(r Rulesets) (edge.Ruleset, error) {
		return r.Version(ctx, id, version)
	})
}

// EntryPoint returns the entry point of a phase. A zone without one and a zone that
// does not exist are different errors.
func (c RulesetCalls) EntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	return read(ctx, c, edge.CallEntryPoint, scope, edge.EntryPointPath(scope, phase), func(r Rulesets) (edge.Ruleset, error) { return r.EntryPoint(ctx, phase) })
}

// Send makes a write, with the encoding of its body.
func (c RulesetCalls) Send(ctx context.Context, w edge.Write) (*edge.Ruleset, error) {
	return c.write(ctx, w, false)
}

// Try is the dry run of a write.
func (c RulesetCalls) Try(ctx context.Context, w edge.Write) error {
	if w.Call == edge.CallDeleteRule {
		return notOffered(w.String())
	}
	_, err := c.write(ctx, w, true)
	return err
}

// write calls what [edge.BeforeSend] put into the context unless the run is dry.
func (c RulesetCalls) write(ctx context.Context, w edge.Write, dry bool) (*edge.Ruleset, error) {
	r, err := c.in(ctx, w.Call, w.Scope, w.String(), dry)
	if err != nil {
		return nil, err
	}
	body, err := encode(ctx, w.Body())
	if err == nil && !dry {
		err = edge.Sending(ctx)
	}
	if err != nil {
		return nil, err
	}
	switch w.Call {
	case edge.CallCreateEntryPoint:
		return r.Create(ctx, body)
	case edge.CallAddRule:
		return r.AddRule(ctx, w.EntryPoint, body)
	case edge.CallUpdateRule:
		return r.UpdateRule(ctx, w.EntryPoint, w.Rule, body)
	default:
		return r.DeleteRule(ctx, w.EntryPoint, w.Rule)
	}
}

// encode encodes a body, unless the call has ended.
func encode(ctx context.Context, body any) ([]byte, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encoding the request body: %w", err)
	}
	return data, ctx.Err()
}
