package radar

import (
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Class is the deployments that are counted alike.
type Class struct {
	Direction Direction    `json:"direction"`
	Blocked   bool         `json:"blocked,omitempty"`
	Meanwhile bool         `json:"meanwhile,omitempty"` // weaker until Seawall has written
	Zones     []edge.Scope `json:"zones"`
}

// Classes are the deployments for which the version means something.
func (p Published) Classes() (all []Class) {
	for _, g := range p.Groups {
		i := slices.IndexFunc(all, func(c Class) bool {
			return c.Direction == g.Direction && c.Blocked == g.Blocked && c.Meanwhile == g.weakensMeanwhile()
		})
		if i < 0 {
			i = len(all)
			all = append(all, Class{Direction: g.Direction, Blocked: g.Blocked, Meanwhile: g.weakensMeanwhile()})
		}
		for _, z := range g.Zones {
			all[i].Zones = append(all[i].Zones, z.Scope)
		}
	}
	return all
}

// Extract is a part of a group, for a page: some of its zones, and the first of its rules and
// mistakes.
type Extract struct {
	Group
	Count        int `json:"count"` // the zones of the group, on all pages
	RulesLeft    int `json:"rules_left_out,omitempty"`
	MistakesLeft int `json:"mistakes_left_out,omitempty"`
}

// How much a page has at most: of zones, of the rules and mistakes of a group, and of these
// together, after which no other group begins.
const (
	ZonesPerPage = 100
	mostOfGroup  = 20
	mostOfPage   = 100
)

// Extracts are the groups in pages, in their order. Each zone is on one page.
func (p Published) Extracts() (pages [][]Extract) {
	groups := make([]Extract, len(p.Groups))
	for i, g := range p.Groups {
		groups[i] = extractOf(g)
	}
	return paged(groups)
}

func paged(groups []Extract) (pages [][]Extract) {
	zones, lines := 0, 0 // of the last page
	for _, whole := range groups {
		for left := whole.Zones; len(left) > 0; {
			if len(pages) == 0 || zones == ZonesPerPage || lines >= mostOfPage {
				pages, zones, lines = append(pages, nil), 0, 0
			}
			n := min(len(left), ZonesPerPage-zones)
			part := whole
			part.Zones, left = left[:n], left[n:]
			last := len(pages) - 1
			pages[last] = append(pages[last], part)
			zones, lines = zones+n, lines+len(part.Rules)+len(part.Mistakes)
		}
	}
	return pages
}

// Visible leaves of all extracts of a version the zones that may be seen: in pages, and counted
// anew. It says nothing of others: neither how many there are, nor where they are declared.
func Visible(all []Extract, may func(Zone) bool) (pages [][]Extract, counts Counts) {
	var groups []Extract
	var of Published
	for len(all) > 0 {
		whole, left := all[0], all[0].Count
		whole.Zones = nil
		for len(all) > 0 && (left > 0 || len(all[0].Zones) == 0) { // its parts follow one another
			left -= len(all[0].Zones)
			for _, z := range all[0].Zones {
				if may(z) {
					whole.Zones = append(whole.Zones, z)
				}
			}
			all = all[1:]
		}
		whole.Count = len(whole.Zones)
		whole.Mistakes = slices.Clone(whole.Mistakes)
		for i := range whole.Mistakes {
			whole.Mistakes[i].Origin = desired.Origin{} // that of a zone that may be another one
		}
		if whole.Count > 0 {
			groups, of.Groups = append(groups, whole), append(of.Groups, whole.Group)
		}
	}
	return paged(groups), of.Counts()
}

func extractOf(g Group) Extract {
	e := Extract{Group: g, Count: len(g.Zones)}
	e.Rules, e.RulesLeft = head(g.Rules)
	e.Mistakes, e.MistakesLeft = head(g.Mistakes)
	return e
}

func head[T any](all []T) (shown []T, left int) {
	n := min(len(all), mostOfGroup)
	return all[:n], len(all) - n
}

// Words says what the version means for the zones of the group.
func (g Group) Words() string {
	if g.Blocked {
		return string(g.Direction) + ", blocked"
	}
	return string(g.Direction)
}
