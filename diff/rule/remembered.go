package rule

import (
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
)

// declaredOf is what a zone declares, as one compares it with what it declared before.
type declaredOf struct {
	first *desired.Other
	count int
}

// inputs are what it depends on whether rules of the zone are as declared. That is so of all of them
// at once: where one stands depends on the others.
func (p *zonePlan) inputs() diff.Settlement {
	s := diff.Settlement{Count: len(p.live.Rules)}
	if len(p.zone.Others) > 0 {
		s.Declared = declaredOf{&p.zone.Others[0], len(p.zone.Others)}
	}
	if s.Count > 0 {
		s.Rules = &p.live.Rules[0]
	}
	return s
}

// recalled settles what is declared where all of it was as declared on the same inputs.
func (p *zonePlan) recalled(declared []desired.Other) bool {
	if p.memory == nil || len(declared) > len(p.live.Rules) {
		return false
	}
	byKey := make(map[string]int, len(declared))
	for i, o := range declared {
		byKey[o.Key] = i
	}
	inputs := p.inputs()
	settled := make([]diff.Settled, 0, len(declared))
	for _, rule := range p.live.Rules {
		i, is := byKey[rule.Ref]
		if !is {
			continue
		}
		o := declared[i]
		s, known := p.memory.Recall(p.id(p.zone.Scope, o.Key), inputs)
		if !known {
			return false
		}
		settled = append(settled, p.asDeclared(o, rule.ID, s.Owned))
	}
	if len(settled) != len(declared) {
		return false
	}
	p.out.Settled = append(p.out.Settled, settled...)
	return true
}
