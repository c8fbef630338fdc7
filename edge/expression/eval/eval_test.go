package eval

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge/expression"
)

// requestOf is the request of a form in JSON.
func requestOf(t testing.TB, text string) Request {
	t.Helper()
	var f Form
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	r, err := f.Request()
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

// Of each expression of the corpus is known what it is of its request, however it is printed.
func TestCorpus(t *testing.T) {
	text, err := os.ReadFile("testdata/corpus.txt")
	if err != nil {
		t.Fatal(err)
	}
	signs := map[Verdict]byte{True: '+', False: '-', Unknown: '?'}
	source, counts := "", map[byte]int{}
	var request Request
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		form, isRequest := strings.CutPrefix(line, "request ")
		switch {
		case strings.HasPrefix(line, "## "):
			source = line[3:]
			continue
		case isRequest:
			request = requestOf(t, form)
			continue
		case line == "" || line[0] == '#':
			continue
		}
		said, lack, hasLack := strings.Cut(line[2:], "\t")
		counts[line[0]]++
		e, err := expression.Parse(said)
		if err != nil || source == "" {
			t.Fatalf("%s: %v (%s)", said, err, source)
		}
		got := request.Evaluate(e)
		if signs[got.Verdict] != line[0] || hasLack && (len(got.Lacks) != 1 || got.Lacks[0].String() != lack) {
			t.Errorf("%s is %v, lacks %v, want %c (%s)", said, got.Verdict, got.Lacks, line[0], source)
		}
		if (got.Verdict == Unknown) != (len(got.Lacks) > 0) || (got.Verdict == Unknown) != (got.Why == nil) {
			t.Errorf("%s is %v, because of %v, lacks %v", said, got.Verdict, got.Why, got.Lacks)
		}
		again, err := expression.Parse(e.String())
		if err != nil || request.Evaluate(again).Verdict != got.Verdict {
			t.Errorf("%s is %v, but as it is printed %v, %v", said, got.Verdict, request.Evaluate(again).Verdict, err)
		}
	}
	if counts['+'] < 70 || counts['-'] < 40 || counts['?'] < 20 {
		t.Errorf("the corpus has %v", counts)
	}
}

func TestWhy(t *testing.T) {
	request := requestOf(t, `{"method": "GET", "url": "https://shop.example/admin", "headers": {"user-agent": "curl"}}`)
	for _, test := range []struct{ expression, why, saw string }{
		{`http.host eq "shop.example" and http.request.uri.path eq "/login" and ssl`, `http.request.uri.path eq "/login"`, `"/admin"`},
		{`ip.src in {192.0.2.1} or (ssl and starts_with(http.request.uri.path, "/admin"))`, `ssl and starts_with(http.request.uri.path, "/admin")`, ``},
		{`not (http.host eq "other" or ssl)`, `ssl`, ``},
		{`http.request.method in {"POST" "PUT"}`, `http.request.method in {"POST" "PUT"}`, `"GET"`},
		{`any(http.request.headers["user-agent"][*] contains "curl")`, `any(http.request.headers["user-agent"][*] contains "curl")`, `"curl"`},
		{`http.request.headers["x"][0] eq "a"`, `http.request.headers["x"][0] eq "a"`, `missing`},
	} {
		e, err := expression.Parse(test.expression)
		if err != nil {
			t.Fatal(err)
		}
		if got := request.Evaluate(e); got.Why == nil || expression.Write(got.Why) != test.why || got.Saw != test.saw {
			t.Errorf("%s: %v because %v saw %q", test.expression, got.Verdict, got.Why, got.Saw)
		}
	}
}

func TestFormSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		`{"fields": {"cf.bot_management.scor": 1}}`:      `fields.cf.bot_management.scor: there is no field "cf.bot_management.scor"`,
		`{"fields": {"cf.bot_management.score": "1"}}`:   `fields.cf.bot_management.score: cf.bot_management.score is an Integer; "1" is none`,
		`{"fields": {"ip.src": "x"}}`:                    `fields.ip.src: ip.src is an IP address; "x" is none`,
		`{"fields": {"http.request.headers": {"a": 1}}}`: `fields.http.request.headers: http.request.headers is a Map<Array<String>>; {"a": 1} is none`,
		`{"fields": {"ssl": null}}`:                      `fields.ssl: ssl is a Boolean; null is none`,
		`{"fields": {"lower(http.host)": 1}}`:            `fields.lower(http.host): lower does not return 1`,
		`{"ip": "192.0.2.0/24"}`:                         `ip: "192.0.2.0/24" is no address`,
		`{"url": "https://%zz/"}`:                        `url: is no address`,
		`{"lists": {"a": [true]}}`:                       `lists.a: element 1 is no text and no number`,
	} {
		var f Form
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Request(); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestHAR(t *testing.T) {
	forms, is, err := HAR([]byte(`{"log": {"version": "1.2", "entries": [
		{"request": {"method": "GET", "url": "https://shop.example/a?b=c", "httpVersion": "h2", "bodySize": 0,
			"headers": [{"name": ":authority", "value": "shop.example"}, {"name": "User-Agent", "value": "x"}, {"name": "Accept", "value": "a"}, {"name": "Accept", "value": "b"}]}},
		{"request": {"method": "POST", "url": "https://shop.example/login", "httpVersion": "HTTP/1.1",
			"headers": [{"name": "Content-Type", "value": "application/x-www-form-urlencoded"}], "postData": {"mimeType": "x", "text": "user=a%20b&user=c"}}}]}}`))
	if err != nil || !is || len(forms) != 2 {
		t.Fatal(forms, is, err)
	}
	for i, texts := range [][]string{
		{
			`http.request.version eq "HTTP/2" and http.user_agent eq "x" and http.request.body.raw eq "" and len(http.request.headers["accept"]) eq 2`,
			`http.request.headers.names[0] eq "User-Agent" and http.request.method eq "GET" and ssl`,
			`any(http.request.headers["host"][*] eq "shop.example") and http.referer eq ""`,
		},
		{`http.request.body.form["user"][0] eq "a%20b" and http.request.body.form.values[1] eq "c" and http.request.body.size eq 17`},
	} {
		r, err := forms[i].Request()
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			e, err := expression.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Evaluate(e); got.Verdict != True {
				t.Errorf("%s: %v %v %v", text, got.Verdict, got.Lacks, expression.Write(got.Why))
			}
		}
	}
	for text, want := range map[string]string{
		`{"log": {"entries": []}}`:                                                                                     "the archive has no request",
		`{"log": {"entries": [{"request": {"method": "GET"}}]}}`:                                                       "entry 1 has no request",
		`{"log": {"entries": [{"request": {"method": "GET", "url": "data:image/png;base64,AA"}}]}}`:                    "the archive has no request",
		`{"log": {"entries": [{"request": {"method": "GET", "url": "https://a.example", "headers": [{"name": 1}]}}]}}`: "the archive has a number as entries.request.headers.name",
	} {
		if _, is, err := HAR([]byte(text)); !is || err == nil || err.Error() != want {
			t.Errorf("%s: %v %v", text, is, err)
		}
	}
	forms, is, err = HAR([]byte("\xef\xbb\xbf" + `{"log": {"entries": [{"request": {"method": "GET", "url": "data:,x"}}, {"request": {"method": "GET", "url": "https://a.example/%"}}]}}`))
	if err != nil || !is || len(forms) != 1 {
		t.Error(forms, is, err)
	} else if _, err := forms[0].Request(); err != nil || Host(forms[0].URL) != "a.example" {
		t.Error(err, Host(forms[0].URL))
	}
	if _, is, err := HAR([]byte(`{"method": "GET"}`)); is || err != nil {
		t.Error(is, err)
	}
}
