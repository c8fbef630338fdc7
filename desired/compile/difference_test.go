package compile

import (
	"reflect"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired"
)

// difference is what cmp says of states that are not equal: asked of equal ones it takes far longer.
func difference(want, got desired.State) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}
