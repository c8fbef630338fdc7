package scan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTerraform(t *testing.T) {
	runSamples(t, []sample{
		{"plan", corpus["tfplan"], Terraform, []string{
			`0 POST /zones/023e/filters @module.edge.cloudflare_filter.bots["de"]`,
			`0 GET /zones/023e/filters/{} @module.edge.cloudflare_filter.bots["de"]`,
		}, 0},
		{"state", `{
  "version": 4, "terraform_version": "1.5.7", "serial": 9, "lineage": "x", "outputs": {"secret": {"value": "x"}},
  "resources": [
    {"module": "module.m", "mode": "managed", "type": "cloudflare_rate_limit", "name": "r", "instances": [
      {"index_key": 0, "attributes": {"zone_id": "z", "id": "r0"}},
      {"index_key": "k\"", "attributes": {"zone_id": "z", "id": "r/1"}}
    ]},
    {"mode": "data", "type": "cloudflare_waf_packages", "name": "all", "instances": [{"attributes": {"zone_id": "z"}}]},
    {"mode": "managed", "type": "aws_instance", "name": "x", "instances": [{"attributes": {"id": "i"}}]},
    {"mode": "managed", "type": "cloudflare_filter", "name": 5}
  ]
}`, Terraform, []string{
			`0 GET /zones/z/rate_limits/r0 @module.m.cloudflare_rate_limit.r[0]`,
			`0 GET /zones/z/rate_limits/r%2F1 @module.m.cloudflare_rate_limit.r["k\""]`,
			`0 GET /zones/z/firewall/waf/packages @data.cloudflare_waf_packages.all`,
		}, 1},
		{"shown state", `{"format_version":"1.0","terraform_version":"1.9.0","values":{"root_module":{"resources":[],"child_modules":[{"address":"module.a","resources":[
			{"address":"module.a.cloudflare_waf_override.o","mode":"managed","type":"cloudflare_waf_override","values":{"zone_id":"z","id":"o"}}]}]}}}`, Terraform, []string{
			`0 GET /zones/z/firewall/waf/overrides/o @module.a.cloudflare_waf_override.o`,
		}, 0},
		{"plan with data", `{"format_version":"1.2","prior_state":{"format_version":"1.0","values":{"root_module":{"resources":[
			{"address":"cloudflare_filter.f","mode":"managed","type":"cloudflare_filter","values":{"zone_id":"z","id":"f"}},
			{"address":"data.cloudflare_waf_groups.g","mode":"data","type":"cloudflare_waf_groups","values":{"zone_id":"z"}}]}}}}`, Terraform, []string{
			`0 GET /zones/z/firewall/waf/packages/{}/groups @data.cloudflare_waf_groups.g`,
		}, 0},
		{"plan that removes", `{"format_version":"1.2","resource_changes":[{"address":"cloudflare_filter.f","type":"cloudflare_filter","change":{"actions":["delete"],"before":{"zone_id":"z","id":"f"},"after":null}}]}`, Terraform, []string{
			"0 DELETE /zones/z/filters/f @cloudflare_filter.f", "0 GET /zones/z/filters/f @cloudflare_filter.f",
		}, 0},
		{"empty plan", `{"format_version":"1.2","terraform_version":"1.9.0"}`, Terraform, nil, 0},
	})
	if _, _, err := scanAll(strings.NewReader(`{"version":3,"terraform_version":"0.11.0","modules":[{}]}`), "x", Options{}); err == nil {
		t.Error("a state of version 3 passes for an empty one")
	}
}

// TestProvider holds every row of the table to the calls it stands for.
// TestLongPlan: a plan is read as a stream, past the bound of what is read whole.
func TestLongPlan(t *testing.T) {
	filler := `{"type":"x","change":{"actions":["create"],"after":{"a":"` + strings.Repeat("x", 1<<10) + `"}}},`
	plan := `{"format_version":"1.2","resource_changes":[` + strings.Repeat(filler, 100) +
		`{"address":"cloudflare_filter.f","type":"cloudflare_filter","change":{"actions":["create"],"after":{"zone_id":"z"}}}]}`
	got, stats := scanned(t, "plan", plan, Options{MaxDocument: 70 << 10, MaxLine: 4 << 10})
	if len(got) != 2 || stats.Skipped != 0 {
		t.Errorf("got %v, %d skipped", got, stats.Skipped)
	}
}

