package search_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"text/template"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/deprecation/report"
	"github.com/seawall-dev/seawall/edge/deprecation/scan"
	"github.com/seawall-dev/seawall/edge/deprecation/search"
	"github.com/seawall-dev/seawall/integration/must"
)

var only = flag.String("form", "", "try this form alone")

var update = flag.Bool("update", false, "rewrite the table of forms in docs/deprecations.md")

// use is one way to use what the calendar names. Path has parameters in braces.
type use struct {
	Rule, Name       string
	Method, Path     string
	Query, Body      string
	Headers          []string
	Answer           string
	inBody, inAnswer bool
	inHeader         bool
}

// The calendar of the program, and what it knows of clients. Package cue/schema reads them too, and has all of
// CUE with it.
const (
	calendarFile = "../../../cue/schema/calendar.json"
	clientsFile  = "../../../cue/schema/clients.json"
)

const emptyAnswer = `{"success":true,"errors":[],"result":{"id":"x"}}`

// uses are all that the calendar names: each endpoint, each form of a query, each
// member of a body, whole and partial, each header, each member of an answer.
func uses(t testing.TB) []use {
	calendar := must.JSON[deprecation.Calendar](t, calendarFile)
	var all []use
	for _, r := range calendar.Rules {
		add := func(u use) {
			if u.Rule, u.Name = r.ID, fmt.Sprintf("%s-%d", r.ID, len(all)); u.Answer == "" {
				u.Answer = emptyAnswer
			}
			all = append(all, u)
		}
		for _, e := range r.Endpoints {
			add(use{Method: method(e, 0), Path: written(e.Path)})
		}
		for _, q := range r.Query {
			value := string(q.Form) + ":shop"
			if q.Form == deprecation.FormList {
				value = "one,two"
			}
			add(use{Method: method(q.On[0], 0), Path: written(q.On[0].Path), Query: q.Param + "=" + value})
		}
		for _, m := range r.Body {
			on := m.On[len(m.On)-1]
			last := len(on.Methods) - 1
			add(use{Method: method(on, last), Path: written(on.Path), Body: encode(bodyWith(m, m.When != nil)), inBody: true})
			if m.When != nil {
				add(use{Method: method(on, last), Path: written(on.Path), Body: encode(bodyWith(m, false)), inBody: true})
			}
		}
		for _, m := range r.Response {
			on := m.On[0]
			add(use{Method: method(on, 0), Path: written(on.Path), Answer: encode(bodyWith(m, m.When != nil)), inAnswer: true})
		}
		for _, h := range r.Headers {
			add(use{Method: "POST", Path: "zones/{zone_id}/purge_cache", Headers: h.All, inHeader: true})
		}
	}
	return all
}

func method(e deprecation.Endpoint, i int) string {
	if e.Methods[i] == deprecation.AnyMethod {
		return "GET"
	}
	return e.Methods[i]
}

func written(path string) string {
	words := strings.Split(strings.Trim(path, "/"), "/")
	for i, w := range words {
		switch {
		case strings.HasPrefix(w, ":"):
			words[i] = "{" + w[1:] + "}"
		case w == "...":
			words[i] = "scripts"
		}
	}
	return strings.Join(words, "/")
}

func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return strings.TrimSpace(b.String())
}

// bodyWith is a body with the member, as the rule means it.
func bodyWith(m deprecation.Member, condition bool) any {
	value := "x"
	if m.Equals != "" {
		value = m.Equals
	} else if strings.HasPrefix(m.Path, "data.") {
		value = "_sip"
	}
	object := map[string]any{}
	put(object, m.Path, value)
	if condition {
		put(object, m.When.Path, m.When.Equals)
	}
	if m.In == "" {
		return object
	}
	return map[string]any{m.In: []any{object}}
}

func put(object map[string]any, path string, value any) {
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		if object[name] == nil {
			object[name] = map[string]any{}
		}
		object = object[name].(map[string]any)
	}
	object[names[len(names)-1]] = value
}

