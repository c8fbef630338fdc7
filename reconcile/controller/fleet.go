package controller

import (
	"slices"
	"sync"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/control"
)

// fleetIndex keeps a row for each declared zone, for those who ask how the fleet is: nothing is
// decided by it. A row follows what is in force, what was proved, and what the last look has
// come to. The first two are compared whenever the rows are used; the last is told, by [fleetIndex.looked].
// It is safe for concurrent use.
type fleetIndex struct {
	control *control.Control
	lanes   *lanes
	changes *Changes
	proofs  *provedZones

	mu   sync.RWMutex // taken by lock and rlock alone; before the lock of control
	rows rows
}

// lastProof says which declaration was proved last in a zone. Whether a zone is as declared that
// another process works on is not known here.
func (f *fleetIndex) lastProof(g *control.Generation, id edge.Scope) control.LastProof {
	p := f.control.LastProof(g, id)
	p.Work = p.Work && !f.lanes.elsewhere(g, id)
	return p
}

// lock locks the rows, which are those of what is in force, for who changes them.
func (f *fleetIndex) lock() {
	f.mu.Lock()
	proved, all := f.proofs.take()
	if g := f.control.Current(); all || g != f.rows.g {
		f.follow(g, all)
	}
	for id := range proved {
		if i := f.rows.find(id); i >= 0 {
			f.rows.all[i].proof = f.lastProof(f.rows.g, id)
			f.rows.weigh(i)
		}
	}
}

// follow has the rows be those of a generation; stale says that what was proved last is to be asked for
// again, of each zone.
func (f *fleetIndex) follow(g *control.Generation, stale bool) {
	switch differs, same, ok := g.Differs(f.rows.g); {
	case ok && same && !stale:
		f.rows.follow(g, differs, f.lastProof)
	case ok && !stale:
		f.rows = newRows(g, f.rows, differs, f.rows.all, f.lastProof)
	case g == nil:
		f.rows = rows{}
	default:
		f.rows = newRows(g, f.rows, slices.Collect(g.Zones()), nil, f.lastProof)
	}
}

// rlock locks them for who reads them. They must be given back with f.mu.RUnlock.
func (f *fleetIndex) rlock() *rows {
	for {
		f.mu.RLock()
		if f.rows.g == f.control.Current() && !f.proofs.some.Load() {
			return &f.rows
		}
		f.mu.RUnlock()
		f.lock()
		f.mu.Unlock()
	}
}

// published takes over what is in force, before someone has to wait for that.
func (f *fleetIndex) published() {
	f.lock()
	f.mu.Unlock()
	f.changes.Note()
}

// looked takes over what a look at a zone has come to; next is given what is known of the
// looks before.
func (f *fleetIndex) looked(id edge.Scope, next func(before lastLook) lastLook) {
	f.lock()
	defer f.mu.Unlock()
	if i := f.rows.find(id); i >= 0 {
		r := &f.rows.all[i]
		r.last, r.looked = next(r.last), true
		f.rows.weigh(i)
		f.changes.Note()
	}
}

// left forgets the looks at zones that another process works on, and returns them: where none did in
// the end, they are given to [fleetIndex.again].
func (f *fleetIndex) left(g *control.Generation, theirs func(edge.Scope) bool) map[edge.Scope]lastLook {
	f.lock()
	defer f.mu.Unlock()
	looks := map[edge.Scope]lastLook{}
	for id := range g.Zones() {
		if i := f.rows.find(id); i >= 0 && theirs(id) {
			if f.rows.all[i].looked {
				looks[id] = f.rows.all[i].last
			}
			f.rows.all[i].last, f.rows.all[i].looked = lastLook{}, false
		}
	}
	f.proofs.note(edge.Scope{})
	return looks
}

// again has looks count as before at zones that were not looked at since.
func (f *fleetIndex) again(looks map[edge.Scope]lastLook) {
	f.lock()
	defer f.mu.Unlock()
	for id, last := range looks {
		if i := f.rows.find(id); i >= 0 && !f.rows.all[i].looked {
			f.rows.all[i].last, f.rows.all[i].looked = last, true
			f.rows.weigh(i)
		}
	}
	f.changes.Note()
}

// of is what is known of a zone; false where it is not declared.
func (f *fleetIndex) of(id edge.Scope) (row, bool) {
	rows := f.rlock()
	defer f.mu.RUnlock()
	if i := rows.find(id); i >= 0 {
		return rows.all[i], true
	}
	return row{}, false
}

// knows reports whether a zone was looked at.
func (f *fleetIndex) knows(id edge.Scope) bool {
	r, _ := f.of(id)
	return r.looked
}
