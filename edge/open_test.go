package edge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge/exactjson"
	"github.com/seawall-dev/seawall/integration/must"
)

// Whatever an object holds is there again when it is written, at every level,
// to the letter.
func TestUnknownMembersSurvive(t *testing.T) {
	const ruleset = `{"id":"e1","name":"n","description":"","kind":"zone","version":"4","phase":"p","rules":[` +
		`{"id":"r1","action":"execute","action_parameters":{"id":"m1","version":"latest","overrides":{` +
		`"enabled":false,"categories":[{"category":"sqli","enabled":false,"x":[1,2]}],` +
		`"rules":[{"id":"a","score_threshold":0,"y":null}],"z":{"Deep":true}},"matched_data":{"public_key":"k"}},` +
		`"expression":"true","enabled":false,"logging":{"enabled":true},"Enabled":"not ours"}],"Name":"not ours","x_new":1.50}`
	var r Ruleset
	must.Do(t, json.Unmarshal([]byte(ruleset), &r))
	if r.Name != "n" || r.Rules[0].Enabled == nil || *r.Rules[0].Enabled {
		t.Errorf("a member of another case was taken for ours: %+v", r)
	}
	data, err := json.Marshal(r)
	must.Do(t, err)
	var want, got any
	must.Do(t, json.Unmarshal([]byte(ruleset), &want))
	must.Do(t, json.Unmarshal(data, &got))
	if !reflect.DeepEqual(want, got) {
		t.Errorf("went in  %s\ncame out %s", ruleset, data)
	}
	if !bytes.Contains(data, []byte(`"x_new":1.50`)) {
		t.Errorf("a number lost its spelling: %s", data)
	}
}

// Absent, null and false are told apart where it matters: a member that was not
// said is not written.
func TestAbsentIsNotFalse(t *testing.T) {
	for in, want := range map[string]string{
		`{"id":"a"}`:                            `{"id":"a"}`,
		`{"id":"a","enabled":false}`:            `{"id":"a","enabled":false}`,
		`{"id":"a","score_threshold":0}`:        `{"id":"a","score_threshold":0}`,
		`{"id":"a","enabled":null}`:             `{"id":"a"}`,
		`{"id":"a","sensitivity_level":""}`:     `{"id":"a","sensitivity_level":""}`,
		`{"id":"a","action":"log","future":{}}`: `{"id":"a","action":"log","future":{}}`,
	} {
		var r RuleOverride
		must.Do(t, json.Unmarshal([]byte(in), &r))
		if out, _ := json.Marshal(r); string(out) != want {
			t.Errorf("%s became %s, want %s", in, out, want)
		}
	}
}

// byFields is a pointer to the same value without its methods: encoding/json reads and writes it by
// its fields. What is in it has its own methods still.
func byFields(object any) any {
	v := reflect.ValueOf(object)
	return v.Convert(reflect.PointerTo(reflect.StructOf(reflect.VisibleFields(v.Type().Elem())))).Interface()
}

// longDecode is the long way: by the members one by one.
func longDecode(data []byte, object any) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	v := reflect.ValueOf(object).Elem()
	others := map[string]json.RawMessage{}
	var ours []string
	for name, value := range members {
		if _, known := openTypeOf(v.Type()).byName[name]; known {
			ours = append(ours, fmt.Sprintf("%q:%s", name, value))
		} else {
			others[name] = value
		}
	}
	if len(others) > 0 {
		v.FieldByName("Extra").Set(reflect.ValueOf(others))
	}
	return json.Unmarshal([]byte("{"+strings.Join(ours, ",")+"}"), byFields(object))
}

// longEncode is the long way.
func longEncode(object any) ([]byte, error) {
	data, err := json.Marshal(byFields(object))
	extra, _ := reflect.ValueOf(object).Elem().FieldByName("Extra").Interface().(map[string]json.RawMessage)
	if err != nil || len(extra) == 0 {
		return data, err
	}
	others, err := json.Marshal(extra)
	if data = data[:len(data)-1]; len(data) > 1 {
		data = append(data, ',')
	}
	return append(data, others[1:]...), err
}

var openObjects = []func() any{
	func() any { return new(Ruleset) },
	func() any { return new(Rule) },
	func() any { return new(ActionParameters) },
	func() any { return new(Overrides) },
	func() any { return new(CategoryOverride) },
	func() any { return new(RuleOverride) },
	func() any { return new(Zone) },
	func() any { return new(Account) },
}

// asTheLongWay reads and writes a text as each open object there is.
func asTheLongWay(t must.T, data []byte) {
	t.Helper()
	for _, made := range openObjects {
		got, want := made(), made()
		err, long := json.Unmarshal(data, got), longDecode(data, want)
		if (err == nil) != (long == nil) {
			t.Fatalf("%T of %s: %v, and the long way: %v", got, data, err, long)
		}
		if err != nil {
			continue
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%T of %s is\n%+v, and the long way\n%+v", got, data, got, want)
		}
		text, err := json.Marshal(got)
		must.Do(t, err)
		wanted, err := longEncode(want)
		must.Do(t, err)
		if !bytes.Equal(text, wanted) {
			t.Fatalf("%T is written\n%s, and the long way\n%s", got, text, wanted)
		}
	}
}

