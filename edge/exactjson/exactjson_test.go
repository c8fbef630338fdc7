package exactjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge/exactjson"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestCheck(t *testing.T) {
	many := make([]string, 100)
	for i := range many {
		many[i] = fmt.Sprintf(`"k%d":{"a":1}`, i)
	}
	wide := strings.Join(many, ",")
	for text, want := range map[string]string{
		`{}`:  "",
		`[]`:  "",
		`"a"`: "",
		`{"a":1,"b":{"a":2,"c":[{"a":1},{"a":2}]},"c":"a"}`: "",
		`{"a":"\"a\":1,","b":"\\","c":1}`:                   "",
		`["a","a",{"a":["b","b"]}]`:                         "",
		`{"a":"\ud83d\ude00 😀 \ufffd �"}`:                   "",
		`{` + wide + `}`:                                    "",
		`{"a":1,"a":1}`:                                     `7 the key "a" stands twice in an object`,
		`{"a":1,"\u0061":2}`:                                `7 the key "a" stands twice in an object`,
		`{"enabled":true,"Enabled":false}`:                  `16 the key "Enabled" stands twice in an object`,
		`{"task":1,"taſK":2}`:                               `10 the key "taſK" stands twice in an object`,
		`[{"x":{"b":[],"c":{},"b":1}}]`:                     `21 the key "b" stands twice in an object`,
		`{` + wide + `,"K7":1}`:                             fmt.Sprintf(`%d the key "K7" stands twice in an object`, len(wide)+2),
		"{\"a\":\"\xff\"}":                                  "6 the text is not valid UTF-8",
		`{"a":"\ud800"}`:                                    "5 a string has half of a surrogate pair, which is not Unicode",
		`{"\udc00":1}`:                                      "1 a string has half of a surrogate pair, which is not Unicode",
		// Not JSON: no promise but to end.
		`{"a`: "", `]}`: "", `{"a":"\`: "", `{,,"a"`: "", ``: "",
	} {
		err := exactjson.Check([]byte(text))
		got := ""
		var at *exactjson.Error
		if errors.As(err, &at) {
			got = fmt.Sprint(at.Offset, " ", at)
		}
		if got != want {
			t.Errorf("%.60q: got %q, want %q", text, got, want)
		}
	}
}

func TestPlace(t *testing.T) {
	text := []byte("{\n \"a\": 1,\n \"a\": 2}")
	var at *exactjson.Error
	if !errors.As(exactjson.Check(text), &at) {
		t.Fatal("nothing was found")
	}
	if line, column := exactjson.Place(text, at.Offset); line != 3 || column != 2 {
		t.Errorf("%d:%d", line, column)
	}
}

// value draws JSON; repeated reports that some object has a key twice.
func value(t *rapid.T, depth int, repeated *bool) string {
	if depth == 0 || rapid.Bool().Draw(t, "leaf") {
		return rapid.SampledFrom([]string{"1", "true", "null", `""`, `"a"`, `"\"{"`, `"\\"`, `"}],:"`, "-1.5e3"}).Draw(t, "value")
	}
	parts := make([]string, rapid.IntRange(0, 30).Draw(t, "size")/depth)
	if rapid.Bool().Draw(t, "array") {
		for i := range parts {
			parts[i] = value(t, depth-1, repeated)
		}
		return "[" + strings.Join(parts, " , ") + "]"
	}
	seen := map[string]bool{}
	for i := range parts {
		key := rapid.StringMatching(`[a-cA-C"\\:,{}é]{1,3}`).Draw(t, "key")
		if folded := strings.ToLower(key); seen[folded] {
			*repeated = true
		} else {
			seen[folded] = true
		}
		name, _ := json.Marshal(key)
		parts[i] = string(name) + " : " + value(t, depth-1, repeated)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// A key that stands twice, at whatever depth, is found, and nothing else is.
func TestCheckFindsEachRepeatedKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		repeated := false
		text := []byte(value(t, 3, &repeated))
		if !json.Valid(text) {
			t.Fatalf("the test draws what is not JSON: %s", text)
		}
		if err := exactjson.Check(text); (err != nil) != repeated {
			t.Fatalf("%s: %v, want repeated %v", text, err, repeated)
		}
	})
}

// The members of a text are those that encoding/json reads, each with its value as it stands.
func TestMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		repeated := false
		text := []byte(value(t, 3, &repeated))
		var want map[string]json.RawMessage
		err := json.Unmarshal(text, &want)
		got := map[string]json.RawMessage{}
		if exactjson.Members(text, func(name, value []byte) { got[string(name)] = value }) != nil {
			return
		}
		if err != nil && len(got) > 0 || err == nil && len(got)+len(want) > 0 && !maps.EqualFunc(got, want, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			t.Fatalf("%s has %s, want %s (%v)", text, got, want, err)
		}
	})
}

// Whatever passes survives a round trip of encoding/json with the same text.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":[{"c":"é"}]}`, `{"a":1,"A":2}`, `{"a":"\ud800"}`, `{"\u0061":"\\\""}`, "\"\xff\""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := exactjson.Check(data)
		var v any
		if err != nil || json.Unmarshal(data, &v) != nil {
			return
		}
		out, err := json.Marshal(v)
		if err != nil || !utf8.Valid(data) || bytes.Count(out, []byte("\uFFFD")) > bytes.Count(data, []byte("\uFFFD"))+bytes.Count(bytes.ToLower(data), []byte(`\ufffd`)) {
			t.Errorf("%q passes, but becomes %q", data, out)
		}
	})
}

// BenchmarkCheck checks an entry point with ten overrides, beside what encoding/json takes
// to validate it.
func BenchmarkCheck(b *testing.B) {
	rules := make([]map[string]any, 10)
	for i := range rules {
		rules[i] = map[string]any{"id": fmt.Sprintf("%032x", i), "enabled": false}
	}
	data, err := json.Marshal(map[string]any{"success": true, "result": map[string]any{"id": "e", "name": "default", "rules": rules}, "errors": []any{}, "messages": []any{}})
	must.Do(b, err)
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			must.Do(b, exactjson.Check(data))
		}
	})
	b.Run("valid", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if !json.Valid(data) {
				b.Fatal("not valid")
			}
		}
	})
}
