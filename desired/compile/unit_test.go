package compile_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compact"
	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/integration/must"
)

// A unit crosses a process boundary: what arrives is what was sent, nil and empty told apart.
func TestUnitSurvivesEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var unit compile.Unit
		draw(t, reflect.ValueOf(&unit).Elem())
		var back compile.Unit
		must.Do(t, compact.Decode(compact.Encode(unit), &back))
		if diff := cmp.Diff(unit, back); diff != "" {
			t.Fatalf("unit (-sent +received):\n%s", diff)
		}
	})
}

// Whether units are merged where they were made or after the crossing, the
// state is the same.
func TestMergeAfterCrossing(t *testing.T) {
	fsys := tree(map[string]string{"cue.mod/module.cue": mod, "tokens/all.cue": allForms})
	for name, f := range exported() {
		fsys[name] = f
	}
	dirs, err := compile.Folders(fsys, ".")
	must.Do(t, err)
	var here, there []compile.Unit
	for _, dir := range dirs {
		u := new(compile.Compiler).Folder(fsys, dir)
		var back compile.Unit
		must.Do(t, compact.Decode(compact.Encode(u), &back))
		here, there = append(here, u), append(there, back)
	}
	want, problems := compile.Merge(here, "c1")
	if len(desired.Errors(problems)) > 0 {
		t.Fatal(problems)
	}
	got, _ := compile.Merge(there, "c1")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-here +there):\n%s", diff)
	}
}

// Units may be kept for the next commit: merging gives their origins that commit, but for those
// in zones, and leaves the units alone.
func TestMergeRestamps(t *testing.T) {
	fsys := tree(map[string]string{"z/a.cue": oneZone})
	unit := new(compile.Compiler).Folder(fsys, "z")
	before, _ := json.Marshal(unit)
	state, problems := compile.Merge([]compile.Unit{unit}, "new")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	d := state.Accounts[0].Zones[0].Deployments[0]
	for name, o := range map[string]desired.Origin{"account": state.Accounts[0].Origin, "ruleset": state.Accounts[0].Rulesets[0].Origin} {
		if o.Commit != "new" || o.Line == 0 {
			t.Errorf("origin of %s: got %+v", name, o)
		}
	}
	for name, o := range map[string]desired.Origin{
		"zone": state.Accounts[0].Zones[0].Origin, "deployment": d.Origin, "paranoia": d.Paranoia.Origin,
		"score": d.Threshold.Score.Origin, "action": d.Threshold.Action.Origin,
	} {
		if o.Commit != "" || o.Line == 0 {
			t.Errorf("origin of %s: got %+v", name, o)
		}
	}
	if !d.Enabled.Origin.IsZero() || d.Enabled.Origin.Commit != "" {
		t.Errorf("origin of the default: got %+v, want none", d.Enabled.Origin)
	}
	if after, _ := json.Marshal(unit); string(after) != string(before) {
		t.Error("merging changed the unit")
	}
}

const oneZone = `package zones

account: prod: {
	id: "` + id1 + `"
	ruleset: core: name: "Core Ruleset"
	zone: "shop.example": {
		id: "` + id2 + `"
		waf: core: {
			paranoia: 2
			threshold: {score: 40, action: "block"}
		}
	}
}
`

// draw fills a value of any type with anything: lists that are nil, empty and filled.
func draw(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			draw(t, v.Field(i))
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "there") {
			v.Set(reflect.New(v.Type().Elem()))
			draw(t, v.Elem())
		}
	case reflect.Slice:
		if n := rapid.IntRange(-1, 2).Draw(t, "elements"); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				draw(t, v.Index(i))
			}
		}
	case reflect.Map:
		if n := rapid.IntRange(-1, 2).Draw(t, "elements"); n >= 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				draw(t, key)
				draw(t, value)
				v.SetMapIndex(key, value)
			}
		}
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "truth"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "number"))
	case reflect.Interface:
		v.Set(reflect.ValueOf(rapid.String().Draw(t, "text")))
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "text"))
	default:
		t.Fatalf("a unit has a %s", v.Type())
	}
}
