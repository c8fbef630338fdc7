package diff

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
)

// Hold keeps what differs in a zone from being written; it is shown. There are two kinds.
// One that a person set ends at a time. One that a revert set has no time: it ends when
// git declares the zone otherwise.
type Hold struct {
	Zone   string    `json:"zone"` // its key, in any account
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason"`

	// Scopes are the zones that had the key when a person set the hold: they are held under
	// any other key, too. One whose id was not known then is [desired.ByItsName].
	Scopes []edge.Scope `json:"zone_ids,omitempty"`

	// Of a hold that a revert set: the zone, the fingerprint of the declaration on which
	// it depends, and the commit that declares it so.
	Scope       edge.Scope `json:"zone_id,omitzero"`
	Declaration string     `json:"-"`
	Commit      string     `json:"until_git_differs_from,omitempty"`
}

// Reverted reports whether a revert set the hold.
func (h Hold) Reverted() bool { return h.Declaration != "" || h.Commit != "" }

// String tells a hold to a person.
func (h Hold) String() string {
	if h.Reverted() {
		return "put back by " + h.Reason + ", until " + h.End()
	}
	return "held until " + h.End() + ": " + h.Reason
}

// End says when a hold ends.
func (h Hold) End() string {
	if h.Reverted() {
		return "a new commit changes the zone"
	}
	return words.Instant(h.Until)
}

// is reports whether a hold is about a zone.
func (h Hold) is(key string, id edge.Scope) bool {
	if h.Reverted() {
		return h.Scope == id
	}
	return h.Zone == key || slices.Contains(h.Scopes, id)
}

// MarshalJSON has no zone whose id is not known.
func (h Hold) MarshalJSON() ([]byte, error) {
	type plain Hold
	h.Scopes = slices.DeleteFunc(slices.Clone(h.Scopes), func(s edge.Scope) bool { return desired.Sought(s.ID) })
	return json.Marshal(plain(h))
}

// Find returns holds that are also about the zones of a state whose id was not known when they were
// set, by the names of these on the platform.
func Find(holds []Hold, state desired.State) []Hold {
	sought := map[edge.Scope][]int{}
	for i, h := range holds {
		for _, s := range h.Scopes {
			if desired.Sought(s.ID) {
				sought[s] = append(sought[s], i)
			}
		}
	}
	if len(sought) == 0 {
		return holds
	}
	holds = slices.Clone(holds)
	for a, z := range state.EachZone() {
		if name, declared := desired.ByItsName(a, z); declared {
			for _, i := range sought[name] {
				holds[i].Scopes = append(slices.Clip(holds[i].Scopes), z.Scope)
			}
		}
	}
	return holds
}

// Active returns the holds that are not over. declared returns the fingerprint of a zone's
// declaration, empty for none; nil takes each to be the one that a hold depends on.
func Active(holds []Hold, now time.Time, declared func(edge.Scope) string) []Hold {
	return slices.DeleteFunc(slices.Clone(holds), func(h Hold) bool {
		if h.Reverted() {
			return declared != nil && declared(h.Scope) != h.Declaration
		}
		return !now.Before(h.Until)
	})
}

// HoldsOn returns [HoldOn] of some holds, for who asks about many zones.
func HoldsOn(holds []Hold) func(key string, id edge.Scope) (Hold, bool) {
	keys, ids := map[string]int{}, map[edge.Scope]int{}
	for i, h := range slices.Backward(holds) { // the first of several stays
		if h.Reverted() {
			ids[h.Scope] = i
			continue
		}
		keys[h.Zone] = i
		for _, id := range h.Scopes {
			ids[id] = i
		}
	}
	return func(key string, id edge.Scope) (Hold, bool) {
		first := len(holds)
		if i, is := keys[key]; is {
			first = i
		}
		if i, is := ids[id]; is {
			first = min(first, i)
		}
		if first == len(holds) {
			return Hold{}, false
		}
		return holds[first], true
	}
}

// HoldOn returns the first of some holds that is about a zone.
func HoldOn(holds []Hold, key string, id edge.Scope) (Hold, bool) {
	i := slices.IndexFunc(holds, func(h Hold) bool { return h.is(key, id) })
	if i < 0 {
		return Hold{}, false
	}
	return holds[i], true
}
