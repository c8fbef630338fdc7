package sim

import (
	"encoding/json"
	"net/http"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/mem"
)

// rulesetCalls are the calls of the contract on the rulesets of a scope.
func rulesetCalls(scope edge.Scope) []call {
	list, one, rule := edge.RulesetsPath(scope), edge.RulesetPath(scope, "{ruleset_id}"), edge.RulePath(scope, "{ruleset_id}", "{rule_id}")
	return []call{
		{edge.CallRulesets, http.MethodGet, list, (*Server).rulesetPage},
		{edge.CallCreateEntryPoint, http.MethodPost, list, withBody(func(m mem.Rulesets, r request, body []byte) (*edge.Ruleset, error) {
			return m.Create(r.Context(), body)
		})},
		{edge.CallRuleset, http.MethodGet, one, inScope(func(m mem.Rulesets, r request) (edge.Ruleset, error) {
			return m.Get(r.Context(), r.route.ruleset)
		})},
		{edge.CallRulesetVersion, http.MethodGet, one + "/versions/{version}", inScope(version)},
		{edge.CallEntryPoint, http.MethodGet, edge.EntryPointPath(scope, "{phase}"), inScope(func(m mem.Rulesets, r request) (edge.Ruleset, error) {
			return m.EntryPoint(r.Context(), r.route.phase)
		})},
		{edge.CallAddRule, http.MethodPost, one + "/rules", withBody(func(m mem.Rulesets, r request, body []byte) (*edge.Ruleset, error) {
			return m.AddRule(r.Context(), r.route.ruleset, body)
		})},
		{edge.CallUpdateRule, http.MethodPatch, rule, withBody(func(m mem.Rulesets, r request, body []byte) (*edge.Ruleset, error) {
			return m.UpdateRule(r.Context(), r.route.ruleset, r.route.rule, body)
		})},
		{edge.CallDeleteRule, http.MethodDelete, rule, inScope(func(m mem.Rulesets, r request) (*edge.Ruleset, error) {
			return m.DeleteRule(r.Context(), r.route.ruleset, r.route.rule)
		})},
	}
}

// vendorRulesets are the calls that the vendor has on the rulesets of a scope beside those of
// the contract.
func vendorRulesets(scope edge.Scope) []call {
	one, entry := edge.RulesetPath(scope, "{ruleset_id}"), edge.EntryPointPath(scope, "{phase}")
	return []call{
		{"", http.MethodPut, one, withBody(func(m mem.Rulesets, r request, body []byte) (*edge.Ruleset, error) {
			return m.Replace(r.Context(), r.route.ruleset, body)
		})},
		{"", http.MethodDelete, one, inScope(func(m mem.Rulesets, r request) (noContent, error) {
			return noContent{}, m.Delete(r.Context(), r.route.ruleset)
		})},
		{"", http.MethodGet, one + "/versions", inScope(versions)},
		{"", http.MethodDelete, one + "/versions/{version}", inScope(func(m mem.Rulesets, r request) (noContent, error) {
			return noContent{}, m.DeleteVersion(r.Context(), r.route.ruleset, r.route.version)
		})},
		{"", http.MethodPut, entry, withBody(func(m mem.Rulesets, r request, body []byte) (*edge.Ruleset, error) {
			return m.ReplaceEntryPoint(r.Context(), r.route.phase, body)
		})},
		{"", http.MethodGet, entry + "/versions", ofEntryPoint(versions)},
		{"", http.MethodGet, entry + "/versions/{version}", ofEntryPoint(version)},
	}
}

// noContent is the result of a call that answers 204 without a body.
type noContent struct{}

func versions(m mem.Rulesets, r request) ([]edge.Ruleset, error) {
	return m.Versions(r.Context(), r.route.ruleset)
}

func version(m mem.Rulesets, r request) (edge.Ruleset, error) {
	return m.Version(r.Context(), r.route.ruleset, r.route.version)
}

// inScope answers with what becomes of the rulesets of the path's zone or account.
func inScope[T any](do func(mem.Rulesets, request) (T, error)) answerer {
	return result(func(s *Server, r request) (none T, err error) {
		dry, err := s.isDry(r)
		if err != nil {
			return none, err
		}
		return do(s.Platform.In(r.route.scope(), dry), r)
	})
}

// ofEntryPoint is inScope for the ruleset that is the entry point of the path's phase.
func ofEntryPoint[T any](do func(mem.Rulesets, request) (T, error)) answerer {
	return inScope(func(m mem.Rulesets, r request) (none T, err error) {
		entry, err := m.EntryPoint(r.Context(), r.route.phase)
		if err != nil {
			return none, err
		}
		r.route.ruleset = entry.ID
		return do(m, r)
	})
}

// withBody is inScope for calls whose requests have a body.
func withBody(do func(mem.Rulesets, request, []byte) (*edge.Ruleset, error)) answerer {
	return inScope(func(m mem.Rulesets, r request) (*edge.Ruleset, error) {
		var raw json.RawMessage
		if err := wire.DecodeBody(r.Header, r.body, &raw); err != nil {
			return nil, err
		}
		return do(m, r, raw)
	})
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
