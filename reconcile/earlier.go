package reconcile

import "strings"

// MostEarlier bounds how many earlier declarations of a zone are remembered.
const MostEarlier = 8

// Earlier are the fingerprints of declarations that were proved in a zone, the newest first,
// each ended by a blank: a text, because a fleet has many that are alike.
type Earlier string

// Has reports whether a declaration is among them.
func (e Earlier) Has(fingerprint string) bool {
	return fingerprint != "" && strings.Contains(" "+string(e), " "+fingerprint+" ")
}

// Then is a proof that follows another of the same zone: it remembers those before it.
func (p Proof) Then(next Proof) Proof {
	if next.Earlier = p.Earlier; p.Fingerprint == next.Fingerprint || p.Fingerprint == "" {
		return next
	}
	kept := []string{p.Fingerprint}
	for _, fingerprint := range strings.Fields(string(p.Earlier)) {
		if fingerprint != p.Fingerprint && fingerprint != next.Fingerprint && len(kept) < MostEarlier {
			kept = append(kept, fingerprint)
		}
	}
	next.Earlier = Earlier(strings.Join(kept, " ") + " ")
	return next
}
