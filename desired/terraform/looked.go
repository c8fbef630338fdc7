package terraform

import (
	"cmp"
	"slices"
)

// A state need not manage a zone to manage its rulesets: it may look the zone up. Such a data
// source has the zone's name and account, under one of these names.

// looksUp reports whether a resource is a data source with zones.
func looksUp(mode, kind string) bool {
	return mode == "data" && slices.Contains([]string{"cloudflare_zone", "cloudflare_zones"}, kind)
}

// look takes the zones of a data source. It may know less of a zone than another one.
func (s *State) look(v object) {
	for _, one := range slices.Concat([]object{v}, v.list("zones"), v.list("result")) {
		z := zoneOf(one)
		if z.ID == "" {
			continue
		}
		had := s.looked[z.ID]
		z.Name = cmp.Or(z.Name, had.Name)
		z.Account.ID, z.Account.Name = cmp.Or(z.Account.ID, had.Account.ID), cmp.Or(z.Account.Name, had.Account.Name)
		s.looked[z.ID] = z
	}
}
