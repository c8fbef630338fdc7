package controller

import (
	"sync"
	"sync/atomic"

	"github.com/seawall-dev/seawall/edge"
)

// provedZones are the zones whose last proof has become another one since someone has taken that
// over. It is safe for concurrent use.
type provedZones struct {
	changes *Changes
	some    atomic.Bool // there is something to take

	mu    sync.Mutex
	zones map[edge.Scope]bool
	all   bool // any zone may be one
}

// note adds a zone; each, where the scope is the zero one.
func (p *provedZones) note(id edge.Scope) {
	p.mu.Lock()
	switch {
	case id == (edge.Scope{}):
		p.zones, p.all = nil, true
	case p.all:
	case p.zones == nil:
		p.zones = map[edge.Scope]bool{id: true}
	default:
		p.zones[id] = true
	}
	p.some.Store(true)
	p.mu.Unlock()
	p.changes.Note()
}

// take returns them, and forgets them. With all, the others are not listed.
func (p *provedZones) take() (zones map[edge.Scope]bool, all bool) {
	if !p.some.Load() {
		return nil, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	zones, all = p.zones, p.all
	p.zones, p.all = nil, false
	p.some.Store(false)
	return zones, all
}
