package reconciletest

import (
	"context"
	"encoding/json"

	"github.com/seawall-dev/seawall/edge"
)

// SkipManaged is a rule of an earlier phase that turns all deployments off for the requests that
// match.
func SkipManaged(expression string) edge.Rule {
	return edge.Rule{
		Action: edge.ActionSkip, Expression: expression,
		ActionParameters: &edge.ActionParameters{Extra: map[string]json.RawMessage{"phases": json.RawMessage(`["http_request_firewall_managed"]`)}},
	}
}

// Block is a rule of an earlier phase that turns nothing off.
func Block(expression string) edge.Rule {
	return edge.Rule{Action: edge.ActionBlock, Expression: expression}
}

// Put puts rules into the entry point of a phase, in the place of what it has, as a person in a
// dashboard does.
func (f Fleet) Put(scope edge.Scope, phase edge.Phase, rules ...edge.Rule) {
	f.T.Helper()
	body, err := json.Marshal(edge.EntryPointBody(scope, phase, rules))
	if err == nil {
		_, err = f.Platform.In(scope, false).ReplaceEntryPoint(context.Background(), phase, body)
	}
	if err != nil {
		f.T.Fatalf("%v", err)
	}
}
