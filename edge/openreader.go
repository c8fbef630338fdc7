package edge

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"unique"
)

// openReader reads open objects from valid JSON. What is not usual it hands to encoding/json: a
// text with escapes, null, and any type that it does not know.
type openReader struct {
	data   []byte
	at     int
	shared bool // texts of the member at work are those of other objects, too
}

// object reads the object that begins here.
func (r *openReader) object(v reflect.Value) error {
	o := openTypeOf(v.Type())
	var others map[string]json.RawMessage
	for more := r.open(); more; more = r.next() {
		name, err := r.name()
		if err != nil {
			return err
		}
		if i, known := o.byName[string(name)]; known {
			r.shared = o.members[i].shared
			if err := r.value(v.FieldByIndex(o.members[i].index)); err != nil {
				return within(o.members[i].name, err)
			}
			continue
		}
		if others == nil {
			others = map[string]json.RawMessage{}
		}
		others[string(name)] = bytes.Clone(r.skip())
	}
	v.Field(o.extra).Set(reflect.ValueOf(others))
	return nil
}

// within adds the name of a member to an error about its value.
func within(name string, err error) error {
	if mismatch := (*json.UnmarshalTypeError)(nil); errors.As(err, &mismatch) {
		if mismatch.Field != "" {
			name += "." + mismatch.Field
		}
		mismatch.Field = name
	}
	return err
}

// value reads the value that begins here.
func (r *openReader) value(v reflect.Value) error {
	if r.scalar(v) {
		return nil
	}
	switch c, t := r.data[r.at], v.Type(); {
	case c == '{' && isOpen(t):
		return r.object(v)
	case c == '[' && t.Kind() == reflect.Slice && direct(t.Elem()):
		return r.list(v)
	case c != 'n' && t.Kind() == reflect.Pointer && direct(t.Elem()):
		if v.IsNil() {
			v.Set(reflect.New(t.Elem()))
		}
		return r.value(v.Elem())
	}
	return json.Unmarshal(r.skip(), v.Addr().Interface())
}

// scalar reads a text, a Boolean or a number that begins here; false where that is not read this
// way, and nothing was.
func (r *openReader) scalar(v reflect.Value) bool {
	begin := r.at
	switch c, kind := r.data[r.at], v.Kind(); {
	case c == '"' && kind == reflect.String:
		if word := r.skip(); isPlain(string(word[1 : len(word)-1])) {
			v.SetString(r.text(word[1 : len(word)-1]))
			return true
		}
	case (c == 't' || c == 'f') && kind == reflect.Bool:
		v.SetBool(c == 't')
		r.skip()
		return true
	case kind == reflect.Int:
		if n, err := strconv.Atoi(string(r.skip())); err == nil {
			v.SetInt(int64(n))
			return true
		}
	}
	r.at = begin
	return false
}

// list reads the array that begins here. It takes no more memory than its elements: most of what
// is read stays.
func (r *openReader) list(v reflect.Value) error {
	n, count := 0, *r
	for more := count.open(); more; more = count.next() {
		count.skip()
		n++
	}
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	i := 0
	for more := r.open(); more; more = r.next() {
		if err := r.value(v.Index(i)); err != nil {
			return err
		}
		i++
	}
	return nil
}

// open steps into the object or the array that begins here, to its first part; false where it
// has none, and is read.
func (r *openReader) open() bool {
	r.at++
	r.space()
	return !r.closed()
}

// next steps from the end of one part to the next; false where there is none, and the object
// or the array is read.
func (r *openReader) next() bool {
	r.space()
	if r.closed() {
		return false
	}
	r.at++ // the comma
	r.space()
	return true
}

func (r *openReader) closed() bool {
	if c := r.data[r.at]; c != '}' && c != ']' {
		return false
	}
	r.at++
	return true
}

// name reads the name of a member, up to its value.
func (r *openReader) name() (name []byte, err error) {
	word := r.skip()
	r.space()
	r.at++ // the colon
	r.space()
	if name = word[1 : len(word)-1]; isPlain(string(name)) {
		return name, nil
	}
	var plain string
	err = json.Unmarshal(word, &plain)
	return []byte(plain), err
}

// skip steps over the value that begins here, and returns it.
func (r *openReader) skip() []byte {
	begin := r.at
	switch depth := 0; r.data[r.at] {
	case '"':
		r.word()
	case '{', '[':
		for {
			switch r.data[r.at] {
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			case '"':
				r.word()
				continue
			}
			if r.at++; depth == 0 {
				return r.data[begin:r.at]
			}
		}
	default:
		for r.at < len(r.data) && bytes.IndexByte([]byte(",]} \t\r\n"), r.data[r.at]) < 0 {
			r.at++
		}
	}
	return r.data[begin:r.at]
}

// word steps over a string.
func (r *openReader) word() {
	for r.at++; r.data[r.at] != '"'; r.at++ {
		if r.data[r.at] == '\\' {
			r.at++
		}
	}
	r.at++
}

func (r *openReader) space() {
	for r.at < len(r.data) && (r.data[r.at] == ' ' || r.data[r.at] == '\n' || r.data[r.at] == '\t' || r.data[r.at] == '\r') {
		r.at++
	}
}

// text is a copy of what was read: of a text that other objects have too, the one that there
// is. Most of what is read stays, for each zone of a fleet.
func (r *openReader) text(word []byte) string {
	if r.shared {
		return unique.Make(string(word)).Value()
	}
	return string(word)
}