// nearMiss is a request that looks like the use and is none.
func (u use) nearMiss() use {
	switch {
	case u.inBody:
		u.Body = misspelt(u.Body)
	case u.inAnswer:
		u.Answer = misspelt(u.Answer)
	case u.inHeader:
		u.Headers = u.Headers[:1]
	case u.Query != "":
		name, _, _ := strings.Cut(u.Query, "=")
		u.Query = name + "=shop"
	default:
		words := strings.Split(u.Path, "/")
		for i := len(words) - 1; i >= 0; i-- {
			if !strings.HasPrefix(words[i], "{") && i > 0 {
				words[i] += "_x"
				break
			}
		}
		if len(words) <= 2 { // organizations/{id}
			words[0] += "_x"
		}
		u.Path = strings.Join(words, "/")
		u.Path = strings.Replace(u.Path, "script_monitor/", "page_shield/", 1)
	}
	return u
}

// misspelt renames each member of a body.
func misspelt(body string) string {
	var v any
	_ = json.Unmarshal([]byte(body), &v)
	var rename func(v any) any
	rename = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			out := map[string]any{}
			for key, inner := range v {
				out[key+"_x"] = rename(inner)
			}
			return out
		case []any:
			for i := range v {
				v[i] = rename(v[i])
			}
		}
		return v
	}
	return encode(rename(v))
}

// What the templates of forms ask of a use.

func (u use) Ask() string {
	if u.Query == "" {
		return ""
	}
	return "?" + u.Query
}

func (u use) QueryKey() string   { k, _, _ := strings.Cut(u.Query, "="); return k }
func (u use) QueryValue() string { _, v, _ := strings.Cut(u.Query, "="); return v }

func (u use) words() []string { return strings.Split(u.Path, "/") }

func (u use) Fill(before, after string) string {
	words := u.words()
	for i, w := range words {
		if name, ok := strings.CutPrefix(w, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			if before == "%" {
				name = ""
			}
			words[i] = before + name + after
		}
	}
	return strings.Join(words, "/")
}

func (u use) Args() string { return strings.Repeat(", zone", strings.Count(u.Path, "{")) }

func (u use) Pieces() string {
	words := u.words()
	for i, w := range words {
		if name, ok := strings.CutPrefix(w, "{"); ok {
			words[i] = strings.TrimSuffix(name, "}")
		} else {
			words[i] = strconv.Quote(w)
		}
	}
	return strings.Join(words, ", ")
}

func (u use) Concat() string {
	var pieces []string
	text := ""
	for i, w := range u.words() {
		if i > 0 {
			text += "/"
		}
		name, parameter := strings.CutPrefix(w, "{")
		if !parameter {
			text += w
			continue
		}
		if text != "" {
			pieces = append(pieces, strconv.Quote(text))
		}
		pieces, text = append(pieces, strings.TrimSuffix(name, "}")), ""
	}
	if text != "" {
		pieces = append(pieces, strconv.Quote(text))
	}
	return strings.Join(pieces, " + ")
}

func (u use) HeaderMap() string {
	var pairs []string
	for _, h := range u.Headers {
		pairs = append(pairs, fmt.Sprintf("'%s': '1'", h))
	}
	if len(pairs) == 0 {
		return ""
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

func (u use) If(condition, text string) string {
	if condition == "" {
		return ""
	}
	return text
}

// literal writes JSON as a literal of a language.
func literal(body, open, closing, arrow, listOpen, listClose string, nested string) string {
	var v any
	if json.Unmarshal([]byte(body), &v) != nil {
		return body
	}
	var write func(v any, outer bool) string
	write = func(v any, outer bool) string {
		switch v := v.(type) {
		case map[string]any:
			var pairs []string
			for _, key := range slices.Sorted(maps.Keys(v)) {
				pairs = append(pairs, strconv.Quote(key)+arrow+write(v[key], false))
			}
			begin := open
			if !outer {
				begin = nested + open
			}
			return begin + strings.Join(pairs, ", ") + closing
		case []any:
			var items []string
			for _, item := range v {
				items = append(items, write(item, false))
			}
			return listOpen + strings.Join(items, ", ") + listClose
		}
		return encode(v)
	}
	return write(v, true)
}

// schemaOf is a schema whose example has the members of a body.
func schemaOf(body string) string {
	var v any
	_ = json.Unmarshal([]byte(body), &v)
	var of func(v any) any
	of = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			out := map[string]any{}
			for key, inner := range v {
				out[key] = of(inner)
			}
			return map[string]any{"type": "object", "properties": out}
		case []any:
			items := any(map[string]any{"type": "string"})
			if len(v) > 0 {
				items = of(v[0])
			}
			return map[string]any{"type": "array", "items": items}
		}
		return map[string]any{"example": v}
	}
	return encode(of(v))
}

