package control

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// What is on record is taken in as a whole when a process begins, and when it gets a lease. From then
// on it takes in what other processes have changed since, which a mark tells: of some zones alone, and
// of the declarations those parts that it does not have. What comes of it is what comes of everything
// on record: see TestNewsIsWhatAllOnRecordIs.

// Anew has the next look at the records take in everything: what this process knows may be older
// than it can tell.
func (c *Control) Anew() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.mark = reconcile.Mark{}
}

// manyNewer is how many changes of zones are taken in before a commit needs them: it would wait for that.
const manyNewer = 200

// FallsBehind reports whether other processes have put so much on record of zones since it was taken in
// last that it is to be taken in now.
func (c *Control) FallsBehind(ctx context.Context) (bool, error) {
	if !c.Shared {
		return false, nil
	}
	c.mu.Lock()
	mark := c.state.mark
	c.mu.Unlock()
	changes, err := c.Records.Newer(ctx, mark)
	return changes >= manyNewer, err
}

// read returns what is on record, or what is new there, and what the accepted commit declares by that.
// unusable says why that cannot be used.
func (c *Control) read(ctx context.Context) (record reconcile.Record, declared desired.State, unusable, err error) {
	c.saving.Lock() // the parts that are at hand stay so
	defer c.saving.Unlock()
	c.mu.Lock()
	ours := c.state.zones.ours
	known := reconcile.Known{Mark: c.state.mark, Zones: slices.Collect(maps.Keys(ours)), Part: c.saved.has}
	c.state.zones.ours = scopes{} // more may come meanwhile
	c.mu.Unlock()
	if record, err = c.since(ctx, known); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		maps.Copy(c.state.zones.ours, ours)
		return record, declared, nil, err
	}
	if len(record.Accepted.Parts) > 0 {
		declared, unusable = c.saved.join(record.Accepted.Parts)
	} else {
		declared, unusable = c.saved.decode(record.Accepted.State)
	}
	if unusable != nil {
		record.Mark = reconcile.Mark{} // the next look reads all of it
	}
	return record, declared, unusable, nil
}

// since is everything on record where nothing is known of it.
func (c *Control) since(ctx context.Context, known reconcile.Known) (reconcile.Record, error) {
	if known.Mark == (reconcile.Mark{}) {
		return c.Records.Restore(ctx)
	}
	return c.Records.RestoreSince(ctx, known)
}

// has reports whether a part is at hand.
func (e *encoder) has(name sum) bool {
	_, known := e.sums[name]
	return known || e.head.Data != nil && e.head.Sum == name
}

var errNoPart = errors.New("a part of the declarations is not at hand")

// join is decode of parts, those that are at hand without their data.
func (e *encoder) join(parts []reconcile.StatePart) (desired.State, error) {
	var from decompressor
	var head headText
	first := parts[0]
	if first.Data == nil && e.head.Sum == first.Sum {
		first = e.head
	}
	if first.Data == nil {
		return desired.State{}, errNoPart
	}
	zones, err := from.read(first.Data, &head)
	d := decoded{State: head.State}
	if err == nil {
		err = d.add(zones, reconcile.StatePart{})
	}
	for _, p := range parts[1:] {
		if err != nil {
			break
		}
		if key, known := e.sums[p.Sum]; known {
			err = d.join(key.account, e.parts[key].zones, e.parts[key].StatePart)
			continue
		}
		if p.Data == nil {
			return desired.State{}, errNoPart
		}
		if zones, err = from.read(p.Data, nil); err == nil {
			err = d.add(zones, p)
			e.made++
		}
	}
	return e.decoded(d, head, first, err)
}

// takeSome takes in what a record has of some zones, and what people have let leave settings. What
// is known of all others stays.
func (s *state) takeSome(record reconcile.Record) {
	zs, g := &s.zones, s.current.Load()
	fresh := zonesOf(record, s.now(), zs.memory)
	earlier := zones{records: map[edge.Scope]*zoneRecord{}}
	for _, id := range record.Only {
		if _, since := zs.ours[id]; since { // what this process has put there may be newer: the next look reads it again
			delete(fresh.records, id)
			continue
		}
		if z := zs.records[id]; z != nil {
			earlier.records[id] = z
		}
		delete(zs.records, id)
	}
	fresh.goOn(earlier)
	maps.Copy(zs.records, fresh.records)
	for _, id := range record.Only {
		zs.note(g, id)
	}
	for _, kept := range []map[edge.Scope][]guard.Selection{zs.onRecord.Kept, record.Memory.Kept} {
		for id := range kept {
			was, had := zs.onRecord.Kept[id]
			if is, has := record.Memory.Kept[id]; had != has || !guard.SameSelections(was, is) {
				zs.note(g, id)
			}
		}
	}
	zs.onRecord, zs.departed, zs.departedOnRecord = record.Memory, record.Departures, record.Departures
}

// touch notes that this process has put something on record of a zone. What it knows of it by that may be
// more than what is there: of an earlier commit than the accepted one, the record takes no proof.
func (zs *zones) touch(id edge.Scope) {
	zs.known.moved.add(id)
	zs.ours.add(id)
}

// note notes that something of a zone may be otherwise on record than before.
func (zs *zones) note(g *Generation, id edge.Scope) {
	zs.known.moved.add(id)
	zs.known.loose.add(id)
	if g != nil {
		zs.weigh(g, id)
	}
}
