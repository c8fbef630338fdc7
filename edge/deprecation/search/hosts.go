package search

import (
	"path"
	"strings"
)

// Hosts says to which hosts requests count. Addresses without a host, and those
// whose host is left open, always do.
type Hosts struct {
	Any bool // all of them
	// Names are those of the platform and others; "*" stands for a label or more at
	// the beginning: *.example.com.
	Names []string
	// Base is a path by which the platform's API is told on any host: a gateway or
	// a simulator that passes requests on keeps it.
	Base string
}

// Allow reports whether a request to an address counts.
func (h Hosts) Allow(address string) bool {
	_, rest, absolute := strings.Cut(address, "://")
	if !absolute || strings.IndexByte(address, '/') == 0 || h.Any {
		return true
	}
	host, at, _ := strings.Cut(rest, "/")
	if h.Base != "" && strings.HasPrefix("/"+at, h.Base+"/") {
		return true
	}
	host = strings.ToLower(host)
	name := host
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		name = host[:i]
	}
	for _, pattern := range h.Names {
		pattern = strings.ToLower(pattern)
		if pattern == name || pattern == host {
			return true
		}
		if ok, err := path.Match(pattern, name); ok && err == nil {
			return true
		}
	}
	return false
}
