package forgetest

import "net/http"

// gitea speaks the API of Gitea and Forgejo.
func gitea(s *Server) http.Handler {
	mux := http.NewServeMux()
	at := "/api/v1/repos/" + s.Project
	mux.HandleFunc("GET /api/v1/user", func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, s.giteaUser(Me)) })
	mux.HandleFunc("GET "+at+"/pulls", func(w http.ResponseWriter, r *http.Request) {
		var list []object
		for _, p := range s.pulls { // of all branches: older servers know no filter for them
			if p.State == r.URL.Query().Get("state") {
				list = append(list, s.giteaPull(p))
			}
		}
		s.list(w, r, list, "limit")
	})
	mux.HandleFunc("GET "+at+"/pulls/{number}", s.pull(func(w http.ResponseWriter, _ *http.Request, p *Pull) { reply(w, 200, s.giteaPull(p)) }))
	mux.HandleFunc("GET "+at+"/pulls/{number}/reviews", s.pull(s.giteaReviews))
	mux.HandleFunc("GET "+at+"/issues/{number}/comments", s.pull(func(w http.ResponseWriter, _ *http.Request, p *Pull) {
		reply(w, 200, append([]object{}, s.listComments(p, s.giteaComment)...)) // without pages
	}))
	mux.HandleFunc("POST "+at+"/issues/{number}/comments", s.pull(s.create(checkBlank, s.giteaComment)))
	mux.HandleFunc("PATCH "+at+"/issues/comments/{id}", s.edit(checkBlank, s.giteaComment))
	mux.HandleFunc("POST "+at+"/statuses/{commit}", s.giteaStatus)
	mux.HandleFunc("/", s.nothing)
	return mux
}

func (s *Server) giteaUser(name string) object {
	return s.shape("user").with("login", name).with("username", name).with("id", s.account(name))
}

func (s *Server) giteaPull(p *Pull) object {
	state := p.State
	if state == "merged" {
		state = "closed"
	}
	o := s.shape("pull").with("number", p.Number).with("title", p.Title).with("state", state).with("merged", p.State == "merged").
		with("user", s.giteaUser(p.Author)).with("head.sha", s.look(p)).with("base.sha", s.branch(p.Base)).with("base.ref", p.Base)
	if p.Fork {
		o.with("head.repo_id", 4711)
	}
	return o
}

func (s *Server) giteaComment(c *Comment) object {
	return s.shape("comment").with("id", c.ID).with("body", c.Body).with("user", s.giteaUser(c.Author))
}

// giteaReviews counts its list and does not say where the next page is.
func (s *Server) giteaReviews(w http.ResponseWriter, r *http.Request, p *Pull) {
	states := map[string]string{"CHANGES_REQUESTED": "REQUEST_CHANGES", "COMMENTED": "COMMENT"}
	var list []object
	for _, each := range s.reviews {
		if each.Pull != p.Number {
			continue
		}
		state := each.State
		if other, ok := states[state]; ok {
			state = other
		}
		list = append(list, s.shape("review").with("id", each.ID).with("user", s.giteaUser(each.User)).with("state", state).
			with("commit_id", each.Commit).with("submitted_at", stamp(each.at)).with("dismissed", each.Dismissed).with("stale", each.Commit != s.look(p)))
	}
	s.list(countOnly{w}, r, list, "limit")
}

// countOnly keeps the address of the next page to itself.
type countOnly struct{ http.ResponseWriter }

func (c countOnly) WriteHeader(status int) {
	c.Header().Del("Link")
	c.Header().Del("X-Next-Page")
	c.ResponseWriter.WriteHeader(status)
}

func (s *Server) giteaStatus(w http.ResponseWriter, r *http.Request) {
	sent := read(r)
	set := Status{r.PathValue("commit"), sent.text("context"), sent.text("state"), sent.text("description"), sent.text("target_url"), ""}
	s.statuses = append(s.statuses, set)
	reply(w, http.StatusCreated, s.shape("status").with("status", set.State).with("context", set.Context).
		with("description", set.Description).with("target_url", set.URL))
}
