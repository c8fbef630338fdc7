package edge

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// An open object is a JSON object of which we know some members and keep the
// rest: the platform grows fields faster than any client, and an update that
// drops one it did not know has changed something no one asked for.
//
// A type of open objects is a struct with a field Extra. It is read and written
// as encoding/json would without this field, but in one pass with all that are in
// it: by itself encoding/json reads what is in an object once more for each type with
// methods of its own that the object is in.

// openType is how the members of a struct are read and written.
type openType struct {
	members []openMember // in the order in which they are written
	byName  map[string]int
	extra   int // the field Extra; -1 for none
}

type openMember struct {
	name      string
	key       string // as it is written: `"name":`
	index     []int
	omitEmpty bool
	omitZero  bool
}

var openTypes sync.Map // reflect.Type → *openType

// openTypeOf is that of a struct type.
func openTypeOf(t reflect.Type) *openType {
	if known, ok := openTypes.Load(t); ok {
		return known.(*openType) //nolint:forcetypeassert // nothing else is stored
	}
	o := &openType{byName: map[string]int{}, extra: -1}
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Name == "Extra" && name == "-":
			o.extra = field.Index[0]
		case name != "" && name != "-":
			o.byName[name] = len(o.members)
			o.members = append(o.members, openMember{
				name: name, key: `"` + name + `":`, index: field.Index,
				omitEmpty: options == "omitempty", omitZero: options == "omitzero",
			})
		}
	}
	openTypes.Store(t, o)
	return o
}

// isOpen reports whether a type is one of open objects.
func isOpen(t reflect.Type) bool { return t.Kind() == reflect.Struct && openTypeOf(t).extra >= 0 }

// encodeOpen encodes an open object and appends its unknown members in order of their
// names, so that equal values have equal encodings.
func encodeOpen(object any) ([]byte, error) {
	return appendObject(make([]byte, 0, 256), reflect.ValueOf(object))
}

func appendObject(to []byte, v reflect.Value) (_ []byte, err error) {
	o := openTypeOf(v.Type())
	to = append(to, '{')
	begin := len(to)
	for i := range o.members {
		m := &o.members[i]
		field := v.FieldByIndex(m.index)
		if m.omitEmpty && isEmpty(field) || m.omitZero && field.IsZero() {
			continue
		}
		if len(to) > begin {
			to = append(to, ',')
		}
		if to, err = appendValue(append(to, m.key...), field); err != nil {
			return nil, err
		}
	}
	extra, _ := v.Field(o.extra).Interface().(map[string]json.RawMessage)
	if len(extra) == 0 {
		return append(to, '}'), nil
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if len(to) > begin {
			to = append(to, ',')
		}
		if to, err = appendOther(to, name); err != nil {
			return nil, err
		}
		to = append(append(to, ':'), extra[name]...)
	}
	return append(to, '}'), nil
}

// isEmpty reports whether encoding/json takes a value for empty. Of the structs none is.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}

func appendValue(to []byte, v reflect.Value) (_ []byte, err error) {
	switch {
	case v.Kind() == reflect.String && isPlain(v.String()):
		return append(append(append(to, '"'), v.String()...), '"'), nil
	case v.Kind() == reflect.Bool:
		return strconv.AppendBool(to, v.Bool()), nil
	case v.Kind() == reflect.Int:
		return strconv.AppendInt(to, v.Int(), 10), nil
	case v.Kind() == reflect.Pointer && !v.IsNil() && direct(v.Type().Elem()):
		return appendValue(to, v.Elem())
	case isOpen(v.Type()):
		return appendObject(to, v)
	case v.Kind() == reflect.Slice && !v.IsNil() && isOpen(v.Type().Elem()):
		to = append(to, '[')
		for i := range v.Len() {
			if i > 0 {
				to = append(to, ',')
			}
			if to, err = appendObject(to, v.Index(i)); err != nil {
				return nil, err
			}
		}
		return append(to, ']'), nil
	default:
		return appendOther(to, v.Interface())
	}
}

func appendOther(to []byte, value any) ([]byte, error) {
	data, err := json.Marshal(value)
	return append(to, data...), err
}

// direct reports whether values of a type are read and written here.
func direct(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int:
		return true
	default:
		return isOpen(t)
	}
}

// isPlain reports whether a text stands in JSON as it is, in whatever way it is written.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

var null = []byte("null")

// decodeOpen decodes data into a pointer to an open object, and puts every member that it has
// no field for into Extra, which is nil where there is none. Member names are
// matched to the letter. Data is valid JSON, as it is whenever encoding/json
// calls UnmarshalJSON.
func decodeOpen(data []byte, object any) error {
	v := reflect.ValueOf(object).Elem()
	r := openReader{data: data}
	if r.space(); r.data[r.at] == '{' {
		return r.object(v)
	}
	v.Field(openTypeOf(v.Type()).extra).SetZero()
	if bytes.Equal(bytes.TrimSpace(data), null) {
		return nil
	}
	return &json.UnmarshalTypeError{Value: kindOf(r.data[r.at]), Type: v.Type()}
}

// kindOf is what encoding/json calls the value that begins with a character.
func kindOf(begin byte) string {
	switch begin {
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "bool"
	default:
		return "number"
	}
}
