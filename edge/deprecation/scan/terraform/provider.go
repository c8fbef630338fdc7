package terraform

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// mapping says which calls a resource of the vendor's Terraform provider stands
// for. Paths name attributes in braces; {id} is the resource's own.
type mapping struct {
	item       string // GET reads it, on every run
	collection string // POST creates in it; empty: creating is an update of the item
	update     string // method that changes the item; empty: it cannot be changed
	remove     string // method that deletes it
	// sent, where it is set, is the body of the write, for which alone the resource matters;
	// nil: it does not.
	sent func(resource) map[string]any
	// written, where it is set, replaces all of the above.
	written func(resource) []call.Call
}

// items are the calls of a collection and its items.
func items(collection string) mapping {
	return mapping{item: collection + "/{id}", collection: collection, update: http.MethodPut, remove: http.MethodDelete}
}

// present are the calls of an item that exists already: creating sets it, deleting sets it
// back.
func present(item string) mapping {
	return mapping{item: item, update: http.MethodPatch, remove: http.MethodPatch}
}

// resources are the managed resources whose calls the platform's schedule of
// deprecations names, or whose bodies carry fields that it names (reference,
// "Deprecation schedule"). A row more does no harm: whether a call is deprecated
// is not decided here.
var resources = map[string]mapping{
	// The provider's client has one call for each operation of the Filters API, and of the
	// Firewall Rules API, whose rules refer to filters by id.
	"cloudflare_filter":        items("/zones/{zone_id}/filters"),
	"cloudflare_firewall_rule": items("/zones/{zone_id}/firewall/rules"),
	// The previous rate limiting API; rules of today are a cloudflare_ruleset.
	"cloudflare_rate_limit": items("/zones/{zone_id}/rate_limits"),
	// The previous managed rules, and their overrides by URL.
	"cloudflare_waf_package":  present("/zones/{zone_id}/firewall/waf/packages/{package_id}"),
	"cloudflare_waf_group":    present("/zones/{zone_id}/firewall/waf/packages/{package_id}/groups/{group_id}"),
	"cloudflare_waf_rule":     present("/zones/{zone_id}/firewall/waf/packages/{package_id}/rules/{rule_id}"),
	"cloudflare_waf_override": items("/zones/{zone_id}/firewall/waf/overrides"),
	// The client's ArgoTunnel calls; the resource was renamed when it moved to cfd_tunnel, so
	// cloudflare_tunnel is not here.
	"cloudflare_argo_tunnel": {item: "/accounts/{account_id}/tunnels/{id}", collection: "/accounts/{account_id}/tunnels", remove: http.MethodDelete},
	// The schedule has POST on one bookmark; a bookmark of a zone (no account_id) is none of
	// the schedule's.
	"cloudflare_access_bookmark": {
		item: "/accounts/{account_id}/access/bookmarks/{id}", collection: "/accounts/{account_id}/access/bookmarks/{id}", update: http.MethodPut, remove: http.MethodDelete,
	},
	// Each setting is an item of PATCH /zones/:id/settings; it is told as the setting's own
	// call, which is what the schedule names.
	"cloudflare_zone_settings_override": {written: settingsOverride},
	// Version 5 of the provider: one setting, by exactly these calls.
	"cloudflare_zone_setting": {written: zoneSetting},
	// Only SRV records that set service, proto or name within data: version 4 sends them, and
	// changes by PATCH; version 5 changes by PUT.
	"cloudflare_record":     {item: "/zones/{zone_id}/dns_records/{id}", collection: "/zones/{zone_id}/dns_records", update: http.MethodPatch, sent: serviceRecord},
	"cloudflare_dns_record": {item: "/zones/{zone_id}/dns_records/{id}", collection: "/zones/{zone_id}/dns_records", update: http.MethodPut, sent: serviceRecord},
	// Only pools that set notification_email.
	"cloudflare_load_balancer_pool": {
		item: "/accounts/{account_id}/load_balancers/pools/{id}", collection: "/accounts/{account_id}/load_balancers/pools", update: http.MethodPut, sent: poolNotice,
	},
}

// dataSources are read on every run. They list the packages, and groups and rules of every
// package where none is named.
var dataSources = map[string]mapping{
	"cloudflare_waf_packages": {item: "/zones/{zone_id}/firewall/waf/packages"},
	"cloudflare_waf_groups":   {item: "/zones/{zone_id}/firewall/waf/packages/{package_id}/groups"},
	"cloudflare_waf_rules":    {item: "/zones/{zone_id}/firewall/waf/packages/{package_id}/rules"},
}

