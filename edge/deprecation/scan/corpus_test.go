package scan

// corpus holds one realistic input of each format, with at least one call on
// filters; tables, laws and fuzzing start from it.
var corpus = map[string]string{
	"har": `{
  "log": {
    "version": "1.2",
    "creator": {"name": "browser", "version": "126"},
    "entries": [
      {
        "startedDateTime": "2026-03-01T10:00:00Z",
        "request": {
          "method": "POST",
          "url": "https://api.example.com/client/v4/zones/023e/filters",
          "httpVersion": "HTTP/2",
          "headers": [{"name": "content-type", "value": "application/json"}, {"name": ":authority", "value": "x"}],
          "postData": {"mimeType": "application/json", "text": "[{\"expression\":\"true\"}]"}
        },
        "response": {"status": 200, "content": {"text": "{\"request\": {\"method\": \"GET\"}} ]}]"}}
      },
      {"request": {"url": "https://api.example.com/client/v4/zones/023e/dns_records?name=contains:x", "method": "GET"}, "time": 12.5},
      {"request": {"method": "GET", "url": "data:image/png;base64,AAAA"}}
    ]
  }
}
`,
	"access": `192.0.2.1 - - [01/Mar/2026:10:00:00 +0000] "GET /client/v4/zones/023e/filters HTTP/1.1" 200 512
192.0.2.1 - alice [01/Mar/2026:10:00:01 +0000] "PUT /client/v4/zones/023e/firewall/rules/1 HTTP/2.0" 200 512 "-" "curl/8.5.0"
`,
	"records": `{"ts":1,"level":"info","msg":"started"}
{"ts":2,"method":"GET","path":"/zones/023e/filters","status":200}
{"ts":3,"httpRequest":{"requestMethod":"delete","requestUrl":"https://api.example.com/zones/023e/rate_limits/1","status":200}}
`,
	"shell": `#!/bin/bash
set -euo pipefail
API=https://api.example.com/client/v4
curl -sS -X POST "$API/zones/${ZONE}/filters" \
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
  -d '[{"expression": "true"}]'
`,
	"openapi.json": `{
  "openapi": "3.1.0",
  "paths": {
    "/zones/{zone_id}/filters": {
      "get": {"parameters": [{"name": "page", "in": "query", "schema": {"type": "integer"}}]}
    }
  },
  "servers": [{"url": "https://api.example.com/client/v4"}]
}
`,
	"openapi.yaml": `openapi: "3.0.3"
info: {title: Billing}
servers:
  - url: https://{region}.example.com/client/v4
    variables: {region: {default: eu}}
paths:
  /zones/{zone_id}/filters:
    get: {}
    post: {}
`,
	"tfplan": `{"format_version":"1.2","terraform_version":"1.9.0","planned_values":{"root_module":{}},"resource_changes":[
{"address":"module.edge.cloudflare_filter.bots[\"de\"]","mode":"managed","type":"cloudflare_filter","name":"bots",
 "change":{"actions":["create"],"before":null,"after":{"zone_id":"023e","expression":"true"}}}]}
`,
	"plain": `# what the billing export calls
GET /client/v4/zones/:zone_id/filters

PATCH https://api.example.com/client/v4/zones/023e/settings/minify {"value": {"css": "on"}}
`,
}
