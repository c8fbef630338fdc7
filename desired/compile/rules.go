package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/expression"
)

// This file holds what the vendor's documentation asks of custom rules and rate limits and the
// schema does not say: relations between rules and between members, for which CUE would report at
// the schema, and what it has no warnings for. What depends on the plan of a zone is not here: that
// is known where the zone is.

// responseBytes is how large the body of a response may be (waf/rate-limiting-rules/parameters,
// waf/custom-rules/create-dashboard).
var responseBytes = map[desired.KindName]int{desired.CustomRule: 2 << 10, desired.RateLimit: 30 << 10}

// orders: no order of rules is as all of them say, whatever else is live.
func (r *reader) orders(path string, all []desired.Other) {
	for _, d := range desired.Declarations {
		rules := slices.DeleteFunc(slices.Clone(all), func(o desired.Other) bool { return o.Kind != d.Kind || !slices.Contains(d.Members, "order") })
		among, said := desired.Contradiction(rules)
		switch {
		case len(among) == 1:
			r.problem(memberOrigin(among[0], "order"), at(path, append(among[0].Path(), "order")...), "a rule cannot stand before or after itself", "name another rule")
		case len(among) > 1:
			r.problem(memberOrigin(among[0], "order"), at(path, append(among[0].Path(), "order")...), "the rules contradict each other: "+said, "change the order of one of them")
		}
	}
}

// rule checks one rule.
func (r *reader) rule(path string, o desired.Other) {
	values := map[string]any{}
	for m := range o.Members() {
		values[m.Path] = m.Value
	}
	say := func(member, message, hint string) { r.problem(memberOrigin(o, member), path+"."+member, message, hint) }
	warn := func(member, message, hint string) { r.warn(memberOrigin(o, member), path+"."+member, message, hint) }
	if text, _ := values["response.content"].(string); responseBytes[o.Kind] > 0 && len(text) > responseBytes[o.Kind] {
		warn("response.content", fmt.Sprintf("it has %d bytes; the limit is %d KB", len(text), responseBytes[o.Kind]>>10), "")
	}
	switch {
	case o.Kind == desired.CustomRule && values["action"] == string(edge.ActionSkip) && values["skip.ruleset"] == nil && values["skip.phases"] == nil && values["skip.products"] == nil:
		say("skip", "must name at least one of ruleset, phases, products", "")
	case o.Kind == desired.RateLimit && values["limit.characteristics"] != nil:
		r.limit(values, say, warn)
	}
}

// limit checks what a rate limit counts (waf/rate-limiting-rules/parameters).
func (*reader) limit(values map[string]any, say, warn func(member, message, hint string)) {
	const member = "limit.characteristics"
	list, _ := values[member].([]any)
	has := func(name string) bool { return slices.Contains(list, any(name)) }
	if !has("cf.colo.id") {
		say(member, "lacks cf.colo.id, without which the platform takes no rate limit", `add "cf.colo.id"`)
	}
	if has("ip.src") && has("cf.unique_visitor_id") {
		say(member, "has both ip.src and cf.unique_visitor_id", "keep one of the two")
	}
	for _, v := range list {
		name, _ := v.(string)
		if header, is := strings.CutPrefix(name, "http.request.headers["); is && header != strings.ToLower(header) {
			warn(member, fmt.Sprintf("%s: the platform wants names of headers in lower case", name), "write "+strings.ToLower(name))
		}
	}
	lists, _ := asksFor(values["expression"])
	counted, asks := asksFor(values["limit.counting"])
	if (lists || counted) && values["limit.to_origin"] == true {
		warn("limit.to_origin", "a rate limit with a list of addresses counts all requests, also those that the cache answers", "remove to_origin: true, or the list")
	}
	if counted && asks {
		warn("limit.counting", "has both a list of addresses and a field of the response, which the platform does not take", "")
	}
}

// asksFor reports whether an expression has a list of the account, and a field of the response.
func asksFor(text any) (list, response bool) {
	written, _ := text.(string)
	e, err := expression.Parse(written)
	if err != nil {
		return false, false
	}
	expression.Walk(e.Root, func(n expression.Node) {
		switch n := n.(type) {
		case *expression.Comparison:
			for _, v := range n.Right {
				list = list || v.Kind == expression.List && !strings.HasPrefix(v.Text, "cf.")
			}
		case *expression.Term:
			response = response || strings.HasPrefix(n.Name, "http.response.")
		}
	})
	return list, response
}

// memberOrigin is where a member of a rule is declared, or one below it, or the rule.
func memberOrigin(o desired.Other, member string) desired.Origin {
	if from, is := o.Places[member]; is {
		return from
	}
	return o.Origin
}
