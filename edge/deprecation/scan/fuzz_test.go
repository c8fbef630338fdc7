package scan

import (
	"bytes"
	"errors"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// fuzzFormat holds the reader of one format to what holds for any input: it ends
// without a panic, lines are within the input, counts agree, and a call is a
// call.
func fuzzFormat(f *testing.F, format Format, seeds ...string) {
	for _, text := range corpus {
		f.Add([]byte(text))
	}
	for _, text := range seeds {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		lines, calls := bytes.Count(text, []byte("\n"))+1, 0
		stats, err := Reader(bytes.NewReader(text), "fuzz", Options{Format: format, MaxLine: 4 << 10, MaxDocument: 1 << 20}, func(c Call) error {
			calls++
			checkCall(t, c, lines, writtenByPeople(format))
			return nil
		})
		if stats.Calls != calls || stats.Lines < 0 || len(stats.First) > call.FirstSkips || len(stats.First) > stats.Skipped {
			t.Errorf("%d calls, and stats say %+v", calls, stats)
		}
		for _, s := range stats.First {
			if s.Line < 0 || s.Line > lines || s.Reason == "" {
				t.Errorf("skipped %+v of %d lines", s, lines)
			}
		}
		if err == nil && stats.Format == Unknown {
			t.Error("no format, and no error")
		}
	})
}

// writtenByPeople reports whether the addresses of a format are written by people, and so
// brought into normal form.
func writtenByPeople(f Format) bool {
	return f != HAR && f != AccessLog && f != Records && f != Unknown
}

func checkCall(t *testing.T, c Call, lines int, written bool) {
	t.Helper()
	if c.Line < 0 || c.Line > lines {
		t.Errorf("line %d of %d", c.Line, lines)
	}
	if c.Method != "" && !call.IsMethod([]byte(c.Method)) {
		t.Errorf("the method is %q", c.Method)
	}
	if !strings.HasPrefix(c.URL, "/") && !strings.HasPrefix(c.URL, "http://") && !strings.HasPrefix(c.URL, "https://") {
		t.Errorf("the address is %q", c.URL)
	}
	if written {
		if _, err := url.Parse(c.URL); err != nil && !strings.HasPrefix(c.URL, "//") {
			t.Errorf("the address %q cannot be read: %v", c.URL, err)
		}
	}
}

func FuzzRecognise(f *testing.F) {
	fuzzFormat(f, Unknown, "\x1f\x8b", "BZh9", "[", "{", `[{"`, "---\nopenapi: 3.0.0\n")
}

func FuzzHAR(f *testing.F) {
	fuzzFormat(f, HAR, `{"log":{"entries":[{"request":{"method":"GET","url":"http://h/a","headers":[{"name":"a"}]}}]}}`)
}

func FuzzAccessLog(f *testing.F) {
	fuzzFormat(f, AccessLog, `x] "GET /a\x`, `] "GET /a" `, `] "GET `)
}

func FuzzRecords(f *testing.F) {
	fuzzFormat(f, Records, `{"a":{"b":[{"method":"GET"}]},"uri":"/\u0061"}`, `[{"method":"GET","path":"/a"}`)
}

func FuzzPlain(f *testing.F) { fuzzFormat(f, Plain, "GET /{", "GET //[", "PUT a.b:c/%") }

func FuzzShell(f *testing.F) {
	fuzzFormat(f, Shell, "curl $(curl `curl /a`) ${a:-/b} <<A\n$x\nA\n", "http :/a b=c d:=e", "wget --method /a", "curl $'\\x' /a")
}

func FuzzOpenAPI(f *testing.F) {
	fuzzFormat(f, OpenAPI, "swagger: '2.0'\npaths: &a {/x: *a}", "openapi: 3.0.0\npaths: {/a: {$ref: '#/paths/~1a', get: {}}}")
}

func FuzzTerraform(f *testing.F) {
	fuzzFormat(f, Terraform, `{"version":4,"resources":[{"type":"cloudflare_filter","instances":[{"index_key":[],"attributes":{"id":"../.."}}]}]}`)
}

func FuzzHCL(f *testing.F) {
	fuzzFormat(f, HCL, "resource \"cloudflare_filter\" \"a\" {\n for_each = toset([\"x\"])\n zone_id = var.z\n}\n", `{"resource":{"cloudflare_filter":{"a":{"zone_id":"${var.z}"}}}}`, "a = !!!1\n")
}

func FuzzDocument(f *testing.F) {
	fuzzFormat(f, Document, "- uri: {url: '{{ base }}/zones/1/filters'}\n", "a: &a {url: /a/b, method: GET, body: *a}\n", `{"interactions":[{"request":{"method":"GET","uri":"/a/b"},"response":{"body":{"string":"{}"}}}]}`, `{"nbformat":4,"cells":[{"cell_type":"code","source":["x"]}]}`)
}

func FuzzRequests(f *testing.F) {
	fuzzFormat(f, Requests, "@a = /b/{{c}}\n### x\nPUT {{a}}/d\n ?q=1\nX: y\n\n{}\n", "GET\n\n< file")
}

func FuzzMarkdown(f *testing.F) {
	fuzzFormat(f, Markdown, "# a\n```sh\ncurl /a/b\n```\n`curl /c/d`\n~~~http\nGET /e/f\n")
}

func FuzzSource(f *testing.F) {
	for _, name := range []string{"a.go", "a.py", "a.js", "a.rb", "a.ps1", "a.php", "a.lua", "a.env", "a"} {
		for _, text := range corpus {
			f.Add(name, []byte(text))
		}
		f.Add(name, []byte("x = `a/${b[`c`]}` + d('/e') + \"/f\\\n\"\"\"\n/g/{h}\n\"\"\" '"))
		f.Add(name, []byte("c = Client(base_url='https://h/a'); c.get(f'/b/{x}', params={'a': [1, 'b']}, json={'d': {'e': None}})\n"))
	}
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		if name == "" || strings.ContainsAny(name, "/\\\x00") {
			return
		}
		lines := bytes.Count(text, []byte("\n")) + 1
		_, err := Reader(bytes.NewReader(text), name, Options{Format: Source}, func(c Call) error {
			checkCall(t, c, lines, true)
			return nil
		})
		if err != nil && !isPacked(text) && !isUTF16(text) && !strings.Contains(err.Error(), "it is") {
			t.Error(err)
		}
		_, _ = Dir(fstest.MapFS{name: {Data: text}}, Options{}, func(string, Call) error { return errors.New("stop") })
	})
}
