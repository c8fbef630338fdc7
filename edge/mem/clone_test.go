package mem

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// full sets every field of v, of any depth, to something.
func full(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		full(v.Elem())
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.Set(reflect.ValueOf(json.RawMessage(`"raw"`)))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			full(v.Index(i))
		}
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		full(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), value)
	case reflect.Struct:
		for i := range v.NumField() {
			full(v.Field(i))
		}
	case reflect.String:
		v.SetString("text")
	case reflect.Int:
		v.SetInt(7)
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic("the test does not know how to fill " + v.Type().String())
	}
}

// shared reports a pointer, slice or map that a and b have in common.
func shared(path string, a, b reflect.Value) string {
	switch a.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if a.Pointer() == b.Pointer() {
			return path
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		return shared(path, a.Elem(), b.Elem())
	case reflect.Slice:
		for i := range a.Len() {
			if found := shared(path+"[]", a.Index(i), b.Index(i)); found != "" {
				return found
			}
		}
	case reflect.Map:
		for _, key := range a.MapKeys() {
			if found := shared(path+"{}", a.MapIndex(key), b.MapIndex(key)); found != "" {
				return found
			}
		}
	case reflect.Struct:
		for i := range a.NumField() {
			if found := shared(path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i)); found != "" {
				return found
			}
		}
	}
	return ""
}

// A value of a kind that a noun gains and a clone does not know is found here.
func TestClonesAreWholeAndDeep(t *testing.T) {
	var seed Seed
	full(reflect.ValueOf(&seed).Elem())
	copied := clone(seed)
	if diff := cmp.Diff(seed, copied); diff != "" {
		t.Errorf("not whole:\n%s", diff)
	}
	if path := shared("Seed", reflect.ValueOf(seed), reflect.ValueOf(copied)); path != "" {
		t.Errorf("not deep: %s", path)
	}
}
