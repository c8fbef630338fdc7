// Package unitcache keeps what folders of desired state came to, so that a
// commit that touches one folder evaluates one folder, after a restart too.
//
//	cache, err := unitcache.Open(folder) // an error: in memory alone
//	units, count, err := cache.Units(order, evaluate)
//
// A unit is found by an address, [compile.Prints.Address], and taken only if
// every folder that its evaluation read is as it was then: the folder
// itself, those above it, what it imports, and what was looked for in vain. So
// the cache knows nothing of CUE, and what CUE may come to look at needs no change
// here. The address holds the program's own identity: another build, and with
// it another schema or another CUE, finds nothing.
//
// In memory are the units of the last commit. On disk, each in a file of its
// own, are those of many commits, of branches and pull requests alike: no one can
// put a wrong one there by pushing, since what an address and its fingerprints
// stand for is evaluated alike whoever pushed it. Files come and go whole, bear a
// checksum, and may be lost at any time; whatever is wrong with one, its folder is
// evaluated anew. Daemon and command line use them at once without a lock.
//
// This is no memory of what was done: that is the ledger, which must not be
// deleted and is kept small enough to be copied.
package unitcache

import (
	"errors"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired/compile"
)

// Cache keeps units. It is safe for concurrent use. A nil Cache keeps nothing.
type Cache struct {
	program string
	disk    *shelf // nil for memory alone

	mu   sync.Mutex
	last map[string]record // by address
}

// record is a unit with what it holds for.
type record struct {
	looked  compile.Prints
	unit    compile.Unit
	encoded compile.Encoded // where the unit is outlined only; else without bytes
	size    int64           // of the unit as it is encoded
}

// Order says what to bring together.
type Order struct {
	Prints  compile.Prints // of the commit's tree
	Folders []string       // the units wanted, as [compile.Folders] lists them
	Now     time.Time
	Most    int64 // bound of all units together, in bytes, encoded
	// Beside leaves the memory as it is: what is read in passing does not
	// drive out the units of the branch.
	Beside bool
	// Whole returns, by their names, the folders of which whole units are wanted, of units that
	// may be outlined ([compile.Encoded.Outlined]). Those of other folders may stay so. Nil
	// wants all whole; else the memory is left as it is.
	Whole func(outlined []compile.Unit) map[string]bool
}

// Result is what an evaluation came to.
type Result struct {
	Unit    compile.Unit
	Encoded compile.Encoded // without bytes for one that was made up for a folder that has none
}

// Evaluate evaluates folders. It ends with [ErrTooMuch] where the results are
// more than room bytes together.
type Evaluate func(folders []string, room int64) ([]Result, error)

// ErrTooMuch says that the units are more than [Order.Most] together, wherever
// they came from.
var ErrTooMuch = errors.New("the evaluated folders are more than the bound")

// Count says where units came from, and how many of those from disk stayed outlined.
type Count struct{ Evaluated, Memory, Disk, Outlined int }

// Units returns a unit for each folder of the order, in no order of their own.
// What it has not is evaluated and then kept. Errors are those of evaluate,
// and [ErrTooMuch].
func (c *Cache) Units(o Order, evaluate Evaluate) ([]compile.Unit, Count, error) {
	w := work{cache: c, order: o, room: o.Most, used: map[string]record{}}
	missing, err := w.recall()
	if err != nil {
		return nil, w.count, err
	}
	if len(missing) > 0 {
		results, err := evaluate(missing, w.room)
		if err != nil {
			return nil, w.count, err
		}
		w.keep(results)
	}
	if o.Whole != nil {
		if err := w.complete(o.Whole(w.units)); err != nil {
			return nil, w.count, err
		}
	} else if c != nil && !o.Beside {
		c.remember(w.used)
	}
	if c != nil && c.disk != nil && w.count.Evaluated > 0 {
		c.disk.tidy(o.Now, w.used)
	}
	return w.units, w.count, nil
}

// Close lets go of the folder. The Cache then keeps units in memory alone.
func (c *Cache) Close() error {
	if c == nil || c.disk == nil {
		return nil
	}
	return c.disk.root.Close()
}

func (c *Cache) remember(used map[string]record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = used
}

// find looks in memory, then on disk.
func (c *Cache) find(address, folder string, o Order) (r record, inMemory, ok bool) {
	c.mu.Lock()
	r, ok = c.last[address]
	c.mu.Unlock()
	if ok && o.Prints.Agree(r.looked) {
		return r, true, true
	}
	if c.disk == nil {
		return record{}, false, false
	}
	r, ok = c.disk.load(address, o)
	return r, false, ok && r.unit.Dir == folder && o.Prints.Agree(r.looked)
}
