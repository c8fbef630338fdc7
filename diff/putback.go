package diff

import (
	"fmt"

	"github.com/seawall-dev/seawall/diff/internal/words"
)

// PutBack are zones that one revert has put back, or has kept a commit from.
type PutBack struct {
	Zones []string // their keys
	Said  string   // of each of them, as [Hold.String]
}

// mostNamed is how many zones a line names.
const mostNamed = 3

// String is one line, however many zones there are.
func (p PutBack) String() string {
	are := map[bool]string{true: "is", false: "are"}[len(p.Zones) == 1]
	names := words.First(p.Zones[:min(len(p.Zones), mostNamed)], len(p.Zones))
	return fmt.Sprintf("%s %s %s: %s", words.Count(len(p.Zones), "zone", "zones"), are, p.Said, names)
}

// PutBacks are the holds that reverts have set, those of one revert together, and all others.
func PutBacks(holds []Hold) (reverts []PutBack, others []Hold) {
	at := map[string]int{}
	for _, h := range holds {
		if !h.Reverted() {
			others = append(others, h)
			continue
		}
		said := h.String()
		i, known := at[said]
		if !known {
			i = len(reverts)
			at[said] = i
			reverts = append(reverts, PutBack{Said: said})
		}
		reverts[i].Zones = append(reverts[i].Zones, h.Zone)
	}
	return reverts, others
}

// PutBackShown is how many zones that a revert has put back a plan shows with their changes;
// of more it says only how many there are.
const PutBackShown = 3

// ShowsPutBack reports whether a plan shows the changes of zones that a revert has put back.
func (p Plan) ShowsPutBack() bool { return p.Summary.PutBack <= PutBackShown }
