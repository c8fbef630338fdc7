package reconciletest

import (
	"sync"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// Leases are those of several processes, given by hand.
type Leases struct {
	mu    sync.Mutex
	rows  map[reconcile.LeaseName]*leaseRow
	views map[string]*replicaLeases
}

// leaseRow is one lease, as the database has it.
type leaseRow struct {
	holder string // empty: no one
	epoch  int64
	begun  int    // work of the holder that has not ended
	next   string // gets it once nothing has begun; empty: it stays
	left   time.Duration
	cuts   int // requests without an answer
}

// usualLeft is for how long a lease lasts that is renewed.
const usualLeft = 11 * time.Second

// NewLeases returns leases that no one holds.
func NewLeases() *Leases {
	return &Leases{rows: map[reconcile.LeaseName]*leaseRow{}, views: map[string]*replicaLeases{}}
}

// Of are the leases as a process sees them.
func (l *Leases) Of(replica string) reconcile.Leases {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.views[replica]
	if v == nil {
		v = &replicaLeases{all: l, replica: replica, changed: make(chan struct{})}
		l.views[replica] = v
	}
	return v
}

func (l *Leases) row(name reconcile.LeaseName) *leaseRow {
	r := l.rows[name]
	if r == nil {
		r = &leaseRow{left: usualLeft}
		l.rows[name] = r
	}
	return r
}

// Give has a process get leases at once, whoever has them: as after the end of another.
func (l *Leases) Give(replica string, names ...reconcile.LeaseName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range names {
		l.give(l.row(name), replica)
	}
}

func (l *Leases) give(r *leaseRow, replica string) {
	before := r.holder
	*r = leaseRow{holder: replica, epoch: r.epoch + 1, left: usualLeft}
	l.tell(before, replica)
}

// Take takes a lease from whoever has it.
func (l *Leases) Take(name reconcile.LeaseName) { l.Give("", name) }

// Move has a process get a lease in good order: once nothing of the holder's work is on its way.
func (l *Leases) Move(replica string, name reconcile.LeaseName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.row(name)
	if r.next = replica; r.begun == 0 {
		l.give(r, replica)
		return
	}
	l.tell(r.holder)
}

// Ends has a lease last for so long, and not be renewed.
func (l *Leases) Ends(name reconcile.LeaseName, left time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.row(name).left = left
}

// Holder is who has a lease; empty for no one.
func (l *Leases) Holder(name reconcile.LeaseName) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.row(name).holder
}

// Cuts is how many requests under a lease, since it was given, are told to have no answer.
func (l *Leases) Cuts(name reconcile.LeaseName) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.row(name).cuts
}

func (l *Leases) tell(replicas ...string) {
	for _, replica := range replicas {
		if v := l.views[replica]; v != nil {
			close(v.changed)
			v.changed = make(chan struct{})
		}
	}
}

// replicaLeases are leases as one process sees them.
type replicaLeases struct {
	all     *Leases
	replica string
	changed chan struct{}
}

// Held implements [reconcile.Leases].
func (v *replicaLeases) Held(name reconcile.LeaseName) (reconcile.Lease, bool) {
	v.all.mu.Lock()
	defer v.all.mu.Unlock()
	return v.held(name)
}

func (v *replicaLeases) held(name reconcile.LeaseName) (reconcile.Lease, bool) {
	r := v.all.row(name)
	if r.holder != v.replica || r.next != "" || r.left <= 0 {
		return reconcile.Lease{}, false
	}
	return reconcile.Lease{Name: name, Epoch: r.epoch}, true
}

// Begin implements [reconcile.Leases].
func (v *replicaLeases) Begin(name reconcile.LeaseName) (_ reconcile.Lease, end func(), held bool) {
	v.all.mu.Lock()
	defer v.all.mu.Unlock()
	lease, held := v.held(name)
	if !held {
		return lease, func() {}, false
	}
	v.all.row(name).begun++
	return lease, sync.OnceFunc(func() { v.end(lease) }), true
}

func (v *replicaLeases) end(lease reconcile.Lease) {
	v.all.mu.Lock()
	defer v.all.mu.Unlock()
	r := v.all.row(lease.Name)
	if r.epoch != lease.Epoch {
		return
	}
	if r.begun--; r.begun == 0 && r.next != "" {
		v.all.give(r, r.next)
	}
}

// Left implements [reconcile.Leases].
func (v *replicaLeases) Left(lease reconcile.Lease) time.Duration {
	v.all.mu.Lock()
	defer v.all.mu.Unlock()
	if r := v.all.row(lease.Name); r.holder == v.replica && r.epoch == lease.Epoch {
		return r.left
	}
	return 0
}

// Cut implements [reconcile.Leases]: it is only counted, as nothing is at work here any more.
func (v *replicaLeases) Cut(lease reconcile.Lease) {
	v.all.mu.Lock()
	defer v.all.mu.Unlock()
	if r := v.all.row(lease.Name); r.holder == v.replica && r.epoch == lease.Epoch {
		r.cuts++
	}
}

// Changed implements [reconcile.Leases].
func (v *replicaLeases) Changed() <-chan struct{} {
	v.all.mu.Lock()
	defer v.all.mu.Unlock()
	return v.changed
}
