package sim

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/mem"
)

// The calls on rulesets that the vendor has in zones and in accounts beside those of the
// contract. In the profile vendor they stand before these: an entry point is one of any phase.
const (
	callReplaceRuleset     edge.Call = "ReplaceRuleset"
	callDeleteRuleset      edge.Call = "DeleteRuleset"
	callReplaceEntryPoint  edge.Call = "ReplaceEntryPoint"
	callEntryPointVersions edge.Call = "EntryPointVersions"
	callEntryPointVersion  edge.Call = "EntryPointVersion"
	callVersions           edge.Call = "Versions"
	callDeleteVersion      edge.Call = "DeleteVersion"
)

func vendorRulesets(base string) []wire.Pattern {
	list := base + "/rulesets"
	entry := list + "/phases/{phase}/entrypoint"
	one := list + "/{ruleset_id}"
	return []wire.Pattern{
		{Call: edge.CallEntryPoint, Method: http.MethodGet, Path: entry},
		{Call: callReplaceEntryPoint, Method: http.MethodPut, Path: entry},
		{Call: callEntryPointVersions, Method: http.MethodGet, Path: entry + "/versions"},
		{Call: callEntryPointVersion, Method: http.MethodGet, Path: entry + "/versions/{version}"},
		{Call: callReplaceRuleset, Method: http.MethodPut, Path: one},
		{Call: callDeleteRuleset, Method: http.MethodDelete, Path: one},
		{Call: callVersions, Method: http.MethodGet, Path: one + "/versions"},
		{Call: callDeleteVersion, Method: http.MethodDelete, Path: one + "/versions/{version}"},
	}
}

// noContent is the result of a call that answers 204 without a body.
type noContent struct{}

// rulesetCalls make the platform do a call on rulesets.
var rulesetCalls = map[edge.Call]func(context.Context, mem.Rulesets, request) (any, error){
	edge.CallRuleset:          getRuleset,
	edge.CallEntryPoint:       getEntryPoint,
	edge.CallCreateEntryPoint: createRuleset,
	edge.CallAddRule:          addRule,
	edge.CallUpdateRule:       updateRule,
	edge.CallDeleteRule:       deleteRule,
	edge.CallRulesetVersion:   getVersion,
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
	isList := r.route.Call == edge.CallRulesets
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