var functions = template.FuncMap{
	"lower": strings.ToLower, "quote": encode,
	"title":  func(s string) string { return s[:1] + strings.ToLower(s[1:]) },
	"python": func(b string) string { return literal(b, "{", "}", ": ", "[", "]", "") },
	"golang": func(b string) string { return literal(b, "{", "}", ": ", "[]any{", "}", "map[string]any") },
	"ruby":   func(b string) string { return literal(b, "{", "}", " => ", "[", "]", "") },
	"php":    func(b string) string { return literal(b, "[", "]", " => ", "[", "]", "") },
	"hcl":    func(b string) string { return literal(b, "{ ", " }", " = ", "[", "]", "") },
	"schema": schemaOf,
}

// form is a kind of files in which people have requests. A template writes a use
// in it.
type form struct {
	title, file              string
	bodies, headers, answers bool
	reason                   string // for what it does not carry
}

var forms = []form{
	{"curl", "curl.sh", true, true, false, noAnswers},
	{"curl `--get --data-urlencode`, `--json`", "curl-get.sh", true, true, false, noAnswers},
	{"curl, here-document", "curl-heredoc.sh", true, true, false, noAnswers},
	{"HTTPie", "httpie.sh", true, true, false, noAnswers},
	{"Makefile", "Makefile", true, true, false, noAnswers},
	{"Makefile, commands in variables", "calls.mk", true, true, false, noAnswers},
	{"`.http` of a REST client", "rest-client.http", true, true, false, noAnswers},
	{"HAR", "capture.har", true, true, true, ""},
	{"recorded interactions (VCR)", "cassette.yaml", true, true, true, ""},
	{"Postman", "postman.json", true, true, true, ""},
	{"OpenAPI", "openapi.yaml", true, false, true, "a description does not say which headers of the transport are sent"},
	{"access log", "access.log", false, false, false, "a line has no body, no headers and no answer"},
	{"lines METHOD PATH", "calls.txt", true, false, false, "a line has no headers and no answer"},
	{"Python, requests", "requests.py", true, true, false, noAnswers},
	{"Python, httpx with a base and joined paths", "joined.py", true, true, false, noAnswers},
	{"notebook", "notebook.ipynb", true, true, false, noAnswers},
	{"JavaScript, fetch with a URL builder", "fetch.js", true, true, false, noAnswers},
	{"TypeScript, axios", "axios.ts", true, true, false, noAnswers},
	{"Go, Sprintf", "client.go", true, true, false, noAnswers},
	{"Go, JoinPath and Values", "values.go", true, true, false, noAnswers},
	{"Ruby, net/http", "net_http.rb", true, true, false, noAnswers},
	{"Java, HttpClient", "Client.java", true, true, false, noAnswers},
	{"Java, HttpClient with a method for each verb", "Verbs.java", true, true, false, noAnswers},
	{"Java, HttpURLConnection", "Connection.java", true, true, false, noAnswers},
	{"Java, OkHttp", "OkHttp.java", true, true, false, noAnswers},
	{"Java, Apache HttpClient", "Apache.java", true, true, false, noAnswers},
	{"Java, RestTemplate", "Rest.java", true, true, false, noAnswers},
	{"Java, a method of its own", "Own.java", true, false, false, noAnswers},
	{"PowerShell", "Invoke.ps1", true, true, false, noAnswers},
	{"PHP, Guzzle", "guzzle.php", true, true, false, noAnswers},
	{"Ansible", "playbook.yml", true, true, false, noAnswers},
	{"CI pipeline", "workflow.yml", true, true, false, noAnswers},
	{"Markdown", "README.md", true, true, false, noAnswers},
	{"Terraform, `data \"http\"`", "main.tf", true, true, false, noAnswers},
}

const noAnswers = "code shows no answers"

func (f form) carries(u use) bool {
	return !(u.inBody && !f.bodies || u.inHeader && !f.headers || u.inAnswer && !f.answers)
}

// write is a use in the form.
func (f form) write(t testing.TB, u use) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "forms", f.file+".tmpl"))
	must.Do(t, err)
	parsed, err := template.New(f.file).Funcs(functions).Parse(string(text))
	must.Do(t, err)
	var b bytes.Buffer
	must.Do(t, parsed.Execute(&b, u))
	return b.Bytes()
}

