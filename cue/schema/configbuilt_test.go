package schema_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/seawall-dev/seawall/cue/schema"
)

// What a file comes to does not depend on what was read before it.
func TestConfigIsReadAlone(t *testing.T) {
	before := loaded(t, least)
	for n := 100; n < 160; n++ { // more than one context reads
		if got := loaded(t, least+fmt.Sprintf("budget: requests: _n\n_n: %d\n", n)); got.Budget.Requests != n {
			t.Errorf("file %d has %d requests", n, got.Budget.Requests)
		}
		if n%20 != 0 {
			continue
		}
		if _, problems := schema.LoadConfig("c.cue", []byte(least+"budget: requests: \"many\"\n")); len(problems) != 1 {
			t.Errorf("a mistake after %d: %v", n, problems)
		}
	}
	if after := loaded(t, least); !reflect.DeepEqual(before, after) {
		t.Errorf("before others it is %+v, and after them %+v", before, after)
	}
}
