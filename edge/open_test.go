package edge

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
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
	if err := json.Unmarshal([]byte(ruleset), &r); err != nil {
		t.Fatal(err)
	}
	if r.Name != "n" || r.Rules[0].Enabled == nil || *r.Rules[0].Enabled {
		t.Errorf("a member of another case was taken for ours: %+v", r)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := json.Unmarshal([]byte(ruleset), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
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
		if err := json.Unmarshal([]byte(in), &r); err != nil {
			t.Fatal(err)
		}
		if out, _ := json.Marshal(r); string(out) != want {
			t.Errorf("%s became %s, want %s", in, out, want)
		}
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
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(first, &twice); err != nil {
			t.Fatalf("what was written cannot be read: %v: %s", err, first)
		}
		second, err := json.Marshal(twice)
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("writing is not stable:\n%s\n%s", first, second)
		}
	})
}
