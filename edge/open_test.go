package edge

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

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

// The quick look at an object's names agrees with reading it.
func FuzzOnlyMembers(f *testing.F) {
	for _, seed := range []string{
		`{"a":{"x":1},"b":["y",{"z":"\\"}]}`, `{"\u0061":1}`, `{}`, `[1]`, `"a"`, ` { "a" : ":,{" , "c":2}`, `{"a":"\"","b":null}`,
	} {
		f.Add([]byte(seed))
	}
	names := map[string]bool{"a": true, "b": true}
	f.Fuzz(func(t *testing.T, data []byte) {
		var members map[string]json.RawMessage
		if json.Unmarshal(data, &members) != nil {
			return // not valid JSON, or not an object
		}
		want := true
		for name := range members {
			want = want && names[name]
		}
		if got := onlyMembers(data, names); got && !want {
			t.Errorf("%s is taken to have only a and b", data)
		}
		if want && !bytes.Contains(data, []byte(`\`)) && !onlyMembers(data, names) {
			t.Errorf("%s is taken to have others than a and b", data)
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
