package edge

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// An open object is a JSON object of which we know some members and keep the
// rest: the platform grows fields faster than any client, and an update that
// drops one it did not know has changed something no one asked for.

// decodeOpen decodes data into known and puts every member known has no field
// for into extra, which it leaves nil when there is none. Member names are
// matched to the letter. Data is valid JSON, as it is whenever encoding/json
// calls UnmarshalJSON.
func decodeOpen(data []byte, known any, extra *map[string]json.RawMessage) error {
	*extra = nil
	names := memberNames(reflect.TypeOf(known).Elem())
	if onlyMembers(data, names) {
		return json.Unmarshal(data, known)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	others := map[string]json.RawMessage{}
	for name, value := range members {
		if !names[name] {
			others[name] = value
		}
	}
	if len(others) > 0 {
		*extra = others
		if lookAlike(names, others) {
			// encoding/json would take "Name" for "name": hand it only what is ours.
			maps.DeleteFunc(members, func(name string, _ json.RawMessage) bool { return !names[name] })
			var err error
			if data, err = json.Marshal(members); err != nil {
				return err
			}
		}
	}
	return json.Unmarshal(data, known)
}

// onlyMembers reports whether valid JSON is an object whose members all have one
// of the names. It looks at the object's own names only and allocates nothing,
// because nearly every object passes here. A name with an escape counts as
// another, and is then read with care.
func onlyMembers(data []byte, names map[string]bool) bool {
	depth, isName := 0, false
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			if depth++; depth == 1 {
				if data[i] == '[' {
					return false
				}
				isName = true
			}
		case '}', ']':
			depth--
		case ',':
			isName = depth == 1
		case ':':
			isName = false
		case '"':
			end := endOfString(data, i)
			if isName && depth == 1 && !names[string(data[i+1:end])] {
				return false
			}
			i = end
		}
	}
	return true
}

// endOfString returns the place of the quote that ends the string begun at i, or
// the last place of data.
func endOfString(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(data) - 1
}

// lookAlike reports whether one of the other members differs from a known one
// in case only.
func lookAlike(names map[string]bool, others map[string]json.RawMessage) bool {
	for name := range others {
		if names[strings.ToLower(name)] {
			return true
		}
	}
	return false
}

// encodeOpen encodes known and appends the members of extra in order of their
// names, so that equal values have equal encodings.
func encodeOpen(known any, extra map[string]json.RawMessage) ([]byte, error) {
	data, err := json.Marshal(known)
	if err != nil || len(extra) == 0 {
		return data, err
	}
	var out bytes.Buffer
	out.Write(data[:len(data)-1])
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		out.Write(key)
		out.WriteByte(':')
		out.Write(extra[name])
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

var memberNamesByType sync.Map // reflect.Type → map[string]bool

// memberNames returns the JSON member names of a struct type.
func memberNames(t reflect.Type) map[string]bool {
	if names, ok := memberNamesByType.Load(t); ok {
		return names.(map[string]bool)
	}
	names := map[string]bool{}
	for _, field := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
			names[name] = true
		}
	}
	memberNamesByType.Store(t, names)
	return names
}
