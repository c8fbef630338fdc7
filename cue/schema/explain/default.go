package explain

import (
	"fmt"
	"strconv"
	"strings"

	"cuelang.org/go/cue"

	"github.com/seawall-dev/seawall/edge/nearest"
)

// noValue says that a value, whose part of the schema is a leaf, is not concrete, and what to
// try. Often a default was declared that does not fit: CUE drops it, as in *9 | int where 1
// to 4 are allowed, and what is left looks as if there had been none.
func noValue(v, schema cue.Value) (message, hint string) {
	allowed := v.Unify(schema)
	dropped, ok := droppedDefault(allowed)
	if !ok {
		return "has no value yet, only " + short(fmt.Sprint(v)), "give it a concrete value"
	}
	if text, err := dropped.String(); err == nil {
		hint = nearest.Hint(text, texts(allowed), "")
	}
	return "the default " + shown(dropped) + " is not allowed here, only " + short(fmt.Sprint(allowed)), hint
}

// droppedDefault returns the default of a part of v that v as a whole does not allow; false
// where there is none.
func droppedDefault(v cue.Value) (cue.Value, bool) {
	op, parts := v.Expr()
	if op != cue.AndOp {
		return cue.Value{}, false
	}
	for _, part := range parts {
		if d, ok := part.Default(); ok && d.IsConcrete() && d.Unify(v).Err() != nil {
			return d, true
		}
		if d, ok := droppedDefault(part); ok {
			return d, true
		}
	}
	return cue.Value{}, false
}

// texts are the texts among the alternatives of v.
func texts(v cue.Value) (found []string) {
	for alternative := range strings.SplitSeq(fmt.Sprint(v), " | ") {
		if text, err := strconv.Unquote(alternative); err == nil {
			found = append(found, text)
		}
	}
	return found
}
