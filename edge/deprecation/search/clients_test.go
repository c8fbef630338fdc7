package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/integration/must"
)

// Each method of an SDK stands for a call of the calendar, and is found where its
// package is imported, and nowhere else.
func TestSDKs(t *testing.T) {
	clients := must.JSON[deprecation.Clients](t, clientsFile)
	m := newSearch(t, nil).Matcher
	for _, sdk := range clients.SDKs {
		tree, without := fstest.MapFS{}, fstest.MapFS{}
		var want []string
		for method, c := range sdk.Calls {
			verb, path, _ := strings.Cut(c, " ")
			notices := m.Match(deprecation.Request{Method: verb, URL: strings.ReplaceAll(path, "{setting_id}", "brotli")}, newSearch(t, nil).Day)
			if len(notices) == 0 && !strings.Contains(path, "{setting_id}") && !strings.HasSuffix(path, "/dns_records") && !strings.Contains(path, "{dns_record_id}") && !strings.HasPrefix(path, "/accounts") {
				t.Errorf("%s: %s is %s, which the calendar does not name", sdk.Name, method, c)
			}
			if slices.ContainsFunc(notices, func(n deprecation.Notice) bool { return !n.Info }) {
				want = append(want, method)
			}
			file, text := program(sdk, method, true)
			tree[method+"/"+file] = &fstest.MapFile{Data: []byte(text)}
			_, text = program(sdk, method, false)
			without[method+"/"+file] = &fstest.MapFile{Data: []byte(text)}
		}
		seen := searchTree(t, tree)
		for _, method := range want {
			if len(seen[method]) == 0 {
				t.Errorf("%s: %s is not found\n%s", sdk.Name, method, firstFile(tree, method))
			}
		}
		if others := searchTree(t, without); len(others) > 0 {
			t.Errorf("%s: found without the import: %v", sdk.Name, others)
		}
	}
}

func firstFile(tree fstest.MapFS, dir string) []byte {
	for name, f := range tree {
		if strings.HasPrefix(name, dir+"/") {
			return f.Data
		}
	}
	return nil
}

// program is one that calls a method, with or without the import.
func program(sdk deprecation.SDK, method string, imports bool) (file, text string) {
	module := strings.Trim(sdk.Imports[0], `"'`)
	if !imports {
		module = "example.com/other"
	}
	switch sdk.Language {
	case "go":
		if imports && strings.HasSuffix(module, "/v") {
			module += "4"
		}
		return "main.go", fmt.Sprintf("package main\n\nimport (\n\t\"context\"\n\n\t\"%s\"\n)\n\nfunc run(ctx context.Context, client *api.Client) error {\n\tres, err := client.%s(ctx, \"brotli\", params)\n\treturn err\n}\n", module, method)
	case "python":
		if !imports {
			return "main.py", fmt.Sprintf("from other import Client\n\nclient = Client()\nfor x in client.%s(setting_id=\"brotli\", zone_id=zone):\n    print(x)\n", method)
		}
		return "main.py", fmt.Sprintf("from cloudflare import Cloudflare\n\nclient = Cloudflare()\nfor x in client.%s(setting_id=\"brotli\", zone_id=zone):\n    print(x)\n", method)
	}
	if imports {
		module = "cloudflare"
	}
	return "main.ts", fmt.Sprintf("import Client from '%s';\n\nconst client = new Client();\nexport const run = async () => await client.%s('brotli', { zone_id: zone });\n", module, method)
}

// Bodies of SDK calls are read too.
func TestSDKBodies(t *testing.T) {
	seen := searchTree(t, fstest.MapFS{
		"go/a.py": {Data: []byte("import cloudflare\nc = cloudflare.Cloudflare()\nc.dns.records.create(zone_id=z, type=\"SRV\", name=\"x\", data={\"service\": \"_sip\", \"port\": 1})\n")},
		"ts/a.ts": {Data: []byte("import Cloudflare from \"cloudflare\";\nawait new Cloudflare().dns.records.edit(id, { zone_id: z, locked: false });\n")},
		"ok/a.ts": {Data: []byte("import Cloudflare from \"cloudflare\";\nawait new Cloudflare().dns.records.edit(id, { zone_id: z, content: \"x\" });\n")},
	})
	if !slices.Contains(seen["go"], "srv-data-name-fields") || !slices.Contains(seen["ts"], "dns-record-locked") || len(seen["ok"]) > 0 {
		t.Errorf("found %v", seen)
	}
}

