package revert

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Digest stands for what a person agrees to who was shown the plan: which commit, what is
// written where, where the commit is stopped, and what is left as it is. The versions of what
// was read are in it.
func (p *Planned) Digest() string {
	var held []edge.Scope
	for _, h := range p.holds() {
		held = append(held, h.Scope)
	}
	slices.SortFunc(held, edge.Scope.Compare)
	text, err := json.Marshal(struct {
		Filter  reconcile.HistoryFilter
		InForce string
		Changes string
		Zones   int
		Held    []edge.Scope
		Left    []string
	}{p.Order.Filter, p.state.Commit, p.Plan.ApprovalDigest(), p.Zones(), held, p.Left()})
	if err != nil { // it always can be
		panic(err)
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Covers reports whether a person who was shown one plan has agreed to a later one of the same
// order: it does the same in the same zones, from the same versions. A zone in which the commit
// was to be stopped may have been written meanwhile, and is put back then.
func (p *Planned) Covers(later *Planned) bool {
	if p.state.Commit != later.state.Commit || p.Order.Filter != later.Order.Filter {
		return false
	}
	shown, now := p.byZone(), later.byZone()
	for id, digest := range now {
		if was, is := shown[id]; was != digest && (is || !p.pending[id]) {
			return false
		}
	}
	for id := range shown {
		if _, is := now[id]; !is {
			return false
		}
	}
	for id := range later.pending {
		if !p.pending[id] {
			return false
		}
	}
	return true
}

// byZone has a digest of what is written to each zone, and from which version.
func (p *Planned) byZone() map[edge.Scope]string {
	digests := map[edge.Scope]string{}
	for _, changes := range zone.ByZone(p.Plan) {
		digests[changes[0].Scope] = diff.Plan{Changes: changes}.ApprovalDigest()
	}
	return digests
}