func newSearch(t testing.TB, found func(file string, c scan.Call, notices []deprecation.Notice)) *search.Search {
	t.Helper()
	calendar := must.JSON[deprecation.Calendar](t, calendarFile)
	m, err := deprecation.NewMatcher(calendar)
	must.Do(t, err)
	clients := must.JSON[deprecation.Clients](t, clientsFile)
	day := deprecation.Date("2026-11-21").Time()
	return &search.Search{
		Matcher: m, Day: day, Hosts: search.Hosts{Names: clients.Hosts, Base: clients.Base}, Collector: report.NewCollector(day, nil), SDKs: clients.SDKs, Found: found,
	}
}

// met collects for each folder of a tree the rules that are met in it.
type met map[string][]string

func (m met) found(file string, c scan.Call, notices []deprecation.Notice) {
	dir := path.Base(path.Dir(file))
	for _, n := range notices {
		if !n.Info {
			m[dir] = append(m[dir], n.Rule)
		}
	}
}

// Each row of the calendar is found in each form, alike in a file and in a folder,
// and what merely looks like it is not. The table in the documentation says so.
func TestForms(t *testing.T) {
	all := uses(t)
	titles := map[string][]string{} // of the forms with the same result
	var results []string
	for _, f := range forms {
		if *only != "" && f.file != *only {
			continue
		}
		carried, inFile := 0, 0
		tree, near := fstest.MapFS{}, fstest.MapFS{}
		for _, u := range all {
			if !f.carries(u) {
				continue
			}
			carried++
			text := f.write(t, u)
			tree[u.Name+"/"+f.file] = &fstest.MapFile{Data: text}
			near[u.Name+"/"+f.file] = &fstest.MapFile{Data: f.write(t, u.nearMiss())}
			seen := met{}
			if _, err := newSearch(t, seen.found).Reader(bytes.NewReader(text), u.Name+"/"+f.file); err != nil {
				t.Errorf("%s, %s: %v", f.file, u.Name, err)
			}
			if slices.Contains(seen[u.Name], u.Rule) {
				inFile++
			} else {
				t.Errorf("%s: %s is not found in the file; found %v\n%s", f.file, u.Name, seen[u.Name], text)
			}
		}
		inFolder := found(t, f, all, tree)
		for dir, rules := range searchTree(t, near) {
			t.Errorf("%s: what only looks like %s is found as %v\n%s", f.file, dir, rules, near[dir+"/"+f.file].Data)
		}
		result := fmt.Sprintf("%d of %d | %d of %d | %s", inFile, carried, inFolder, carried, f.note(carried, len(all)))
		if titles[result] == nil {
			results = append(results, result)
		}
		titles[result] = append(titles[result], f.title)
	}
	table := "| form | in a file | in a folder | |\n|---|---:|---:|---|\n"
	for _, result := range results {
		table += "| " + strings.Join(titles[result], "; ") + " | " + result + " |\n"
	}
	if *only == "" {
		compareTable(t, table)
	}
}

func (f form) note(carried, all int) string {
	if carried == all {
		return ""
	}
	return f.reason
}

func found(t *testing.T, f form, all []use, tree fstest.MapFS) int {
	n := 0
	seen := searchTree(t, tree)
	for _, u := range all {
		switch {
		case !f.carries(u):
		case slices.Contains(seen[u.Name], u.Rule):
			n++
		default:
			t.Errorf("%s: %s is not found in the folder; found %v", f.file, u.Name, seen[u.Name])
		}
	}
	return n
}

func searchTree(t *testing.T, tree fs.FS) met {
	t.Helper()
	seen := met{}
	in, err := newSearch(t, seen.found).Tree(tree, "tree")
	if err != nil || in.Skipped > 0 {
		t.Errorf("%v, %+v", err, in.Skips)
	}
	return seen
}

// compareTable holds the table in the documentation to what was found.
func compareTable(t *testing.T, table string) {
	t.Helper()
	const file, begin, end = "../../../docs/deprecations.md", "<!-- forms, written by go test ./edge/deprecation/search -update -->\n", "<!-- end forms -->"
	text, err := os.ReadFile(file)
	must.Do(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	old, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", file)
	}
	if old == table {
		return
	}
	if !*update {
		t.Fatalf("the table in %s is not what was found; run go test ./edge/deprecation/search -update\n%s", file, table)
	}
	must.Do(t, os.WriteFile(file, []byte(before+begin+table+end+after), 0o644))
}