// genOpen draws JSON that is mostly an open object, with members that are known, are not, and
// look as if they were.
func genOpen(t *rapid.T, depth int) string {
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n\t"}).Draw(t, "space")
	kind := rapid.SampledFrom([]string{"object", "object", "object", "list", "leaf"}).Draw(t, "kind")
	if depth == 0 || kind == "leaf" {
		return space + rapid.SampledFrom([]string{
			"true", "false", "null", "0", "-1", "1e2", "1.5", "99999999999999999999", `""`, `"zone"`, `"é"`, `"a\"b<\u00e9&>"`, `"\\"`, "[]", "{}", `[1, "]}"]`, `["a","b"]`, `[{"id":"a"}]`,
		}).Draw(t, "leaf") + space
	}
	var parts []string
	seen := map[string]bool{}
	for range rapid.IntRange(0, 5).Draw(t, "members") {
		value := genOpen(t, depth-1)
		if kind == "list" {
			parts = append(parts, value)
			continue
		}
		name := rapid.SampledFrom([]string{
			"id", "name", "version", "phase", "rules", "rules", "action_parameters", "overrides", "categories", "category", "action", "enabled", "score_threshold", "sensitivity_level",
			"description", "account", "Enabled", "NAME", "x", "\u212aind", `a\u0062`, `i\u0064`, `"`,
		}).Draw(t, "name")
		if name == `"` {
			name = `\"}`
		}
		var plain string
		if text := `"` + name + `"`; json.Unmarshal([]byte(text), &plain) == nil && !seen[plain] {
			seen[plain] = true
			parts = append(parts, space+text+space+":"+value)
		}
	}
	if text := strings.Join(parts, ","); kind == "list" {
		return "[" + text + "]"
	} else {
		return "{" + text + "}"
	}
}

// A member of another type is named by its path.
func TestOpenObjectsNameWhatIsWrong(t *testing.T) {
	for data, want := range map[string]string{
		`{"rules":[{"action_parameters":{"overrides":{"enabled":"yes"}}}]}`: "rules.action_parameters.overrides.enabled is a string",
		`{"rules":[{},{"categories":[1]}]}`:                                 "rules.categories is a number",
		`{"rules":{}}`:                                                      "rules is an object",
		`{"id":null,"rules":[[]]}`:                                          "rules is an array",
		` [{}]`:                                                             "it is an array",
		`"a"`:                                                               "it is a string",
		`true`:                                                              "it is a boolean",
		`1`:                                                                 "it is a number",
	} {
		if err := json.Unmarshal([]byte(data), new(Ruleset)); err == nil || exactjson.Reason(err, "it") != want {
			t.Errorf("%s: %v, want %s", data, err, want)
		}
	}
}

// One pass reads and writes what encoding/json does.
func TestOpenObjectsAreReadAsTheLongWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := genOpen(t, 5)
		if !json.Valid([]byte(data)) {
			t.Fatalf("the test draws what is not JSON: %s", data)
		}
		asTheLongWay(t, []byte(data))
	})
}

func FuzzOpenObjectsAreReadAsTheLongWay(f *testing.F) {
	for _, seed := range []string{
		`{"a":{"x":1},"b":["y",{"z":"\\"}]}`, `{"\u0069d":"a"}`, `{}`, `[1]`, `"a"`, `null`, ` { "id" : ":,{" , "rules":[ {"id":"é"} , {"enabled":null}]}`, `{"score_threshold":1e3}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if json.Valid(data) && exactjson.Check(data) == nil { // of a member that stands twice either may count
			asTheLongWay(t, data)
		}
	})
}

func BenchmarkDecodeRuleset(b *testing.B) {
	const ruleset = `{"id":"e1","name":"n","description":"","kind":"zone","version":"4","phase":"p","rules":[` +
		`{"id":"r1","action":"execute","action_parameters":{"id":"m1","version":"latest","overrides":{` +
		`"categories":[{"category":"sqli","enabled":false},{"category":"xss","enabled":false}],` +
		`"rules":[{"id":"a","score_threshold":40,"action":"block"}]}},"expression":"true","enabled":true}]}`
	b.ReportAllocs()
	for b.Loop() {
		var r Ruleset
		must.Do(b, json.Unmarshal([]byte(ruleset), &r))
	}
}

func FuzzOpenObjects(f *testing.F) {
	f.Add([]byte(`{"category":"a","enabled":true,"x":{"y":[1]}}`))
	f.Add([]byte(`{"Category":"a","category":"b","CATEGORY":"c"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var once, twice CategoryOverride
		if json.Unmarshal(data, &once) != nil {
			return // not such an object
		}
		first, err := json.Marshal(once)
		must.Do(t, err)
		if err := json.Unmarshal(first, &twice); err != nil {
			t.Fatalf("what was written cannot be read: %v: %s", err, first)
		}
		second, err := json.Marshal(twice)
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("writing is not stable:\n%s\n%s", first, second)
		}
	})
}
