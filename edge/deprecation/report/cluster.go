package report

import "slices"

// cluster is the places that are alike, as one for a person: in a log the same
// call stands there for a hundred zones.
type cluster struct {
	Place     // the first, with lines and rewrites of all
	count int // with those that are not listed
	paths int
}

func (g Group) clusters() []cluster {
	var out []cluster
	at := map[likeness]int{}
	for _, p := range g.Places {
		if p.Suppressed != nil {
			continue
		}
		key := p.likeness()
		if p.Detail == "" {
			key.detail = p.Path
		}
		i, known := at[key]
		if !known {
			i = len(out)
			at[key] = i
			out = append(out, cluster{Place: Place{Where: p.Where, Owner: p.Owner, Detail: p.Detail, Method: p.Method, Path: p.Path, Address: p.Address}})
		}
		out[i].add(p)
	}
	return out
}

func (c *cluster) add(p Place) {
	c.count += p.Count + p.Similar
	if c.paths == 0 || p.Path != c.Path {
		c.paths++
	}
	c.More += p.More
	c.Lines = append(c.Lines, p.Lines...)
	slices.Sort(c.Lines)
	c.Rewrites = append(c.Rewrites, p.Rewrites...)
}

// call is the call, and where several differ in their parameters what they have
// in common.
func (c cluster) call() string {
	if c.paths > 1 && c.Detail != "" && !part().MatchString(c.Detail) {
		return printable(c.Detail)
	}
	return c.Place.call()
}

// rewritten are the rewritten requests as text.
func (p Place) rewritten() []string {
	var out []string
	for _, r := range p.Rewrites {
		out = append(out, request(r))
	}
	return out
}
