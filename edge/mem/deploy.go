package mem

import (
	"context"

	"github.com/seawall-dev/seawall/edge"
)

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
