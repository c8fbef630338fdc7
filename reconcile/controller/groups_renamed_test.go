package controller

import (
	"maps"
	"testing"

	"github.com/seawall-dev/seawall/edge"
)

// Two zones that swap their ids are both still to be read.
func TestRenamedGroupOfASwap(t *testing.T) {
	a, b, c := edge.ZoneScope("a"), edge.ZoneScope("b"), edge.ZoneScope("c")
	for range 20 { // in whatever order
		g := newGroup("c1", []edge.Scope{a, b}, false).renamed(map[edge.Scope]edge.Scope{a: b, b: a}, nil)
		if want := map[edge.Scope]bool{a: true, b: true}; !maps.Equal(g.left, want) {
			t.Fatalf("left are %v, want %v", g.left, want)
		}
		g = newGroup("c1", []edge.Scope{a, b}, false).renamed(map[edge.Scope]edge.Scope{a: b, b: c}, nil)
		if want := map[edge.Scope]bool{b: true, c: true}; !maps.Equal(g.left, want) {
			t.Fatalf("left are %v, want %v", g.left, want)
		}
	}
}
