package desired

import (
	"reflect"
	"sync"
)

// Alike reports whether two declarations differ in no value. Where a value was declared does
// not count.
func Alike[T any](a, b T) bool { return reflect.DeepEqual(Bare(a), Bare(b)) }

// Bare is a declaration without where its values were declared.
func Bare[T any](v T) T { return MapOrigins(v, func(Origin) Origin { return Origin{} }) }

// mapping is what becomes of an origin.
type mapping func(Origin) Origin

// MapOrigins returns a value with every origin that is anywhere in it mapped. The value itself
// stays as it is: what is behind its pointers, lists and maps is copied.
func MapOrigins[T any](v T, f func(Origin) Origin) T {
	mapping(f).each(reflect.ValueOf(&v).Elem())
	return v
}

var originType = reflect.TypeFor[Origin]()

// each maps the origins in a value whose type has some.
func (f mapping) each(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == originType {
			origin := v.Addr().Interface().(*Origin)
			*origin = f(*origin)
			return
		}
		for _, i := range originFields(v.Type()) {
			f.each(v.Field(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			fresh := reflect.New(v.Type().Elem())
			fresh.Elem().Set(v.Elem())
			f.each(fresh.Elem())
			v.Set(fresh)
		}
	case reflect.Slice:
		if !v.IsNil() {
			fresh := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(fresh, v)
			for i := range fresh.Len() {
				f.each(fresh.Index(i))
			}
			v.Set(fresh)
		}
	case reflect.Map:
		places := v.Addr().Interface().(*map[string]Origin)
		*places = moved(*places, f)
	}
}

// moved are the places that are somewhere still; nil for none.
func moved(places map[string]Origin, f mapping) map[string]Origin {
	var out map[string]Origin
	for path, at := range places {
		if at = f(at); !at.IsZero() {
			if out == nil {
				out = make(map[string]Origin, len(places))
			}
			out[path] = at
		}
	}
	return out
}

var fieldsWithOrigins sync.Map // of []int by reflect.Type

// originFields are the fields of a struct that have origins in them.
func originFields(of reflect.Type) []int {
	if known, ok := fieldsWithOrigins.Load(of); ok {
		return known.([]int)
	}
	var fields []int
	for i := range of.NumField() {
		if hasOrigins(of.Field(i).Type) {
			fields = append(fields, i)
		}
	}
	fieldsWithOrigins.Store(of, fields)
	return fields
}

func hasOrigins(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return hasOrigins(t.Elem())
	case reflect.Struct:
		return t == originType || len(originFields(t)) > 0
	}
	return false
}
