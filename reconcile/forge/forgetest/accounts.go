package forgetest

import (
	"net/http"
	"slices"
	"strings"
	"sync"
)

// People are the accounts of a forge, and what they may do in the project. The place of a
// name in names is the account's id.
type People struct {
	mu *sync.Mutex // the server's

	names              []string
	readers, missing   []string // accounts that may not write, and names of none
	secretive, private bool
}

// idOf is the id of an account, the same for the same name, in upper or lower case.
func (p *People) idOf(name string) int64 {
	i := slices.IndexFunc(p.names, func(known string) bool { return strings.EqualFold(known, name) })
	if i < 0 {
		i = len(p.names)
		p.names = append(p.names, name)
	}
	return int64(1000 + i)
}

// nameOf is the name of the account with an id; empty for none.
func (p *People) nameOf(id int) string {
	if i := id - 1000; i >= 0 && i < len(p.names) {
		return p.names[i]
	}
	return ""
}

// Restrict makes accounts ones that may not write to the project. All others may.
func (p *People) Restrict(names ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.readers = append(p.readers, names...)
}

// Secretive makes the server keep to itself what accounts may do.
func (p *People) Secretive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.secretive = true
}

// MakePrivate makes the project one that only members see.
func (p *People) MakePrivate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.private = true
}

// ID is the id of an account.
func (p *People) ID(name string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.idOf(name)
}

// Missing makes names ones that no account has. All others are of one.
func (p *People) Missing(names ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.missing = append(p.missing, names...)
}

func (p *People) known(name string) bool    { return !slices.Contains(p.missing, name) }
func (p *People) mayWrite(name string) bool { return !slices.Contains(p.readers, name) }

// guarded answers what only those learn who manage the project.
func guarded(s *Server, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.secretive {
			s.refuse(w, http.StatusForbidden, "Resource not accessible by personal access token")
			return
		}
		next(w, r)
	}
}
