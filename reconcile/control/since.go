package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

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

// CatchUp takes in what is on record of zones since it was taken in last, and nothing else: what is in
// force and what is counted stay as they are, and no zone is to be read for it. Where more has changed
// than zones, or that cannot be told, it does nothing: [Control.Reload] takes that in.
func (c *Control) CatchUp(ctx context.Context) error {
	c.deciding.Lock()
	defer c.deciding.Unlock()
	known := c.known(func(sum) bool { return true }) // no declarations are read
	if c.Current() == nil || known.Mark == (reconcile.Mark{}) || c.recordsPutBack() {
		c.unread(known)
		return nil
	}
	record, err := c.Records.RestoreSince(ctx, known)
	if err != nil {
		c.unread(known)
		return fmt.Errorf("reading what other processes have proved: %w", err)
	}
	for _, id := range c.takeZones(record, known) {
		c.tell(id)
	}
	return nil
}

// takeZones takes in what a record has of zones, where it has nothing else, and returns those that have
// another proof now.
func (c *Control) takeZones(record reconcile.Record, known reconcile.Known) []edge.Scope {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, g := &c.state, c.Current()
	if s.mark == known.Mark { // else all is to be taken in
		switch {
		case record.Only == nil:
			s.mark = reconcile.Mark{} // the next look takes in everything
		case record.Accepted.Commit == g.State.Commit:
			s.mark = record.Mark
			return s.zones.takeSome(record, s.now(), g)
		}
	}
	s.zones.unread(known.Zones)
	return nil
}

// known is what this process knows of the records, with the zones that it has put something on record
// of. From then on these are noted anew: more may come while they are read.
func (c *Control) known(part func(sum) bool) reconcile.Known {
	c.mu.Lock()
	defer c.mu.Unlock()
	ours := c.state.zones.ours
	c.state.zones.ours = scopes{}
	return reconcile.Known{Mark: c.state.mark, Zones: slices.Collect(maps.Keys(ours)), Part: part}
}

// unread notes that nothing was taken in of what was asked for with this.
func (c *Control) unread(known reconcile.Known) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.zones.unread(known.Zones)
}

func (zs *zones) unread(ours []edge.Scope) {
	for _, id := range ours {
		zs.ours.add(id)
	}
}

// read returns what is on record, or what is new there, and what the accepted commit declares by that.
// unusable says why that cannot be used.
func (c *Control) read(ctx context.Context) (record reconcile.Record, declared desired.State, unusable, err error) {
	c.saving.Lock() // the parts that are at hand stay so
	defer c.saving.Unlock()
	known := c.known(c.saved.has)
	if record, err = c.since(ctx, known); err != nil {
		c.unread(known)
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
	d := decoded{State: head.State, before: e.lists}
	if err == nil {
		err = d.add(zones, reconcile.StatePart{})
	}
	for left := parts[1:]; len(left) > 0 && err == nil; {
		p := left[0]
		key, known := e.sums[p.Sum]
		if n := e.list(key.account).begins(left); known && n > 0 && d.share(key.account) {
			left = left[n:]
			continue
		}
		switch left = left[1:]; {
		case known:
			err = d.join(key.account, e.parts[key].zones, e.parts[key].StatePart)
		case p.Data == nil:
			return desired.State{}, errNoPart
		default:
			if zones, err = from.read(p.Data, nil); err == nil {
				err = d.add(zones, p)
				e.made++
			}
		}
	}
	return e.decoded(d, head, first, err)
}

// begins is how many parts, from the first on, are all of a list; 0 where they are others.
func (l list) begins(parts []reconcile.StatePart) int {
	if len(l.parts) > len(parts) {
		return 0
	}
	for i, p := range l.parts {
		if p.Sum != parts[i].Sum {
			return 0
		}
	}
	return len(l.parts)
}

// takeSome takes in what a record has of some zones, and returns those that have another proof now.
// What is known of all others stays.
func (zs *zones) takeSome(record reconcile.Record, now time.Time, g *Generation) (proved []edge.Scope) {
	fresh := zonesOf(record, now, zs.memory)
	for _, id := range record.Only {
		if _, since := zs.ours[id]; !since { // else what this process has put there may be newer: the next look reads it again
			if zs.takeOne(id, fresh.records[id]) {
				proved = append(proved, id)
			}
		}
		zs.note(g, id)
	}
	return proved
}

// anew are the zones as a record has them, which has all.
func (zs *zones) anew(record reconcile.Record, now time.Time) zones {
	fresh := zonesOf(record, now, zs.memory)
	fresh.goOn(*zs)
	fresh.keepSkips(*zs)
	fresh.ours = zs.ours
	for id := range zs.ours { // as takeSome
		if z := zs.records[id]; z != nil {
			fresh.records[id] = z
			fresh.known.loose.add(id)
		} else {
			delete(fresh.records, id)
		}
	}
	return fresh
}

// takeOne takes in what is on record of a zone, nil for nothing, and reports whether it has another proof
// now. What is not on record of it stays: which work goes on there.
func (zs *zones) takeOne(id edge.Scope, is *zoneRecord) (proved bool) {
	z := zs.records[id]
	if z == nil && is == nil {
		return false
	}
	if is == nil && !z.goesOn() {
		delete(zs.records, id)
		return z.proof.Fingerprint != ""
	}
	if is == nil {
		is = &zoneRecord{}
	}
	if z == nil {
		z = zs.of(id)
	}
	proved = z.proof.Fingerprint != is.proof.Fingerprint || !maps.Equal(z.proof.Labels, is.proof.Labels)
	z.proof, z.applied, z.prunable, z.unkept = is.proof, is.applied, is.prunable, is.unkept
	return proved
}

// takeMemory takes in what people have let leave settings, as a record has it.
func (zs *zones) takeMemory(record reconcile.Record, g *Generation) {
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
