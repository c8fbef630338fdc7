package deployment

import (
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Memory spares [Plan] the deployments that agreed before and whose inputs are
// the very same values still: the declaration, the entry point's rules and the
// managed ruleset in the same places of memory, and equal records of what was
// applied. It changes no plan, as long as nobody writes to what was planned.
// Values that are equal and lie elsewhere are compared anew.
//
// The nil Memory remembers nothing. A Memory is not safe for concurrent use.
type Memory struct {
	settled map[diff.DeploymentID]*settlement // pointers: most maps have one entry, and room for eight
	before  map[diff.DeploymentID]*settlement // of the memory it came from, where that was renewed
}

// settlement is a deployment that agreed, and what it was worked out from.
type settlement struct {
	declared *desired.Deployment
	rules    *edge.Rule // the first of the entry point
	count    int        // how many it has
	managed  *edge.Rule // the first of the managed ruleset
	applied  []diff.Member
	owned    []diff.Member
	kept     []diff.Leftover
}

// Renew returns a memory that knows all m knows, and in the end holds only what
// is planned with it: the one for a plan of everything.
func (m *Memory) Renew() *Memory {
	next := &Memory{settled: map[diff.DeploymentID]*settlement{}}
	if m != nil {
		next.before = m.settled
	}
	return next
}

// recall returns how a deployment was settled on the same inputs.
func (m *Memory) recall(id diff.DeploymentID, now settlement) (*settlement, bool) {
	if m == nil {
		return nil, false
	}
	s, known := m.settled[id]
	if !known {
		s, known = m.before[id]
	}
	if !known || s.declared != now.declared || s.rules != now.rules || s.count != now.count ||
		s.managed != now.managed || !slices.Equal(s.applied, now.applied) {
		return nil, false
	}
	m.settled[id] = s
	return s, true
}

// keep remembers a deployment that agrees.
func (m *Memory) keep(id diff.DeploymentID, s settlement) {
	if m != nil {
		m.settled[id] = &s
	}
}

// inputsOf names what planning a deployment rests on.
func (p *planner) inputsOf(at place, id diff.DeploymentID, entryPoint edge.Ruleset, m *managed) settlement {
	s := settlement{declared: at.declared, count: len(entryPoint.Rules), applied: p.in.Applied[id]}
	if len(entryPoint.Rules) > 0 {
		s.rules = &entryPoint.Rules[0]
	}
	if len(m.Rules) > 0 {
		s.managed = &m.Rules[0]
	}
	return s
}
