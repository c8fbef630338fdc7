package forgetest

import (
	"net/http"
	"slices"
	"strings"
)

// accounts are the names of all accounts that were spoken of. The place of a name is the
// account's id.
type accounts []string

// id is the id of an account, the same for the same name, in upper or lower case.
func (a *accounts) id(name string) int64 {
	i := slices.IndexFunc(*a, func(known string) bool { return strings.EqualFold(known, name) })
	if i < 0 {
		i = len(*a)
		*a = append(*a, name)
	}
	return int64(1000 + i)
}

// name is the name of the account with an id; empty for none.
func (a accounts) name(id int) string {
	if i := id - 1000; i >= 0 && i < len(a) {
		return a[i]
	}
	return ""
}

// Restrict makes accounts ones that may not write to the project. All others may.
func (s *Server) Restrict(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers = append(s.readers, names...)
}

// Secretive makes the server keep to itself what accounts may do.
func (s *Server) Secretive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secretive = true
}

// MakePrivate makes the project one that only members see.
func (s *Server) MakePrivate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.private = true
}

// Rename gives an account another name, under which all that it has said stands from then
// on. The old name is free.
func (s *Server) Rename(from, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accounts.id(from)
	s.accounts[slices.Index(s.accounts, from)] = to
	for _, r := range s.reviews {
		if r.User == from {
			r.User = to
		}
	}
}

// ID is the id of an account.
func (s *Server) ID(name string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accounts.id(name)
}

func (s *Server) mayWrite(name string) bool { return !slices.Contains(s.readers, name) }

// guarded answers what only those learn who manage the project.
func (s *Server) guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.secretive {
			s.refuse(w, http.StatusForbidden, "Resource not accessible by personal access token")
			return
		}
		next(w, r)
	}
}

// Missing makes names ones that no account has. All others are of one.
func (s *Server) Missing(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missing = append(s.missing, names...)
}

func (s *Server) known(name string) bool { return !slices.Contains(s.missing, name) }
