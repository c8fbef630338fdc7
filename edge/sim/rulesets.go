package sim

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/mem"
)

// The calls on rulesets that the vendor has in zones and in accounts. In the
// profile vendor they stand before those of the contract, which are some of them.
const (
	callListRulesets       wire.Call = "ListRulesets"
	callGetRuleset         wire.Call = "GetRuleset"
	callCreateRuleset      wire.Call = "CreateRuleset"
	callReplaceRuleset     wire.Call = "ReplaceRuleset"
	callDeleteRuleset      wire.Call = "DeleteRuleset"
	callGetEntryPoint      wire.Call = "GetEntryPoint"
	callReplaceEntryPoint  wire.Call = "ReplaceEntryPoint"
	callEntryPointVersions wire.Call = "EntryPointVersions"
	callEntryPointVersion  wire.Call = "EntryPointVersion"
	callVersions           wire.Call = "Versions"
	callVersion            wire.Call = "Version"
	callDeleteVersion      wire.Call = "DeleteVersion"
	callAddRule            wire.Call = "AddRuleAnywhere"
	callUpdateRule         wire.Call = "UpdateRuleAnywhere"
	callDeleteRule         wire.Call = "DeleteRuleAnywhere"
)

func vendorRulesets(base string) []wire.Pattern {
	list := base + "/rulesets"
	entry := list + "/phases/{phase}/entrypoint"
	one := list + "/{ruleset_id}"
	return []wire.Pattern{
		{Call: callListRulesets, Method: http.MethodGet, Path: list},
		{Call: callCreateRuleset, Method: http.MethodPost, Path: list},
		{Call: callGetEntryPoint, Method: http.MethodGet, Path: entry},
		{Call: callReplaceEntryPoint, Method: http.MethodPut, Path: entry},
		{Call: callEntryPointVersions, Method: http.MethodGet, Path: entry + "/versions"},
		{Call: callEntryPointVersion, Method: http.MethodGet, Path: entry + "/versions/{version}"},
		{Call: callGetRuleset, Method: http.MethodGet, Path: one},
		{Call: callReplaceRuleset, Method: http.MethodPut, Path: one},
		{Call: callDeleteRuleset, Method: http.MethodDelete, Path: one},
		{Call: callVersions, Method: http.MethodGet, Path: one + "/versions"},
		{Call: callVersion, Method: http.MethodGet, Path: one + "/versions/{version}"},
		{Call: callDeleteVersion, Method: http.MethodDelete, Path: one + "/versions/{version}"},
		{Call: callAddRule, Method: http.MethodPost, Path: one + "/rules"},
		{Call: callUpdateRule, Method: http.MethodPatch, Path: one + "/rules/{rule_id}"},
		{Call: callDeleteRule, Method: http.MethodDelete, Path: one + "/rules/{rule_id}"},
	}
}

// noContent is the result of a call that answers 204 without a body.
type noContent struct{}

// rulesetCalls make the platform do a call on rulesets. Those of the contract do
// the same as those of the vendor.
var rulesetCalls = map[wire.Call]func(context.Context, mem.Rulesets, request) (any, error){
	callGetRuleset:        getRuleset,
	wire.Ruleset:          getRuleset,
	callGetEntryPoint:     getEntryPoint,
	wire.EntryPoint:       getEntryPoint,
	callCreateRuleset:     createRuleset,
	wire.CreateEntryPoint: createRuleset,
	callAddRule:           addRule,
	wire.AddRule:          addRule,
	callUpdateRule:        updateRule,
	wire.UpdateRule:       updateRule,
	callDeleteRule:        deleteRule,
	wire.DeleteRule:       deleteRule,
	callVersion:           getVersion,
	wire.RulesetVersion:   getVersion,
	callReplaceRuleset: func(ctx context.Context, m mem.Rulesets, r request) (any, error) {
		return withBody(r, func(body []byte) (*edge.Ruleset, error) { return m.Replace(ctx, r.route.Ruleset, body) })
	},
	callReplaceEntryPoint: func(ctx context.Context, m mem.Rulesets, r request) (any, error) {
		return withBody(r, func(body []byte) (*edge.Ruleset, error) { return m.ReplaceEntryPoint(ctx, r.route.Phase, body) })
	},
	callDeleteRuleset: func(ctx context.Context, m mem.Rulesets, r request) (any, error) {
		return noContent{}, m.Delete(ctx, r.route.Ruleset)
	},
	callVersions: func(ctx context.Context, m mem.Rulesets, r request) (any, error) {
		return m.Versions(ctx, r.route.Ruleset)
	},
	callDeleteVersion: func(ctx context.Context, m mem.Rulesets, r request) (any, error) {
		return noContent{}, m.DeleteVersion(ctx, r.route.Ruleset, r.route.Version)
	},
	callEntryPointVersions: func(ctx context.Context, m mem.Rulesets, r request) (any, error) {
		entry, err := m.EntryPoint(ctx, r.route.Phase)
		if err != nil {
			return nil, err
		}
		return m.Versions(ctx, entry.ID)
	},
	callEntryPointVersion: func(ctx context.Context, m mem.Rulesets, r request) (any, error) {
		entry, err := m.EntryPoint(ctx, r.route.Phase)
		if err != nil {
			return nil, err
		}
		return m.Version(ctx, entry.ID, r.route.Version)
	},
}

