package desired

import (
	"testing"

	"github.com/seawall-dev/seawall/edge"
)

func TestZoneNames(t *testing.T) {
	for text, want := range map[string]bool{
		"shop.example": true, "a.b.c.example": true, "Shop.Example.": true, "xn--bcher-kva.example": true, "bücher.example": true, "_x.example": true,
		"": false, "shop": false, ".example": false, "shop..example": false, "shop.example (staging)": false, "-a.example": false, "a-.example": false,
		"shop/eu.example": false, "shop.": false,
	} {
		if got := ZoneName(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if FoldName("Shop.Example.") != "shop.example" {
		t.Error("a name is not folded")
	}
}

func TestStandIns(t *testing.T) {
	if !Sought(SoughtZone("prod", "shop.example")) || !Sought(SoughtAccount("prod")) || SoughtZone("a", "z") == SoughtZone("b", "z") {
		t.Error("a stand-in is taken for an id, or for that of another zone")
	}
}

// What is shown of a scope whose id is not known is still that of a zone, or of an account: who
// looks for zones must not take an account for one.
func TestKnownScopeKeepsTheLevel(t *testing.T) {
	for _, sought := range []edge.Scope{edge.ZoneScope(SoughtZone("prod", "shop")), AccountScope(Account{Key: "prod"})} {
		if known := KnownScope(sought); known.Level != sought.Level || known.Text() != "" {
			t.Errorf("%+v became %+v", sought, known)
		}
	}
	if known := edge.ZoneScope("z1"); KnownScope(known) != known {
		t.Error("a known id is not kept")
	}
}
