package cuefile_test

import (
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired/cuefile"
)

const parts = `package edge

_gold: core: {
	if true {paranoia: *1 | int}
}
#Silver: threshold: score: 2
let own = {a: 3}
account: prod: {
	id: 4
	zone: [string]: {
		labels: {}
		waf: core: score: 5
		if labels.tier == "gold" {
			waf: core: unmanaged: 6
		}
	}
	zone: "shop.example": {
		waf: _gold & {core: paranoia: 7}
	}
	zone: "blog.example": waf: core: paranoia: 8
}
for k, v in own {
	token: (k): value: 9
}
token: ci: {
	name: 10
}
`

func TestPartAt(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]cuefile.Part{
		"1 |": {Shared: "_gold", First: 3, Last: 5},
		"2\n": {Shared: "#Silver", First: 6, Last: 6},
		"3}":  {Shared: "let own", First: 7, Last: 7},
		"4\n": {First: 9, Last: 9},
		"5\n": {Shared: "zone: [string]", First: 10, Last: 16},
		"6\n": {Shared: `zone: [string] if labels.tier == "gold"`, First: 13, Last: 15},
		"7}":  {First: 17, Last: 19},
		"8\n": {First: 20, Last: 20},
		"9\n": {Shared: "for k, v in own", First: 22, Last: 24},
		"10":  {First: 25, Last: 27},
	} {
		at := strings.Index(parts, value)
		line := strings.Count(parts[:at], "\n") + 1
		column := at - strings.LastIndex(parts[:at], "\n")
		if got, ok := cuefile.PartAt([]byte(parts), line, column); !ok || got != want {
			t.Errorf("%q at %d:%d: %+v, %v, want %+v", value, line, column, got, ok, want)
		}
	}
	for _, at := range [][2]int{{0, 0}, {99, 1}, {2, 1}, {1, 200}} {
		if got, ok := cuefile.PartAt([]byte(parts), at[0], at[1]); ok {
			t.Errorf("%v: %+v", at, got)
		}
	}
	if _, ok := cuefile.PartAt([]byte("a: {"), 1, 4); ok {
		t.Error("a part of what is no CUE")
	}
}
