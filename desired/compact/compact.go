// Package compact encodes plain data in few bytes and decodes it with little work, for what the
// same build of the program reads again: a kept folder, a worker's answer.
//
//	data := compact.Encode(unit)
//	err := compact.Decode(data, &unit)
//
// Values follow each other in the order of their fields, without names, and a text that came
// before is a number. So the types are the format: data of another build means nothing, and
// must not be decoded. Nil and empty lists are told apart. What is encoded must consist of
// exported fields; anything else panics, when the type is first used.
//
// Decode takes data from anyone: it fails on what is no value of the type, and takes memory in
// proportion to the data.
package compact

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"sync"
)

// Encode returns the bytes of a value.
func Encode[T any](v T) []byte {
	e := encoder{known: map[string]uint64{}}
	codecOf(reflect.TypeFor[T]()).encode(&e, reflect.ValueOf(&v).Elem())
	return e.data
}

// Decode fills a zero value from its bytes.
func Decode[T any](data []byte, v *T) error {
	d := decoder{data: data}
	codecOf(reflect.TypeFor[T]()).decode(&d, reflect.ValueOf(v).Elem())
	if !d.failed && len(d.data) > 0 {
		d.failed = true
	}
	if d.failed {
		return fmt.Errorf("decoding a %s: %w", reflect.TypeFor[T](), ErrDamaged)
	}
	return nil
}

// ErrDamaged says that data is no value of the type.
var ErrDamaged = errors.New("the data is damaged")

type encoder struct {
	data  []byte
	known map[string]uint64 // texts, by their numbers
}

// presence writes whether something is so.
func (e *encoder) presence(is bool) {
	n := byte(0)
	if is {
		n = 1
	}
	e.data = append(e.data, n)
}

func (e *encoder) number(n uint64) { e.data = binary.AppendUvarint(e.data, n) }

// text writes the number of a text, or 0 and a text that is new.
func (e *encoder) text(s string) {
	n, known := e.known[s]
	if e.number(n); known {
		return
	}
	e.known[s] = uint64(len(e.known)) + 1
	e.number(uint64(len(s)))
	e.data = append(e.data, s...)
}

// decoder reads data. After a failure it reads zeros.
type decoder struct {
	data   []byte
	texts  []string
	failed bool
}

func (d *decoder) fail() uint64 {
	d.failed, d.data = true, nil
	return 0
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.data)
	if size <= 0 {
		return d.fail()
	}
	d.data = d.data[size:]
	return n
}

// count reads how many elements follow, each of so many bytes at least, plus one; 0 is nil.
func (d *decoder) count(least int) (n int, isNil bool) {
	more := d.number()
	if more == 0 {
		return 0, true
	}
	if more-1 > uint64(len(d.data)/max(least, 1)) {
		d.fail()
		return 0, true
	}
	return int(more - 1), false
}

func (d *decoder) text() string {
	switch n := d.number(); {
	case n > uint64(len(d.texts)):
		d.fail()
	case n > 0:
		return d.texts[n-1]
	default:
		size := d.number()
		if d.failed || size > uint64(len(d.data)) {
			d.fail()
			return ""
		}
		s := string(d.data[:size])
		d.data, d.texts = d.data[size:], append(d.texts, s)
		return s
	}
	return ""
}

// codec encodes and decodes values of one type.
type codec struct {
	encode func(*encoder, reflect.Value)
	decode func(*decoder, reflect.Value)
	least  int // bytes that a value takes
}

var codecs sync.Map // of *codec by reflect.Type

func codecOf(t reflect.Type) *codec {
	if known, ok := codecs.Load(t); ok {
		return known.(*codec)
	}
	c := newCodec(t)
	codecs.Store(t, c)
	return c
}

func newCodec(t reflect.Type) *codec {
	switch t.Kind() {
	case reflect.Bool:
		return &codec{
			func(e *encoder, v reflect.Value) { e.presence(v.Bool()) },
			func(d *decoder, v reflect.Value) { v.SetBool(d.number() == 1) },
			1,
		}
	case reflect.Int, reflect.Int64:
		return &codec{
			func(e *encoder, v reflect.Value) { e.data = binary.AppendVarint(e.data, v.Int()) },
			decodeInt,
			1,
		}
	case reflect.String:
		return &codec{
			func(e *encoder, v reflect.Value) { e.text(v.String()) },
			func(d *decoder, v reflect.Value) { v.SetString(d.text()) },
			1,
		}
	case reflect.Struct:
		return structCodec(t)
	case reflect.Pointer:
		return pointerCodec(t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return bytesCodec()
		}
		return sliceCodec(t)
	case reflect.Map:
		return mapCodec(t)
	case reflect.Interface:
		return anyCodec()
	default:
	}
	panic(fmt.Sprintf("compact: cannot encode a %s", t))
}
