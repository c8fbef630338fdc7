package revert

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
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

// InForce is the commit that was in force when it was planned.
func (p *Planned) InForce() string { return p.state.Commit }
