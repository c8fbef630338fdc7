package forgetest

import (
	"net/http"
	"strings"
	"unicode/utf8"
)

// github speaks GitHub's REST API as a server of one's own serves it.
func github(s *Server) http.Handler {
	mux := http.NewServeMux()
	at := "/api/v3/repos/" + s.Project
	mux.HandleFunc("GET /api/v3/user", func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, s.githubUser(Me)) })
	mux.HandleFunc("GET "+at+"/pulls", func(w http.ResponseWriter, r *http.Request) {
		var list []object
		for _, p := range s.pulls {
			if query := r.URL.Query(); p.State == query.Get("state") && p.Base == query.Get("base") {
				list = append(list, s.githubPull(p))
			}
		}
		s.list(w, r, list, "per_page")
	})
	mux.HandleFunc("GET "+at+"/pulls/{number}", s.pull(func(w http.ResponseWriter, _ *http.Request, p *Pull) { reply(w, 200, s.githubPull(p)) }))
	mux.HandleFunc("GET "+at+"/pulls/{number}/reviews", s.pull(s.githubReviews))
	mux.HandleFunc("GET "+at+"/issues/{number}/comments", s.pull(func(w http.ResponseWriter, r *http.Request, p *Pull) {
		s.list(w, r, s.listComments(p, s.githubComment), "per_page")
	}))
	mux.HandleFunc("POST "+at+"/issues/{number}/comments", s.pull(s.create(checkGitHubBody, s.githubComment)))
	mux.HandleFunc("PATCH "+at+"/issues/comments/{id}", s.edit(checkGitHubBody, s.githubComment))
	mux.HandleFunc("POST "+at+"/statuses/{commit}", s.githubStatus)
	mux.HandleFunc("/", s.nothing)
	return mux
}

func (s *Server) githubUser(name string) object {
	return s.shape("user").with("login", name).with("id", s.account(name))
}

func (s *Server) githubPull(p *Pull) object {
	state := p.State
	if state == "merged" {
		state = "closed"
	}
	o := s.shape("pull").with("number", p.Number).with("title", p.Title).with("state", state).with("user", s.githubUser(p.Author)).
		with("head.sha", s.look(p)).with("base.sha", s.branch(p.Base)).with("base.ref", p.Base)
	if p.Fork {
		o.with("head.repo.id", 4711)
	}
	return o
}

func (s *Server) githubComment(c *Comment) object {
	return s.shape("comment").with("id", c.ID).with("body", c.Body).with("user", s.githubUser(c.Author))
}

func (s *Server) githubReviews(w http.ResponseWriter, r *http.Request, p *Pull) {
	var list []object
	for _, each := range s.reviews {
		if each.Pull != p.Number {
			continue
		}
		state := each.State
		if each.Dismissed {
			state = "DISMISSED"
		}
		list = append(list, s.shape("review").with("id", each.ID).with("user", s.githubUser(each.User)).
			with("state", state).with("commit_id", each.Commit).with("submitted_at", stamp(each.at)))
	}
	s.list(w, r, list, "per_page")
}

func (s *Server) githubStatus(w http.ResponseWriter, r *http.Request) {
	sent := read(r)
	description := sent.text("description")
	if utf8.RuneCountInString(description) > 140 {
		s.refuse(w, http.StatusUnprocessableEntity, "Validation Failed: description is too long (maximum is 140 characters)")
		return
	}
	set := Status{r.PathValue("commit"), sent.text("context"), sent.text("state"), description, sent.text("target_url"), ""}
	s.statuses = append(s.statuses, set)
	reply(w, http.StatusCreated, s.shape("status").with("state", set.State).with("context", set.Context).
		with("description", set.Description).with("target_url", set.URL))
}

// checkGitHubBody is what GitHub refuses in a comment.
func checkGitHubBody(body string) (status int, message string) {
	switch {
	case strings.TrimSpace(body) == "":
		return http.StatusUnprocessableEntity, "Validation Failed: body can't be blank"
	case utf8.RuneCountInString(body) > 65536:
		return http.StatusUnprocessableEntity, "Validation Failed: body is too long (maximum is 65536 characters)"
	}
	return 0, ""
}
