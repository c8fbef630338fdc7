package scan

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHAR(t *testing.T) {
	runSamples(t, []sample{
		{"har", corpus["har"], HAR, []string{
			`8 POST https://api.example.com/client/v4/zones/023e/filters [{"expression":"true"}]`,
			`17 GET https://api.example.com/client/v4/zones/023e/dns_records?name=contains:x`,
		}, 0},
		{"one line, base64, log behind", `{"log":{"entries":[{"response":{},"request":{"postData":{"encoding":"base64","text":"eyJhIjoxfQ=="},"url":"http://h/zones/1/filters","method":"PUT"}}],"pages":[]}}`, HAR, []string{
			`1 PUT http://h/zones/1/filters {"a":1}`,
		}, 0},
		{"odd entries", `{"log":{"entries":[{},{"request":{"method":5,"url":"http://h/a"}},{"request":{"method":"GET","url":"http://h/b"}}]}}`, HAR, []string{`1 GET http://h/b`}, 2},
		{"values over several lines", "{\"log\":{\"creator\":{\n\"a\":\n1\n},\"version\":\n\"1.2\",\"entries\":[\n{\"request\":{\"url\":\"http://h/a\",\"method\":\"GET\"}}]}}", HAR, []string{"6 GET http://h/a"}, 0},
		{"a method as the script wrote it", `{"log":{"entries":[{"request":{"method":"patch","url":"http://h/a"}}]}}`, HAR, []string{"1 PATCH http://h/a"}, 0},
		{"odd statuses", `{"log":{"entries":[{"request":{"method":"GET","url":"http://h/a"},"response":{"status":"gone"}},{"request":{"method":"GET","url":"http://h/b"},"response":{"status":[404]}},
{"request":{"method":"GET","url":"http://h/c"},"response":{"status":0}},{"request":{"method":"GET","url":"http://h/d"},"response":{"status":200}}]}}`, HAR, []string{`1 GET http://h/a`, `1 GET http://h/b`, `2 GET http://h/c`, `2 GET http://h/d`}, 2},
		{"no entries at all", `{"log":{"version":"1.2","entries":[]}}`, HAR, nil, 0},
	})
	if _, _, err := scanAll(strings.NewReader(`{"log":{"version":"1.2"}}`), "x", Options{}); err == nil {
		t.Error("an archive without entries passes for an empty one")
	}
}

func TestHARKeepsBodiesBounded(t *testing.T) {
	big := strings.Repeat("x", 5<<20)
	text := `{"log":{"entries":[{"response":{"content":{"text":"` + big + `"}},"request":{"method":"POST","url":"http://h/a/b","postData":{"text":"` + big + `"}}}]}}`
	got, stats := scanned(t, "har", text, Options{})
	if diff := cmp.Diff([]string{"1 POST http://h/a/b"}, got); diff != "" || stats.Skipped != 1 {
		t.Errorf("the call lost its body without a word: %+v\n%s", stats, diff)
	}
}

// A collection may have the pieces of an address alone, and members of a query beside one
// that is in the address; what is cut short in a value is an error and no more.
func TestDocumentsByPieces(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"Postman": {
			`{"item":[{"request":{"method":"GET","url":{"host":["h","example"],"path":["zones",":id","filters"],"query":[{"key":"a","value":"b"}]}}}]}`,
			"1 GET https://h.example/zones/{}/filters?a=b",
		},
		"Insomnia":    {`{"method":"GET","url":"https://h.example/zones/1/a?b=c","parameters":[{"name":"d","value":"e"}]}`, "1 GET https://h.example/zones/1/a?b=c&d=e"},
		"both places": {`{"method":"GET","url":"https://h.example/zones/1/a?b=c%3Ad","query":{"b":"c:d"}}`, "1 GET https://h.example/zones/1/a?b=c%3Ad"},
	} {
		if got, _ := scanned(t, name, c.text, Options{Format: Document}); len(got) == 0 || got[0] != c.want {
			t.Errorf("%s: got %v, want %s", name, got, c.want)
		}
	}
	for _, text := range []string{`{"request":{"method":"GET","url":"/a/b"},"response":{"content":{"text":"`, `{"request":{"method":"GET","url":"/a/b","body":[{"a":[`} {
		if _, _, err := scanAll(strings.NewReader(text), "cut.json", Options{Format: Document}); err == nil {
			t.Errorf("cut short passes for whole: %s", text)
		}
	}
}

