package compact

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

func decodeInt(d *decoder, v reflect.Value) {
	n, size := binary.Varint(d.data)
	if size <= 0 {
		d.fail()
		return
	}
	d.data = d.data[size:]
	v.SetInt(n)
}

func structCodec(t reflect.Type) *codec {
	fields, least := make([]*codec, t.NumField()), 0
	for i := range fields {
		if !t.Field(i).IsExported() {
			panic(fmt.Sprintf("compact: cannot encode %s: its field %s is not exported", t, t.Field(i).Name))
		}
		fields[i] = codecOf(t.Field(i).Type)
		least += fields[i].least
	}
	return &codec{
		func(e *encoder, v reflect.Value) {
			for i, f := range fields {
				f.encode(e, v.Field(i))
			}
		},
		func(d *decoder, v reflect.Value) {
			for i, f := range fields {
				f.decode(d, v.Field(i))
			}
		},
		least,
	}
}

func pointerCodec(t reflect.Type) *codec {
	to := codecOf(t.Elem())
	return &codec{
		func(e *encoder, v reflect.Value) {
			if e.presence(!v.IsNil()); !v.IsNil() {
				to.encode(e, v.Elem())
			}
		},
		func(d *decoder, v reflect.Value) {
			if d.number() == 1 {
				v.Set(reflect.New(t.Elem()))
				to.decode(d, v.Elem())
			}
		},
		1,
	}
}

func sliceCodec(t reflect.Type) *codec {
	of := codecOf(t.Elem())
	return &codec{
		func(e *encoder, v reflect.Value) {
			if v.IsNil() {
				e.number(0)
				return
			}
			e.number(uint64(v.Len()) + 1)
			for i := range v.Len() {
				of.encode(e, v.Index(i))
			}
		},
		func(d *decoder, v reflect.Value) {
			n, isNil := d.count(of.least)
			if isNil {
				return
			}
			v.Set(reflect.MakeSlice(t, n, n))
			for i := 0; i < n && !d.failed; i++ {
				of.decode(d, v.Index(i))
			}
		},
		1,
	}
}

// bytesCodec shares what is decoded with the data. Without bytes it is nil.
func bytesCodec() *codec {
	return &codec{
		func(e *encoder, v reflect.Value) {
			e.number(uint64(v.Len()))
			e.data = append(e.data, v.Bytes()...)
		},
		func(d *decoder, v reflect.Value) {
			n := d.number()
			if n > uint64(len(d.data)) {
				d.fail()
				return
			}
			if n > 0 {
				v.SetBytes(d.data[:n:n])
				d.data = d.data[n:]
			}
		},
		1,
	}
}

// mapCodec is for maps by texts, in the order of these.
func mapCodec(t reflect.Type) *codec {
	of := codecOf(t.Elem())
	least := 1 + of.least
	return &codec{
		func(e *encoder, v reflect.Value) {
			if v.IsNil() {
				e.number(0)
				return
			}
			keys := v.MapKeys()
			slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
			e.number(uint64(len(keys)) + 1)
			for _, key := range keys {
				e.text(key.String())
				of.encode(e, v.MapIndex(key))
			}
		},
		func(d *decoder, v reflect.Value) {
			n, isNil := d.count(least)
			if isNil {
				return
			}
			v.Set(reflect.MakeMapWithSize(t, n))
			for i := 0; i < n && !d.failed; i++ {
				key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
				key.SetString(d.text())
				of.decode(d, value)
				v.SetMapIndex(key, value)
			}
		},
		1,
	}
}

// anyCodec is for what JSON can be.
func anyCodec() *codec {
	return &codec{
		func(e *encoder, v reflect.Value) {
			data, err := json.Marshal(v.Interface())
			if err != nil {
				panic("compact: " + err.Error())
			}
			e.text(string(data))
		},
		func(d *decoder, v reflect.Value) {
			var value any
			if json.Unmarshal([]byte(d.text()), &value) != nil {
				d.fail()
			} else if value != nil {
				v.Set(reflect.ValueOf(value))
			}
		},
		1,
	}
}
