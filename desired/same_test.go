package desired

import (
	"reflect"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
)

// filled is a zone in which nothing is empty. Two calls share nothing.
func filled(t *testing.T) Zone {
	t.Helper()
	var z Zone
	fill(reflect.ValueOf(&z).Elem())
	return z
}

// fill sets everything to something: pointers, and one element of each list.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		if fill(value); value.Kind() == reflect.String {
			value.SetString("value")
		}
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.String:
		v.SetString("text")
	case reflect.Int:
		v.SetInt(7)
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic("fill cannot set a " + v.Type().String())
	}
}

// eachChange calls with every single change there can be to a filled value: done
// to it, and undone after the call.
func eachChange(path string, v reflect.Value, call func(path string, counts bool)) {
	try := func(what string, changed reflect.Value) {
		before := reflect.New(v.Type()).Elem()
		before.Set(v)
		v.Set(changed)
		call(path+what, true)
		v.Set(before)
	}
	switch v.Kind() {
	case reflect.Pointer:
		try(" none", reflect.Zero(v.Type()))
		eachChange(path, v.Elem(), call)
	case reflect.Slice:
		try(" none", reflect.Zero(v.Type()))
		try(" twice", reflect.AppendSlice(reflect.AppendSlice(reflect.Zero(v.Type()), v), v))
		eachChange(path+"[0]", v.Index(0), call)
	case reflect.Map:
		if v.Type().Elem() == reflect.TypeFor[Origin]() {
			before := v.Interface()
			v.SetZero()
			call(path, false)
			v.Set(reflect.ValueOf(before))
			return
		}
		try(" none", reflect.Zero(v.Type()))
		other := reflect.MakeMap(v.Type())
		other.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), reflect.ValueOf("other").Convert(v.Type().Elem()))
		try(" other", other)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Origin]() {
			before := v.Interface()
			v.Set(reflect.ValueOf(Origin{"another commit", "another.cue", 1, 2}))
			call(path, false)
			v.Set(reflect.ValueOf(before))
			return
		}
		for i := range v.NumField() {
			eachChange(path+"."+v.Type().Field(i).Name, v.Field(i), call)
		}
	case reflect.String:
		try("", reflect.ValueOf("other").Convert(v.Type()))
	case reflect.Int:
		try("", reflect.ValueOf(8).Convert(v.Type()))
	case reflect.Bool:
		try("", reflect.ValueOf(false).Convert(v.Type()))
	}
}

// Every member of a zone counts, the ones of next year too, but for its places and by what it is found.
func TestSameAsMindsEveryMember(t *testing.T) {
	a, b := filled(t), filled(t)
	if !a.SameAs(b) {
		t.Fatal("a zone is not the same as itself")
	}
	changes := 0
	eachChange("zone", reflect.ValueOf(&b).Elem(), func(path string, counts bool) {
		changes++
		counts = counts && path != "zone.Name" && path != "zone.ByName" && // only ways to an id
			!strings.Contains(path, ".All.Score") // a ruleset as a whole has none
		if a.SameAs(b) == counts || b.SameAs(a) == counts {
			t.Errorf("%s: counts %v, want %v", path, !counts, counts)
		}
	})
	if changes < 30 || !a.SameAs(b) {
		t.Errorf("after %d changes", changes)
	}
	empty, none := filled(t), filled(t)
	empty.Labels, empty.Deployments[0].Disable.Tags = map[string]string{}, []Declared[string]{}
	none.Labels, none.Deployments[0].Disable.Tags = nil, nil
	if !empty.SameAs(none) {
		t.Error("an empty list is not the same as none")
	}
}

// Fingerprints are on disk, so none may change: this is one with every member of a deployment.
func TestFingerprintStays(t *testing.T) {
	z := filled(t)
	z.Scope, z.Others, z.Unmanaged = edge.ZoneScope("text"), nil, nil
	z.Deployments[0].Bypass, z.Deployments[0].Accepted = nil, nil // later members come after these
	if got, want := z.Fingerprint(Account{ID: "x"}), "f60d0f3d2b8b1a1b9b7c8abe298b9e2d"; got != want {
		t.Errorf("the fingerprint is %s, and was %s", got, want)
	}
}
