package desired

import "testing"

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
