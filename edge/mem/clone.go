package mem

import (
	"maps"
	"reflect"
	"slices"
)

// clone is a copy of plain data that shares nothing with it but text. Nil stays nil, and empty
// stays empty. It is no round trip through JSON: a fleet of ten thousand zones is copied on
// every look at its state.
func clone[T any](value T) T {
	unshare(reflect.ValueOf(&value).Elem())
	return value
}

// unshare gives a value pointers, lists and maps of its own.
func unshare(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			unshare(v.Field(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			own := reflect.New(v.Type().Elem())
			own.Elem().Set(v.Elem())
			unshare(own.Elem())
			v.Set(own)
		}
	case reflect.Slice:
		if !v.IsNil() {
			own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(own, v)
			for i := 0; i < v.Len() && v.Type().Elem().Kind() != reflect.Uint8; i++ {
				unshare(own.Index(i))
			}
			v.Set(own)
		}
	case reflect.Map:
		if !v.IsNil() {
			own := reflect.MakeMapWithSize(v.Type(), v.Len())
			for key, value := range v.Seq2() {
				element := reflect.New(v.Type().Elem()).Elem()
				element.Set(value)
				unshare(element)
				own.SetMapIndex(key, element)
			}
			v.Set(own)
		}
	default: // a number, a text: copied already
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
