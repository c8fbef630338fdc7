package exactjson

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Reason says in words why encoding/json could not decode a text: which member has another
// type than expected, by its path, and never by a type of a program. whole names the text.
func Reason(err error, whole string) string {
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	kind, _, _ := strings.Cut(mismatch.Value, " ") // of a number that is too large, the number follows
	switch kind {
	case "array", "object":
		kind = "an " + kind
	case "bool":
		kind = "a boolean"
	default:
		kind = "a " + kind
	}
	return fmt.Sprintf("%s is %s", cmp.Or(mismatch.Field, whole), kind)
}
