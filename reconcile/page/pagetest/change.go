package pagetest

import (
	"maps"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// Changed implements [page.Data].
func (d *Data) Changed() (count uint64, next <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changed, d.next
}

// SetOutcome gives a zone another outcome, and tells whoever waits for a change.
func (d *Data) SetOutcome(zone edge.Scope, o inspect.Outcome) {
	d.change(zone, func(r *inspect.Row) {
		r.Outcome = o
		d.tell(r)
	})
}

// SetHeld holds or releases a zone.
func (d *Data) SetHeld(zone edge.Scope, held bool) {
	d.change(zone, func(r *inspect.Row) { r.Held = held })
}

// SetProved says which labels a zone had when it was proved last; nil: it never was.
func (d *Data) SetProved(zone edge.Scope, labels map[string]string) {
	d.change(zone, func(*inspect.Row) { d.proved[zone] = maps.Clone(labels) })
}

func (d *Data) change(zone edge.Scope, do func(*inspect.Row)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i, ok := d.at[zone]; ok {
		do(&d.rows[i])
	}
	d.changed++
	close(d.next)
	d.next = make(chan struct{})
}
