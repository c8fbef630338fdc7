package render

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
)

// tierOf are changes of n zones by one line of a tier, each zone on a line of its own.
func tierOf(n int) []diff.Change {
	changes := difftest.ChangesTo(n, 0)
	for i := range changes {
		changes[i].Origin, changes[i].ZoneOrigin = desired.Origin{File: "tiers.cue", Line: 3, Column: 2}, desired.Origin{File: "zones.cue", Line: i + 1, Column: 1}
		changes[i].Fields[0].Origin = &desired.Origin{File: "tiers.cue", Line: 4, Column: 3}
	}
	return changes
}

func textOf(t *testing.T, p diff.Plan) string {
	t.Helper()
	return render(t, func(b *bytes.Buffer) error { return Text(b, p, false) })
}

// The same change in many zones is shown once, with each zone and its own line.
func TestTheSameChangeInManyZonesIsOneBlock(t *testing.T) {
	const want = `~ prod / 40 zones / core  strengthens  tiers.cue:3:2
    enabled  false → true  strengthens  tiers.cue:4:3
    * z1 (00000000000000000000000000000001)   zones.cue:1:1
`
	text := textOf(t, difftest.PlanOf(tierOf(40)...))
	if !strings.HasPrefix(text, want) || !strings.Contains(text, "\n    * z40 (00000000000000000000000000000040)  zones.cue:40:1\n\n") || strings.Count(text, "\n") > 46 {
		t.Errorf("the plan is\n%s\nand not\n%s", text, want)
	}
	if one := textOf(t, difftest.PlanOf(tierOf(1)...)); !strings.HasPrefix(one, "~ prod / z1 (00000000000000000000000000000001) / core  strengthens  tiers.cue:3:2, zone at zones.cue:1:1\n") {
		t.Errorf("a zone alone is shown as\n%s", one)
	}
}

// What differs in anything but the zone and its place is a block of its own.
func TestABlockHasOneMeaning(t *testing.T) {
	for name, change := range map[string]func(*diff.Change){
		"account":    func(c *diff.Change) { c.Account = "other" },
		"deployment": func(c *diff.Change) { c.Deployment = "other" },
		"action":     func(c *diff.Change) { c.Operation = diff.RuleOperation{Do: diff.ActionDeploy} },
		"direction":  func(c *diff.Change) { c.Direction = diff.Weakens },
		"path":       func(c *diff.Change) { c.Fields[0].Path = "expression" },
		"old value":  func(c *diff.Change) { c.Fields[0].Old = nil },
		"new value":  func(c *diff.Change) { c.Fields[0].New = "true" },
		"weakening":  func(c *diff.Change) { c.Fields[0].Direction = diff.Weakens },
		"note":       func(c *diff.Change) { c.Fields[0].Note = "a rule" },
		"fields":     func(c *diff.Change) { c.Fields = append(c.Fields, diff.Field{Path: "expression", New: "true"}) },
		"refused":    func(c *diff.Change) { c.Refused = &diff.Refusal{Guard: diff.GuardLimit, Reason: "too many"} },
		"digest":     func(c *diff.Change) { c.Refused = &diff.Refusal{Digest: "sha256:1"} },
	} {
		changes := tierOf(4)
		if change(&changes[1]); len(blocksIn(changes)) != 2 {
			t.Errorf("%s: a change that differs in it is not alone", name)
		}
		if change(&changes[2]); len(blocksIn(changes)) != 2 {
			t.Errorf("%s: two that are equal in it are not together", name)
		}
	}
	if token := difftest.TokenChange("ci", diff.ActionCreate, diff.Weakens); len(blocksIn([]diff.Change{token, token})) != 2 {
		t.Error("two tokens are one block")
	}
}

func blocksIn(changes []diff.Change) []*block {
	blocks, _ := blocksOf(diff.Plan{Changes: changes})
	return blocks
}

// Places that zones have for themselves stand beside each, once for each line.
func TestPlacesOfABlock(t *testing.T) {
	own := tierOf(2)
	for i := range own {
		at := desired.Origin{File: "zones.cue", Line: i*10 + 3, Column: 5}
		own[i].ZoneOrigin = desired.Origin{File: "zones.cue", Line: i*10 + 1, Column: 1}
		own[i].Origin, own[i].Fields[0].Origin = at, &desired.Origin{File: "zones.cue", Line: at.Line + i, Column: 9}
	}
	mixed := tierOf(3)
	mixed[1].Origin, mixed[1].Fields[0].Origin = own[1].Origin, own[1].Fields[0].Origin
	mixed[1].ZoneOrigin = own[1].ZoneOrigin
	below := tierOf(1)
	below[0].Origin.File, below[0].Origin.Line = "zones.cue", 9
	for name, c := range map[string]struct {
		changes []diff.Change
		want    string
	}{
		"each zone declares it":       {own, "[[zones.cue:3:5] [zones.cue:13:5 zones.cue:14:9]]"},
		"a tier, and one zone itself": {mixed, "[[zones.cue:1:1] [zones.cue:13:5 zones.cue:14:9] [zones.cue:3:1]]"},
		"a tier declares it":          {tierOf(2), "[[zones.cue:1:1] [zones.cue:2:1]]"},
		"the zone itself declares it": {below, "[[]]"},
	} {
		if got := fmt.Sprint(blocksIn(c.changes)[0].places.zones); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A comment that is full says which zones of a block it does not name: only those that it
// names can be approved of one by one.
func TestABlockThatIsTooLongNamesWhatItLacks(t *testing.T) {
	changes := tierOf(2000)
	for i := range changes {
		changes[i].Direction = diff.Weakens
	}
	var b bytes.Buffer
	cut, err := MarkdownReview(&b, difftest.PlanOf(changes...), "approve it")
	if err != nil || len(cut) == 0 || len(cut) == len(changes) || b.Len() > 65_536 {
		t.Fatalf("%d of %d are cut, %d bytes: %v", len(cut), len(changes), b.Len(), err)
	}
	for i, c := range changes {
		if named := strings.Contains(b.String(), "`"+c.Zone+" ("); named == slices.Contains(cut, i) {
			t.Fatalf("%s is named: %v, and cut: %v", c.Zone, named, !named)
		}
	}
}
