package eval

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// lookup is the text or the whole number at a place in JSON; missing where there is none. JSON that
// readers read in several ways is not told: members of one name, what stands behind it, numbers
// with an exponent, and bytes and escapes that are no text.
func lookup(args []Value, want kind) Value {
	if args[0].kind != texts {
		return notTold
	}
	at, err := decodeJSON(args[0].text)
	switch {
	case errors.Is(err, errSeveral):
		return notTold
	case err != nil:
		return Value{}
	}
	for _, key := range args[1:] {
		switch key.kind {
		case texts:
			object, _ := at.(map[string]any)
			at = object[key.text]
		case numbers:
			list, _ := at.([]any)
			if key.number < 0 || key.number >= int64(len(list)) {
				return Value{}
			}
			at = list[key.number]
		default:
			return notTold
		}
	}
	switch at := at.(type) {
	case string:
		if want == texts {
			return Text(at)
		}
	case json.Number:
		n, err := strconv.ParseInt(at.String(), 10, 64)
		fraction := strings.Contains(at.String(), ".") && !strings.ContainsAny(at.String(), "eE")
		switch {
		case want != numbers, fraction:
		case at == "-0", err != nil: // too large, or with an exponent
			return notTold
		default:
			return Number(n)
		}
	}
	return Value{}
}

// errSeveral is what JSON has that is read in several ways.
var errSeveral = errors.New("readers do not agree")

func decodeJSON(text string) (any, error) {
	if !utf8.ValidString(text) {
		return nil, errSeveral
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	value, err := decodeValue(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errSeveral
	}
	return value, nil
}

// mostNested is how deep JSON may nest: less than any reader takes.
const mostNested = 100

func decodeValue(d *json.Decoder) (any, error) { return decodeNested(d, 0) }

func decodeNested(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case string:
		if strings.ContainsRune(token, utf8.RuneError) { // as half of a surrogate pair becomes
			return nil, errSeveral
		}
		return token, nil
	case json.Delim:
		if depth == mostNested {
			return nil, errSeveral
		}
		if token == '[' {
			return decodeList(d, depth+1)
		}
		return decodeObject(d, depth+1)
	}
	return token, nil
}

func decodeList(d *json.Decoder, depth int) (any, error) {
	var list []any
	for d.More() {
		value, err := decodeNested(d, depth)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	_, err := d.Token()
	return list, err
}

func decodeObject(d *json.Decoder, depth int) (any, error) {
	object := map[string]any{}
	for d.More() {
		key, err := decodeNested(d, depth)
		if err != nil {
			return nil, err
		}
		name, is := key.(string)
		if _, twice := object[name]; twice || !is {
			return nil, errSeveral
		}
		if object[name], err = decodeNested(d, depth); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return object, err
}