func TestAccessLog(t *testing.T) {
	const at = ` - - [01/Mar/2026:10:00:00 +0000] `
	runSamples(t, []sample{
		{"access", corpus["access"], AccessLog, []string{
			"1 GET /client/v4/zones/023e/filters",
			"2 PUT /client/v4/zones/023e/firewall/rules/1",
		}, 0},
		{"odd lines", strings.Join([]string{
			`::1` + at + `"GET /a?q=\"x\" HTTP/1.1" 200 1 "https://x/\"y\"" "z"`,
			`::1` + at + `"GET /b\x20c\x22 HTTP/1.1" 200 1`,
			`::1` + at + `"\x16\x03\x01\x02" 400 157 "-" "-"`,
			`::1` + at + `"-" 408 0`,
			`::1` + at + `"OPTIONS * HTTP/1.0" 200 1`,
			`::1` + at + `"CONNECT example.com:443 HTTP/1.1" 400 1`,
			`::1` + at + `"GET http://h/proxied HTTP/1.1" 200 1`,
			`::1` + at + `"GET /old" 200 1`,
			`::1 - a b "c" [01/Mar/2026:10:00:00 +0000] "DELETE /d HTTP/1.1" 200 1`,
			`::1` + at + `"GET /cut`,
			`::1` + at + `"get /lower HTTP/1.1" 400 1`,
			`this is not a log line`,
			``,
			`www.example.com:443 ::1` + at + `"GET /crlf HTTP/1.1" 200 1` + "\r",
		}, "\n"), AccessLog, []string{
			`1 GET /a?q="x"`, `2 GET /b c"`, `7 GET http://h/proxied`, `8 GET /old`, `9 DELETE /d`, `14 GET /crlf`,
		}, 3},
	})
}

func TestRecords(t *testing.T) {
	runSamples(t, []sample{
		{"records", corpus["records"], Records, []string{
			"2 GET /zones/023e/filters",
			"3 DELETE https://api.example.com/zones/023e/rate_limits/1",
		}, 0},
		{"many loggers", strings.Join([]string{
			`{"request_method":"GET","request_uri":"/a?x=1","uri":"/a"}`,
			`{"http_method":"GET","url":"\/b\/c"}`,
			`{"verb":"post","uri":"/c","args":"name=contains:x"}`,
			`{"request":{"method":"PUT","uri":"/caddy","headers":{"X":["/no"]}},"status":200}`,
			`{"request":"GET /nginx?y=1 HTTP/1.1","status":"200"}`,
			`{"http":{"request":{"method":"PATCH"}},"url":{"path":"/ecs","query":"q=1"}}`,
			`{"http.request.method":"GET","url.path":"/dotted"}`,
			`{"ClientRequestMethod":"GET","ClientRequestURI":"/push?z"}`,
			`{"list":[{"method":"GET","path":"/in/array"}],"method":"GET","path":"/out"}`,
			`{"method":"GET","url":["/in/list"],"path":"/beside"}`,
			`{"agent":"ends in \\","method":"GET","path":"/escaped","x":"\\\""}`,
			`{"path":"/no/method"}`,
			`{"method":"GET"}`,
			`{"method":"GET","path":"not/a/target"}`,
			`{"method":"GET","path":"/broken",}`,
			`{"method":"GET","path":"/cut`,
			`plain text`,
		}, "\n"), Records, []string{
			"1 GET /a?x=1", "2 GET /b/c", "3 POST /c?name=contains:x", "4 PUT /caddy", "5 GET /nginx?y=1", "6 PATCH /ecs?q=1",
			"7 GET /dotted", "8 GET /push?z", "9 GET /out", "10 GET /beside", "11 GET /escaped",
		}, 4},
		{"array", "[\n {\"httpRequest\": {\"requestMethod\": \"GET\",\n  \"requestUrl\": \"https://h/a\"}},\n {\"method\":\"GET\",\"path\":\"/b\"}\n]\n", Records, []string{
			"2 GET https://h/a", "4 GET /b",
		}, 0},
		{"one after another", "{\n \"method\": \"GET\",\n \"path\": \"/a\"\n}\n{\n \"method\": \"GET\",\n \"path\": \"/b\"\n}\n", Records, []string{"1 GET /a", "5 GET /b"}, 0},
		{"a single one", `{"method":"GET","path":"/a"}`, Records, []string{"1 GET /a"}, 0},
		// Nothing was understood, which is not nothing.
		{"unknown words", "{\"cs-method\":\"GET\",\"cs-uri-stem\":\"/a\"}\n{\"cs-method\":\"GET\",\"cs-uri-stem\":\"/b\"}\n", Records, nil, 1},
	})
}

func TestPlain(t *testing.T) {
	runSamples(t, []sample{
		{"plain", corpus["plain"], Plain, []string{
			"2 GET /client/v4/zones/{}/filters",
			`4 PATCH https://api.example.com/client/v4/zones/023e/settings/minify {"value": {"css": "on"}}`,
		}, 0},
		{"odd lines", strings.Join([]string{
			"get zones/:zone_identifier/settings/privacy_pass",
			"\tPOST\t/accounts/<account id>/tunnels HTTP/1.1\t",
			"DELETE ${BASE}/zones/$ZONE/filters/%s?x={y}",
			"GET /a {not json}",
			"GET",
			"/only/a/path",
			"GET nowhere",
			"GET /{}",
			"  # indented comment",
			"PUT api.example.com/client/v4/user?a=b c",
			`PUT api.example.com/client/v4/user?a=b "c"`,
		}, "\n"), Plain, []string{
			"1 GET /zones/{}/settings/privacy_pass",
			"3 DELETE /zones/{}/filters/{}?x={}",
			`11 PUT https://api.example.com/client/v4/user?a=b "c"`,
		}, 7},
		{"comments alone", "# nothing yet\n\n", Plain, nil, 0},
	})
}