func TestProvider(t *testing.T) {
	const ids = `"zone_id":"z","account_id":"a","id":"i","package_id":"p","group_id":"g","rule_id":"r"`
	for _, c := range []struct {
		kind, actions, values string
		want                  []string
	}{
		{"cloudflare_filter", `"update"`, ids, []string{"PUT /zones/z/filters/i", "GET /zones/z/filters/i"}},
		{"cloudflare_firewall_rule", `"delete","create"`, ids, []string{"POST /zones/z/firewall/rules", "DELETE /zones/z/firewall/rules/i", "GET /zones/z/firewall/rules/i"}},
		{"cloudflare_rate_limit", `"no-op"`, ids, []string{"GET /zones/z/rate_limits/i"}},
		{"cloudflare_waf_package", `"create"`, ids, []string{"PATCH /zones/z/firewall/waf/packages/p", "GET /zones/z/firewall/waf/packages/p"}},
		{"cloudflare_waf_group", `"delete"`, ids, []string{"PATCH /zones/z/firewall/waf/packages/p/groups/g", "GET /zones/z/firewall/waf/packages/p/groups/g"}},
		{"cloudflare_waf_rule", `"update"`, ids, []string{"PATCH /zones/z/firewall/waf/packages/p/rules/r", "GET /zones/z/firewall/waf/packages/p/rules/r"}},
		{"cloudflare_waf_override", `"create"`, ids, []string{"POST /zones/z/firewall/waf/overrides", "GET /zones/z/firewall/waf/overrides/i"}},
		{"cloudflare_argo_tunnel", `"delete"`, ids, []string{"DELETE /accounts/a/tunnels/i", "GET /accounts/a/tunnels/i"}},
		{"cloudflare_access_bookmark", `"create"`, ids, []string{"POST /accounts/a/access/bookmarks/i", "GET /accounts/a/access/bookmarks/i"}},
		{"cloudflare_access_bookmark", `"create"`, `"zone_id":"z"`, nil},
		{"cloudflare_zone_settings_override", `"update"`, `"zone_id":"z","settings":[{"brotli":"on","minify":[{"css":"on"}],"cname_flattening":"","mobile_redirect":[],"ssl":"full"}]`, []string{
			`PATCH /zones/z/settings/minify {"value":{"css":"on"}}`, `PATCH /zones/z/settings/brotli {"value":"on"}`,
		}},
		{"cloudflare_zone_settings_override", `"delete"`, `"zone_id":"z","settings":[{"brotli":"on"}]`, nil},
		{"cloudflare_zone_setting", `"update"`, `"zone_id":"z","setting_id":"brotli","value":"on"`, []string{`PATCH /zones/z/settings/brotli {"value":"on"}`, "GET /zones/z/settings/brotli"}},
		{"cloudflare_record", `"create"`, `"zone_id":"z","type":"SRV","name":"_sip._tls.x","data":[{"service":"_sip","proto":"_tls","name":"x","port":5060,"flags":null}]`, []string{
			`POST /zones/z/dns_records {"data":{"name":"x","port":5060,"proto":"_tls","service":"_sip"},"name":"_sip._tls.x","type":"SRV"}`,
		}},
		{"cloudflare_record", `"create"`, `"zone_id":"z","type":"CAA","data":[{"name":"x"}]`, nil},
		{"cloudflare_dns_record", `"no-op"`, `"zone_id":"z","id":"i","type":"SRV","name":"x","data":{"service":"_sip"}`, []string{
			`PUT /zones/z/dns_records/i {"data":{"service":"_sip"},"name":"x","type":"SRV"}`,
		}},
		{"cloudflare_dns_record", `"no-op"`, `"zone_id":"z","id":"i","type":"SRV","name":"x","data":{"port":1}`, nil},
		{"cloudflare_load_balancer_pool", `"create"`, `"account_id":"a","notification_email":"a@b"`, []string{`POST /accounts/a/load_balancers/pools {"notification_email":"a@b"}`}},
		{"cloudflare_load_balancer_pool", `"create"`, `"account_id":"a","notification_email":""`, nil},
		{"cloudflare_ruleset", `"create"`, ids, nil},
	} {
		text := fmt.Sprintf(`{"format_version":"1.2","resource_changes":[{"address":"x.y","mode":"managed","type":%q,"change":{"actions":[%s],"after":{%s}}}]}`, c.kind, c.actions, c.values)
		var want []string
		for _, w := range c.want {
			want = append(want, "0 "+w+" @x.y")
		}
		got, _ := scanned(t, c.kind, text, Options{})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, %s (-want +got):\n%s", c.kind, c.actions, diff)
		}
	}
}