// Each resource and data source of the provider that stands for a call is found in
// a configuration, in both of its forms.
func TestTerraformResources(t *testing.T) {
	for kind, rule := range map[string]string{
		"cloudflare_filter": "firewall-rules-and-filters", "cloudflare_firewall_rule": "firewall-rules-and-filters", "cloudflare_rate_limit": "previous-rate-limiting",
		"cloudflare_waf_package": "previous-managed-rules", "cloudflare_waf_group": "previous-managed-rules", "cloudflare_waf_rule": "previous-managed-rules", "cloudflare_waf_override": "previous-managed-rules",
		"cloudflare_argo_tunnel": "account-tunnels", "cloudflare_access_bookmark": "access-bookmarks",
		"data.cloudflare_waf_packages": "previous-managed-rules", "data.cloudflare_waf_groups": "previous-managed-rules", "data.cloudflare_waf_rules": "previous-managed-rules",
	} {
		block, key := "resource", kind
		if k, ok := strings.CutPrefix(kind, "data."); ok {
			block, key = "data", k
		}
		seen := searchTree(t, fstest.MapFS{
			"hcl/a.tf":       {Data: []byte(fmt.Sprintf("%s %q \"x\" {\n  zone_id    = var.zone\n  package_id = local.p\n  account_id = var.account\n}\n", block, key))},
			"json/a.tf.json": {Data: []byte(fmt.Sprintf(`{%q: {%q: {"x": {"zone_id": "${var.zone}", "package_id": "p", "account_id": "a"}}}}`, block, key))},
		})
		if !slices.Contains(seen["hcl"], rule) || !slices.Contains(seen["json"], rule) {
			t.Errorf("%s: found %v", kind, seen)
		}
	}
	seen := searchTree(t, fstest.MapFS{
		"settings/a.tf": {Data: []byte("resource \"cloudflare_zone_settings_override\" \"x\" {\n  zone_id = var.z\n  settings {\n    brotli = \"on\"\n    minify {\n      css = \"on\"\n    }\n    dynamic \"mobile_redirect\" {\n      for_each = var.m\n      content {\n        status = \"on\"\n      }\n    }\n  }\n}\n")},
		"each/a.tf":     {Data: []byte("locals {\n  all = { brotli = \"on\", ssl = \"full\" }\n}\nresource \"cloudflare_zone_setting\" \"x\" {\n  for_each   = local.all\n  zone_id    = var.z\n  setting_id = each.key\n  value      = each.value\n}\n")},
		"srv/a.tf":      {Data: []byte("resource \"cloudflare_record\" \"x\" {\n  zone_id = var.z\n  type    = \"SRV\"\n  name    = \"_sip._tcp\"\n  data {\n    service = \"_sip\"\n    proto   = \"_tcp\"\n    name    = \"x\"\n    port    = 5060\n  }\n}\n")},
		"exec/a.tf":     {Data: []byte("resource \"null_resource\" \"x\" {\n  provisioner \"local-exec\" {\n    command = <<-EOT\n      curl -X PATCH https://api.cloudflare.com/client/v4/zones/${var.z}/settings/minify\n    EOT\n  }\n}\n")},
		"fine/a.tf":     {Data: []byte("resource \"cloudflare_ruleset\" \"x\" {\n  zone_id = var.z\n}\nresource \"cloudflare_zone_setting\" \"x\" {\n  zone_id    = var.z\n  setting_id = \"ssl\"\n}\n")},
	})
	for dir, want := range map[string][]string{
		"settings": {"brotli-setting", "minify-setting", "mobile-redirect-setting"}, "each": {"brotli-setting"}, "srv": {"srv-data-name-fields"}, "exec": {"minify-setting"}, "fine": nil,
	} {
		slices.Sort(seen[dir])
		if got := slices.Compact(seen[dir]); !slices.Equal(got, want) {
			t.Errorf("%s: found %v, want %v", dir, got, want)
		}
	}
}
