package forgetest

import (
	"net/http"
	"slices"
	"strings"
)

// What the forges do alike with comments and pull requests.

// pull finds the pull request of an address.
func (s *Server) pull(next func(http.ResponseWriter, *http.Request, *Pull)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if p := s.find(number(r.PathValue("number"))); p != nil {
			next(w, r, p)
			return
		}
		s.nothing(w, r)
	}
}

func (s *Server) nothing(w http.ResponseWriter, _ *http.Request) {
	s.refuse(w, http.StatusNotFound, "Not Found")
}

func (s *Server) listComments(p *Pull, show func(*Comment) object) (list []object) {
	for _, c := range s.comments {
		if c.Pull == p.Number {
			list = append(list, show(c))
		}
	}
	return list
}

// checkBody says what is wrong with a comment; 0 for nothing.
type checkBody func(body string) (status int, message string)

func checkBlank(body string) (int, string) {
	if strings.TrimSpace(body) == "" {
		return http.StatusBadRequest, "body is missing"
	}
	return 0, ""
}

func (s *Server) create(check checkBody, show func(*Comment) object) func(http.ResponseWriter, *http.Request, *Pull) {
	return func(w http.ResponseWriter, r *http.Request, p *Pull) {
		body := read(r).text("body")
		if status, message := check(body); status != 0 {
			s.refuse(w, status, message)
			return
		}
		c := &Comment{ID: s.id(), Pull: p.Number, Author: Me, Body: s.kept(body)}
		s.comments = append(s.comments, c)
		reply(w, http.StatusCreated, show(c))
	}
}

// edit changes a comment. The token's account may write to the project, so that
// forges would let it change anyone's.
func (s *Server) edit(check checkBody, show func(*Comment) object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, c := range s.comments {
			if int64(number(r.PathValue("id"))) != c.ID {
				continue
			}
			body := read(r).text("body")
			if status, message := check(body); status != 0 {
				s.refuse(w, status, message)
				return
			}
			c.Body, c.Edits = s.kept(body), c.Edits+1
			reply(w, http.StatusOK, show(c))
			return
		}
		s.nothing(w, r)
	}
}

// remove deletes a comment.
func (s *Server) remove(w http.ResponseWriter, r *http.Request) {
	before := len(s.comments)
	s.comments = slices.DeleteFunc(s.comments, func(c *Comment) bool { return int64(number(r.PathValue("id"))) == c.ID })
	if len(s.comments) == before {
		s.nothing(w, r)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// kept is what a forge keeps of a comment: GitLab carries commands out, and all
// of them drop space at the end.
func (s *Server) kept(body string) string {
	if s.Kind == "gitlab" {
		var rest []string
		for line := range strings.SplitSeq(body, "\n") {
			if strings.HasPrefix(line, "/") {
				s.commands = append(s.commands, line)
				continue
			}
			rest = append(rest, line)
		}
		body = strings.Join(rest, "\n")
	}
	return strings.TrimRight(body, " \n\t")
}
