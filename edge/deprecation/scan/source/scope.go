package source

import (
	"strings"
)

// scope is what the names of a file are set to.
type scope struct{ vars map[string]*value }

// lookup finds a variable by its name, with or without what stands before it:
// self.base is what base is set to in the class.
func (p *scope) lookup(path string) *value {
	if v := p.vars[path]; v != nil {
		return v
	}
	first, rest, dotted := strings.Cut(path, ".")
	if dotted && (first == "self" || first == "this" || first == "cls" || first == "static" || first == "Self") {
		if v := p.vars[rest]; v != nil {
			return v
		}
	}
	if !dotted {
		for _, owner := range []string{"self.", "this."} {
			if v := p.vars[owner+path]; v != nil {
				return v
			}
		}
	}
	return nil
}

// known is the text that is filled into a string; nil where it is open.
func (p *scope) known(fills []string, i int) *value {
	if i >= len(fills) || fills[i] == "" {
		return nil
	}
	if v := p.lookup(fills[i]); v != nil && v.is == text {
		return v
	}
	return nil
}