// calls returns the calls that a resource stands for: what the plan will do, and
// the read of every run.
func (r resource) calls() []call.Call {
	m, known := resources[r.kind]
	if r.data {
		m, known = dataSources[r.kind]
	}
	if !known || strings.HasPrefix(m.item, "/accounts/") && m.sent == nil && r.text("account_id") == "" && r.text("zone_id") != "" {
		return nil
	}
	switch {
	case m.written == nil && m.sent == nil:
		return m.calls(r)
	case r.onlyGoes():
		return nil // nothing is sent any more
	case m.written != nil:
		return m.written(r)
	}
	body := m.sent(r)
	switch {
	case body == nil:
		return nil
	case r.does("create"):
		return []call.Call{r.call(http.MethodPost, m.collection, body)}
	}
	return []call.Call{r.call(m.update, m.item, body)}
}

func (m mapping) calls(r resource) []call.Call {
	var calls []call.Call
	method, path := http.MethodPost, m.collection
	if path == "" {
		method, path = m.update, m.item
	}
	for _, one := range []struct{ action, method, path string }{{"create", method, path}, {"update", m.update, m.item}, {"delete", m.remove, m.item}} {
		if r.does(one.action) && one.method != "" {
			calls = append(calls, r.call(one.method, one.path, nil))
		}
	}
	return append(calls, r.call(http.MethodGet, m.item, nil))
}

// call fills the attributes of a resource into a path; what a plan does not know
// yet is open.
func (r resource) call(method, path string, body any) call.Call {
	var filled strings.Builder
	for piece := range strings.SplitSeq(path, "/") {
		if piece == "" {
			continue
		}
		if name, ok := strings.CutPrefix(piece, "{"); ok {
			piece = r.segment(strings.TrimSuffix(name, "}"))
		}
		filled.WriteString("/" + piece)
	}
	c := call.Call{Method: method, URL: filled.String(), Address: r.address, Line: r.line, Span: r.span}
	if body != nil {
		c.Body, _ = json.Marshal(body) // it was JSON
	}
	return c
}

func (r resource) segment(attribute string) string {
	if value := r.text(attribute); value != "" && !strings.Contains(value, call.Open) {
		return url.PathEscape(value)
	}
	return call.Open
}

func (r resource) text(attribute string) string {
	value, _ := r.values[attribute].(string)
	return value
}

// overridden are the settings that the schedule names.
var overridden = []string{"minify", "brotli", "mobile_redirect", "server_side_exclude", "privacy_pass", "cname_flattening"}

func settingsOverride(r resource) []call.Call {
	set := block(r.values["settings"])
	var calls []call.Call
	for _, name := range overridden {
		value := set[name]
		if inner := block(value); inner != nil {
			value = inner // minify and mobile_redirect are blocks
		}
		if isSet(value) {
			calls = append(calls, r.call(http.MethodPatch, "/zones/{zone_id}/settings/"+name, map[string]any{"value": value}))
		}
	}
	return calls
}

func zoneSetting(r resource) []call.Call {
	const path = "/zones/{zone_id}/settings/{setting_id}"
	read := r.call(http.MethodGet, path, nil)
	if r.does("create") || r.does("update") {
		return []call.Call{r.call(http.MethodPatch, path, map[string]any{"value": r.values["value"]}), read}
	}
	return []call.Call{read}
}

// serviceRecord is the write of an SRV record with the members that moved to the
// outer name.
func serviceRecord(r resource) map[string]any {
	data := block(r.values["data"])
	if r.text("type") != "SRV" || !isSet(data["service"]) && !isSet(data["proto"]) && !isSet(data["name"]) {
		return nil
	}
	sent := map[string]any{}
	for name, value := range data {
		if isSet(value) {
			sent[name] = value
		}
	}
	return map[string]any{"type": "SRV", "name": r.text("name"), "data": sent}
}

func poolNotice(r resource) map[string]any {
	email := r.text("notification_email")
	if email == "" {
		return nil
	}
	return map[string]any{"notification_email": email}
}

// block returns a nested block: an object, or the first of a list of them.
func block(value any) map[string]any {
	if list, ok := value.([]any); ok && len(list) > 0 {
		value = list[0]
	}
	object, _ := value.(map[string]any)
	return object
}

// isSet tells a value from what Terraform writes for an attribute that nobody set.
func isSet(value any) bool {
	switch value := value.(type) {
	case nil:
		return false
	case string:
		return value != ""
	case []any:
		return len(value) > 0
	case map[string]any:
		return len(value) > 0
	}
	return true
}
