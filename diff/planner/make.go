// Package planner has the table of kinds ([Kinds]) and makes plans of all of them. Desired and
// live state go in ([Input]), a [diff.Plan] comes out that has passed no guard yet. It only
// joins what the kinds find. It must not import diff/guard, diff/render or diff/planfile: a
// plan does not depend on what is done with it.
package planner

import (
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
)

// Input is all a plan is made from.
type Input = diff.Input

// Make plans everything in.State declares against in.Live. Zones of which no entry
// point was read are left out. The plan is sorted by account, zone and
// deployment and has passed no guard yet; see diff/guard.
func Make(in Input) diff.Plan {
	p := diff.NewPlan(in.State.Commit)
	in.Skips = Skips
	for _, kind := range Kinds {
		part := kind.Plan(in)
		p.Changes, p.Problems = append(p.Changes, part.Changes...), append(p.Problems, part.Problems...)
		p.Settled, p.Kept, p.Meanwhile = append(p.Settled, part.Settled...), append(p.Kept, part.Kept...), append(p.Meanwhile, part.Meanwhile...)
		p.Bypasses = append(p.Bypasses, part.Bypasses...)
		in.Bypasses, in.Deployed = p.Bypasses, append(in.Deployed, part.Deployed...)
		p.Remarks = append(p.Remarks, part.Remarks...)
		p.Findings, p.Expiries = append(p.Findings, part.Findings...), append(p.Expiries, part.Expiries...)
	}
	stamp(&p)
	p.Summary.Zones, p.Summary.Tokens = read(in), len(in.State.Tokens)
	diff.SortChanges(p.Changes)
	if in.Undigested {
		return p.Counted()
	}
	return p.Sealed()
}

// stamp has the places in a plan be of its commit where they name none: those in the zones of a
// daemon's state are of any commit that has the same files.
func stamp(p *diff.Plan) {
	at := func(o *desired.Origin) {
		if o.Commit == "" {
			*o = o.At(p.Commit)
		}
	}
	for i := range p.Changes {
		c := &p.Changes[i]
		at(&c.Origin)
		at(&c.ZoneOrigin)
		for n := range c.Fields {
			if of := c.Fields[n].Origin; of != nil { // it may be that of the declaration, which stays
				own := *of
				at(&own)
				c.Fields[n].Origin = &own
			}
		}
	}
	for i := range p.Problems {
		at(&p.Problems[i].Origin)
	}
	for i := range p.Bypasses {
		at(&p.Bypasses[i].Origin)
	}
	for i := range p.Remarks {
		at(&p.Remarks[i].Origin)
	}
}

// read is how many of the declared zones were read.
func read(in Input) (n int) {
	seen := in.Live.Scopes()
	for _, zone := range in.State.EachZone() {
		if seen[zone.Scope] {
			n++
		}
	}
	return n
}
