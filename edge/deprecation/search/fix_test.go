package search_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/deprecation/fix"
	"github.com/seawall-dev/seawall/edge/deprecation/search"
	"github.com/seawall-dev/seawall/integration/must"
)

// searchToFix takes every address for the platform.
func searchToFix(t *testing.T) search.Search {
	t.Helper()
	calendar := must.JSON[deprecation.Calendar](t, calendarFile)
	m, err := deprecation.NewMatcher(calendar)
	must.Do(t, err)
	return search.Search{Matcher: m, Day: deprecation.Date("2026-11-21").Time(), Hosts: search.Hosts{Any: true}}
}

// Each text becomes the other; what has no mechanical rewrite stays, and so does
// all that stands around it.
func TestFix(t *testing.T) {
	for _, c := range []struct {
		name, file, text, want string
		fixed, left            int
	}{
		{
			"a moved path", "a.sh", "#!/bin/sh\ncurl -s \"$API/zones/$Z/script_monitor/scripts?page=1\" | jq . # script_monitor/scripts\n",
			"#!/bin/sh\ncurl -s \"$API/zones/$Z/page_shield/scripts?page=1\" | jq . # script_monitor/scripts\n", 1, 0,
		},
		{
			"a version", "a.sh", "curl -X POST \"$API/v1/accounts/$A/images/v1/direct_upload\"\n",
			"curl -X POST \"$API/v1/accounts/$A/images/v2/direct_upload\"\n", 1, 0,
		},
		{
			"queries", "a.sh", "curl \"$API/zones/$Z/dns_records?name=contains:shop&page=2\"\ncurl -G $API/zones/$Z/dns_records --data-urlencode 'content=starts_with:a b'\n",
			"curl \"$API/zones/$Z/dns_records?name.contains=shop&page=2\"\ncurl -G $API/zones/$Z/dns_records --data-urlencode 'content.startswith=a b'\n", 2, 0,
		},
		{
			"a list, quoted and not", "a.sh", "curl \"$API/zones/$Z/dns_records?name=one,two\"\ncurl $API/zones/$Z/dns_records?name=three,four\n",
			"curl \"$API/zones/$Z/dns_records?name=one&name=two&match=any\"\ncurl $API/zones/$Z/dns_records?name=three,four\n", 1, 1,
		},
		{
			"bodies", "a.sh", "curl -X PATCH $API/zones/$Z/dns_records/$R -d '{\"content\": \"x\", \"locked\": false, \"zone_name\": \"a.example\"}'\n",
			"curl -X PATCH $API/zones/$Z/dns_records/$R -d '{\"content\": \"x\"}'\n", 2, 0,
		},
		{
			"the first member", "a.sh", "curl -X PATCH $API/zones/$Z/dns_records/$R --json @- <<'EOF'\n{\n  \"locked\": false,\n  \"content\": \"x\"\n}\nEOF\n",
			"curl -X PATCH $API/zones/$Z/dns_records/$R --json @- <<'EOF'\n{\n  \"content\": \"x\"\n}\nEOF\n", 1, 0,
		},
		{
			"a variable in the body", "a.sh", "curl -X PATCH $API/zones/$Z/dns_records/$R -d \"{\\\"content\\\": \\\"$X\\\", \\\"locked\\\": false}\"\n",
			"curl -X PATCH $API/zones/$Z/dns_records/$R -d \"{\\\"content\\\": \\\"$X\\\", \\\"locked\\\": false}\"\n", 0, 1,
		},
		{
			"a REST client", "a.http", "### one\nPATCH {{base}}/zones/{{z}}/dns_records/{{r}}\nContent-Type: application/json\n\n{\n  \"name\": \"x\",\n  \"zone_id\": \"{{z}}\",\n  \"ttl\": 1\n}\n\n### two\nGET {{base}}/zones/{{z}}/dns_records\n  ?name=ends_with:shop\n  &page=2\n",
			"### one\nPATCH {{base}}/zones/{{z}}/dns_records/{{r}}\nContent-Type: application/json\n\n{\n  \"name\": \"x\",\n  \"ttl\": 1\n}\n\n### two\nGET {{base}}/zones/{{z}}/dns_records\n  ?name.endswith=shop\n  &page=2\n", 2, 0,
		},
		{
			"a service record", "a.tf", "resource \"cloudflare_record\" \"sip\" {\n  zone_id = var.z\n  type    = \"SRV\"\n  name    = \"_sip._tcp.x.example\"\n  data {\n    service = \"_sip\" # the old way\n    proto   = \"_tcp\"\n    name    = \"x.example\"\n    port    = 5060\n  }\n}\n",
			"resource \"cloudflare_record\" \"sip\" {\n  zone_id = var.z\n  type    = \"SRV\"\n  name    = \"_sip._tcp.x.example\"\n  data {\n     # the old way\n    port    = 5060\n  }\n}\n", 1, 0,
		},
		{
			"an address of a configuration", "a.tf", "data \"http\" \"x\" {\n  url = \"https://api.cloudflare.com/client/v4/zones/${var.z}/dns_records?content=contains:a\"\n}\n",
			"data \"http\" \"x\" {\n  url = \"https://api.cloudflare.com/client/v4/zones/${var.z}/dns_records?content.contains=a\"\n}\n", 1, 0,
		},
		{"nothing mechanical", "a.sh", "curl $API/zones/$Z/firewall/rules\n", "curl $API/zones/$Z/firewall/rules\n", 0, 0},
		{"another format", "a.py", "requests.get(f'{api}/zones/{z}/script_monitor/x')\n", "requests.get(f'{api}/zones/{z}/script_monitor/x')\n", 0, 0},
	} {
		got, err := fix.Text(searchToFix(t), c.file, c.text)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, got.Text); diff != "" || got.Fixed != c.fixed || got.Left != c.left {
			t.Errorf("%s: %d fixed, %d left (-want +got):\n%s", c.name, got.Fixed, got.Left, diff)
		}
		if again, err := fix.Text(searchToFix(t), c.file, got.Text); err != nil || again.Text != got.Text {
			t.Errorf("%s: a second run changes it: %v", c.name, err)
		}
	}
}