func getRuleset(ctx context.Context, m mem.Rulesets, r request) (any, error) {
	return m.Get(ctx, r.route.Ruleset)
}

func getEntryPoint(ctx context.Context, m mem.Rulesets, r request) (any, error) {
	phase := r.route.Phase
	fallback(&phase, edge.PhaseFirewallManaged)
	return m.EntryPoint(ctx, phase)
}

func getVersion(ctx context.Context, m mem.Rulesets, r request) (any, error) {
	return m.Version(ctx, r.route.Ruleset, r.route.Version)
}

func createRuleset(ctx context.Context, m mem.Rulesets, r request) (any, error) {
	return withBody(r, func(body []byte) (*edge.Ruleset, error) { return m.Create(ctx, body) })
}

func addRule(ctx context.Context, m mem.Rulesets, r request) (any, error) {
	return withBody(r, func(body []byte) (*edge.Ruleset, error) { return m.AddRule(ctx, r.route.Ruleset, body) })
}

func updateRule(ctx context.Context, m mem.Rulesets, r request) (any, error) {
	return withBody(r, func(body []byte) (*edge.Ruleset, error) {
		return m.UpdateRule(ctx, r.route.Ruleset, r.route.Rule, body)
	})
}

func deleteRule(ctx context.Context, m mem.Rulesets, r request) (any, error) {
	return m.DeleteRule(ctx, r.route.Ruleset, r.route.Rule)
}

func withBody(r request, do func([]byte) (*edge.Ruleset, error)) (any, error) {
	var raw json.RawMessage
	if err := wire.DecodeBody(r.Header, r.body, &raw); err != nil {
		return nil, err
	}
	return do(raw)
}

// rulesetCall answers a call on rulesets. It is false for another.
func (s *Server) rulesetCall(ctx context.Context, r request) (result any, info *wire.Info, err error, ok bool) {
	isList := r.route.Call == callListRulesets || r.route.Call == wire.Rulesets
	do := rulesetCalls[r.route.Call]
	if do == nil && !isList {
		return nil, nil, nil, false
	}
	dry, err := s.isDry(r)
	if err != nil {
		return nil, nil, err, true
	}
	m := s.Platform.In(r.route.Scope(), dry)
	if isList {
		result, info, err = s.rulesetPage(ctx, m, r.URL.Query())
		return result, info, err, true
	}
	result, err = do(ctx, m, r)
	return result, nil, err, true
}

// isDry reads the query of a write. The reference does not show dry_run: a
// server that did not know it would write, so the profile documented refuses it.
func (s *Server) isDry(r request) (bool, error) {
	switch said := r.URL.Query().Get("dry_run"); {
	case said == "" || isRead(r.Method):
		return false, nil
	case s.config.Profile == mem.Documented:
		return false, failed(http.StatusNotImplemented, 0, "not implemented by this simulator: the reference does not show dry_run")
	case said != "true" && said != "false":
		return false, failed(http.StatusBadRequest, 0, "dry_run must be true or false")
	default:
		return said == "true", nil
	}
}
