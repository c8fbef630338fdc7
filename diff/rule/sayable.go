package rule

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/expression"
)

// What the schema permits; see cue/schema/rules.cue.
var (
	skippedPhases   = []string{"http_ratelimit", "http_request_sbfm", "http_request_firewall_managed"}
	skippedProducts = []string{"zoneLockdown", "uaBlock", "bic", "hot", "securityLevel", "rateLimit", "waf"}
	responseTypes   = []string{"text/html", "text/plain", "application/json", "text/xml"}
)

// sayable reports whether a declaration may have these values. A platform may have rules that the
// schema refuses: import leaves them to others.
func (k Kind) sayable(values tree) bool {
	action := values["action"]
	has := func(member string) bool { return values[member] != nil }
	skip, limit := has("skip"), has("limit")
	switch {
	case action == string(edge.ActionExecute):
		return has("execute") && !slices.ContainsFunc([]string{"response", "skip", "limit", "logging"}, has) && k.understood(values)
	case values["response"] != nil && (action != "block" || !answers(values)):
		return false
	case k.name == desired.RateLimit && (action == "skip" || !limit || !limits(values)):
		return false
	case k.name == desired.CustomRule && skip != (action == "skip"), values["logging"] != nil && action != "skip":
		return false
	}
	return skipsKnown(values) && k.understood(values)
}

// skipsKnown reports whether a skip rule turns off only what the schema knows.
func skipsKnown(values tree) bool {
	return among(values.at("skip.ruleset"), "current") && allAmong(values.at("skip.phases"), skippedPhases) &&
		allAmong(values.at("skip.products"), skippedProducts)
}

// understood reports whether the expressions are such that a repository may have them.
func (k Kind) understood(values tree) bool {
	for _, d := range desired.Declarations {
		if d.Kind != k.name {
			continue
		}
		for _, path := range []string{d.Expression, d.Counting} {
			text, is := values.at(path).(string)
			if path == "" || !is && path != d.Expression {
				continue
			}
			_, mistakes := expression.Examine(text, expression.For{Phase: string(d.Phase), Counting: path == d.Counting})
			if slices.ContainsFunc(mistakes, func(m expression.Mistake) bool { return m.Grade == expression.Certain }) {
				return false
			}
		}
	}
	return true
}

func answers(values tree) bool {
	_, content := values.at("response.content").(string)
	kind, is := values.at("response.type").(string)
	return content && is && slices.Contains(responseTypes, kind) && isWhole(values.at("response.status"), 400, 499)
}

func limits(values tree) bool {
	characteristics, _ := values.at("limit.characteristics").([]any)
	if !slices.Contains(characteristics, any("cf.colo.id")) || slices.Contains(characteristics, any("ip.src")) && slices.Contains(characteristics, any("cf.unique_visitor_id")) {
		return false
	}
	timeout := values.at("limit.timeout")
	return isWhole(values.at("limit.period"), 1, 1<<53) && isWhole(values.at("limit.requests"), 1, 1<<53) &&
		(timeout == nil || isWhole(timeout, 0, 1<<53))
}

// isWhole reports whether a value is a whole number within bounds.
func isWhole(value any, least, most int64) bool {
	text, _ := value.(json.Number)
	n, err := strconv.ParseInt(string(text), 10, 64)
	return err == nil && n >= least && n <= most
}

func among(value any, permitted ...string) bool {
	text, _ := value.(string)
	return value == nil || slices.Contains(permitted, text)
}

func allAmong(value any, permitted []string) bool {
	list, is := value.([]any)
	if value == nil {
		return true
	}
	return is && len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool { return v == nil || !among(v, permitted...) })
}