func TestOpenAPI(t *testing.T) {
	runSamples(t, []sample{
		{"openapi.json", corpus["openapi.json"], OpenAPI, []string{"5 GET https://api.example.com/client/v4/zones/{}/filters"}, 0},
		{"openapi.yaml", corpus["openapi.yaml"], OpenAPI, []string{
			"8 GET https://eu.example.com/client/v4/zones/{}/filters",
			"9 POST https://eu.example.com/client/v4/zones/{}/filters",
		}, 0},
		{"swagger 2", `swagger: "2.0"
host: api.example.com
basePath: /client/v4/
schemes: [https]
paths:
  /zones/{z}/dns_records:
    parameters:
      - $ref: '#/parameters/match'
    get:
      parameters:
        - {name: type, in: query, type: string, enum: ["contains:A", MX]}
        - {name: body, in: body, enum: [no]}
    x-note: nothing
parameters:
  match: {name: match, in: query, enum: [any]}
`, OpenAPI, []string{
			"9 GET https://api.example.com/client/v4/zones/{}/dns_records",
			"9 GET https://api.example.com/client/v4/zones/{}/dns_records?match=any",
			"9 GET https://api.example.com/client/v4/zones/{}/dns_records?type=contains%3AA",
			"9 GET https://api.example.com/client/v4/zones/{}/dns_records?type=MX",
		}, 0},
		{"references and aliases", `openapi: 3.0.0
paths:
  /a/{id}: &a
    get: {parameters: [{$ref: '#/components/parameters/q'}], servers: [{url: /base}]}
  /b: *a
  /c: {$ref: '#/paths/~1a~1{id}'}
  /d: {$ref: 'other.yaml#/d'}
  /{all}: {get: {}}
components: {parameters: {q: {in: query, name: q, schema: {$ref: '#/components/schemas/e'}}}, schemas: {e: {type: array, items: {enum: [x]}}}}
`, OpenAPI, []string{
			"4 GET /base/a/{}", "4 GET /base/a/{}?q=x", "4 GET /base/b", "4 GET /base/b?q=x", "4 GET /base/c", "4 GET /base/c?q=x",
		}, 1},
		{"kind behind the head.json", `{"components":{"x":"` + strings.Repeat("y", headSize) + `"},"openapi":"3.0.0","paths":{"/a":{"get":{}}}}`, OpenAPI, []string{"1 GET /a"}, 0},
		{"kind behind the head.yaml", "components:\n  x: " + strings.Repeat("y", headSize) + "\nopenapi: 3.0.0\npaths: {/a: {get: {}}}\n", OpenAPI, []string{"4 GET /a"}, 0},
	})
	if _, _, err := scanAll(strings.NewReader("openapi: 3.0.0\npaths: ["), "x", Options{}); err == nil {
		t.Error("broken YAML passes")
	}
	if _, _, err := scanAll(strings.NewReader(corpus["openapi.yaml"]), "x", Options{MaxDocument: 50}); err == nil || !strings.Contains(err.Error(), "longer") {
		t.Errorf("a document over the bound: %v", err)
	}
}

func TestLongLinesArePassedOver(t *testing.T) {
	long := "GET /" + strings.Repeat("x", 200<<10)
	text := "GET /a\n" + long + "\nGET /b\n" + long
	got, stats := scanned(t, "x", text, Options{MaxLine: 1000})
	if diff := cmp.Diff([]string{"1 GET /a", "3 GET /b"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if stats.Skipped != 2 || stats.Lines != 4 || stats.First[1].Line != 4 {
		t.Errorf("stats say %+v", stats)
	}
	got, stats = scanned(t, "x", strings.ReplaceAll(text, "GET /a\n", ""), Options{Format: Plain})
	if len(got) != 3 || stats.Skipped != 0 {
		t.Errorf("lines within the bound are lost: %d calls, %+v", len(got), stats)
	}
}

func TestHeadersArrive(t *testing.T) {
	var got http.Header
	_, err := Reader(strings.NewReader(`curl -H 'Transfer-Encoding: chunked' -H "Content-Length: 5" -d x https://h.example/a/b`), "x", Options{}, func(c Call) error {
		got = c.Header
		return nil
	})
	want := http.Header{"Transfer-Encoding": {"chunked"}, "Content-Length": {"5"}, "Content-Type": {"application/x-www-form-urlencoded"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// A member that two parts of a schema name as an object is what the last one says.
func TestOpenAPIMembersTwice(t *testing.T) {
	const part = `{"properties": {"data": {"properties": {"name": {"example": "x"}}}}}`
	got, _ := scanned(t, "api.json", `{"openapi": "3.0.0", "paths": {"/a/b": {"post": {"requestBody": {"content": {"application/json": {"schema": {"allOf": [`+part+`, `+part+`]}}}}}}}}`, Options{})
	if diff := cmp.Diff([]string{`1 POST /a/b {"data":{"name":"x"}}`}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
