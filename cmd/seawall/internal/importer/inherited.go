package importer

import (
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/cuefile"
)

// inherited says what a person can do about a value that is not live and that no declaration
// of the zone takes away.
func (a *absorber) inherited(from desired.Origin) []string {
	leave := "declare the zone without it"
	if a.open(from.File) == nil {
		part, found := cuefile.PartAt(a.texts[from.File], from.Line, from.Column)
		at := from
		at.Line, at.Column = part.First, 0
		switch {
		case !found || part.Shared == "":
		case strings.Contains(part.Shared, " if "):
			leave = fmt.Sprintf("%s in %s gives it to the zone: give the zone another label, or the condition an exception", part.Shared, a.place(at))
		case strings.Contains(part.Shared, "["):
			leave = fmt.Sprintf("%s in %s gives it to each zone that it matches: have it not match %s, or put the value under a condition, such as if labels.tier == ...", part.Shared, a.place(at), a.zone.Key)
		default:
			leave = fmt.Sprintf("declare the zone without %s (%s)", part.Shared, a.place(at))
		}
	}
	return []string{
		"CUE cannot take a value away. For this zone alone, " + leave + "; then run seawall absorb " + a.zone.Key + " again",
		a.shared(from) + "; or put the declared value back with seawall apply",
	}
}

// place is a file and line as they are shown.
func (a *absorber) place(o desired.Origin) string {
	return fmt.Sprintf("%s:%d", a.at(o).File, o.Line)
}
