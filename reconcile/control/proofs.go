package control

import (
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
)

// LastProof is what the last proof of a zone says beside what a generation declares there.
type LastProof struct {
	Labels guard.Labels // of the zone at that time; nil where it has none, or was never proved
	Work   bool         // as [Control.CommitWork] has it
}

// LastProof is that of a zone.
func (c *Control) LastProof(g *Generation, id edge.Scope) LastProof {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.zones.lastProof(g, id)
}

func (zs *zones) lastProof(g *Generation, id edge.Scope) LastProof {
	z := zs.records[id]
	if z == nil {
		return LastProof{Work: g.declaration(id) != ""}
	}
	return LastProof{z.proof.Labels, z.proof.Fingerprint != g.declaration(id)}
}

// tell tells that the last proof of a zone has become another one; of any zone, where the id
// is the zero scope. The caller holds no lock.
func (c *Control) tell(id edge.Scope) {
	if c.Told != nil {
		c.Told(id)
	}
}

// taken is which zones may have another proof since the records were taken in.
type taken struct {
	zones []edge.Scope
	all   bool
}

func (c *Control) tellTaken(t taken) {
	if t.all {
		c.tell(edge.Scope{})
		return
	}
	for _, id := range t.zones {
		c.tell(id)
	}
}