// What a configuration says of its own variables is filled in, in both of its forms.
func TestConfigVariables(t *testing.T) {
	runSamples(t, []sample{
		{"main.tf", `
variable "zones" { default = { a = "1", b = "2" } }
locals {
  base = "https://api.cloudflare.com/client/v4"
  urls = [format("%s/zones/%s/filters", local.base, var.zones.a), join("/", ["", "zones", var.other, "rate_limits"])]
}
resource "cloudflare_filter" "each" {
  for_each = { for k, v in var.zones : k => v }
  zone_id  = each.value
}
data "http" "x" {
  url          = local.urls[1]
  method       = "POST"
  request_body = jsonencode(merge({ a = 1 }, { b = [true, aws_x.y.id], c = file("x") }))
}
data "http" "y" {
  url = var.none ? var.none : "${local.base}/zones/${data.z.id}/a"
}
`, HCL, []string{
			`7 GET /zones/1/filters/{} @cloudflare_filter.each["a"]`,
			`7 GET /zones/2/filters/{} @cloudflare_filter.each["b"]`,
			`11 POST /zones/{}/rate_limits {"a":1,"b":[true,"{}"],"c":"{}"} @data.http.x`,
			`16 GET https://api.cloudflare.com/client/v4/zones/{}/a @data.http.y`,
			`4  https://api.cloudflare.com/client/v4`,
			`5  /zones/{}/filters`,
		}, 0},
		{"main.tf.json", `{
  "variable": {"zones": {"default": {"a": "1"}}},
  "locals": {"base": "https://h.example/zones/${var.zones.a}"},
  "resource": {"cloudflare_filter": {"f": {
    "for_each": "${var.zones}", "zone_id": "${each.value}"
  }}},
  "data": {"http": {"x": {
    "url": "${local.base}/filters",
    "request_headers": {"A": "b"}
  }}},
  "resource": {"x": {"y": {
    "list": ["${local.base}/a/${var.none}", "/b/c"]
  }}}
}`, HCL, []string{
			`4 GET /zones/1/filters/{} @cloudflare_filter.f["a"]`,
			`7 GET https://h.example/zones/1/filters @data.http.x`,
			`3  https://h.example/zones/1`, `12  https://h.example/zones/1/a/{}`, `12  /b/c`,
		}, 0},
	})
}

// What a configuration has much of is not nested.
func TestManySignsInConfig(t *testing.T) {
	signs := strings.Repeat("|", 500) + strings.Repeat("~", 500) + strings.Repeat("+", 500)
	for name, text := range map[string]string{
		"main.tf":      "locals {\n  x = \"" + signs + "\"\n  y = \"https://h.example/zones/1\"\n}\n",
		"main.tf.json": `{"locals": {"x": "` + signs + `",` + "\n" + `"y": "https://h.example/zones/1"}}`,
	} {
		got, _ := scanned(t, name, text, Options{Format: HCL})
		if len(got) != 1 {
			t.Errorf("%s: %v", name, got)
		}
	}
}
