package forgetest

import (
	"net/http"
	"strings"
	"unicode/utf8"
)

// hub speaks GitHub's REST API as a server of one's own serves it, or that of Gitea and Forgejo,
// which was made after it.
type hub struct {
	*Server
	gitea bool
	root  string // of the addresses
	size  string // names the size of a page in a query
}

func github(s *Server) hub { return hub{s, false, "/api/v3", "per_page"} }
func gitea(s *Server) hub  { return hub{s, true, "/api/v1", "limit"} }

func (h hub) handler() http.Handler {
	mux := http.NewServeMux()
	at := h.root + "/repos/" + h.Project
	mux.HandleFunc("GET "+h.root+"/user", func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, h.user(Me)) })
	mux.HandleFunc("GET "+at+"/pulls", func(w http.ResponseWriter, r *http.Request) {
		var list []object
		for _, p := range h.pulls { // in Gitea of all branches: older servers know no filter for them
			if query := r.URL.Query(); p.State == query.Get("state") && (h.gitea || p.Base == query.Get("base")) {
				list = append(list, h.pullRequest(p))
			}
		}
		h.list(w, r, list, h.size)
	})
	mux.HandleFunc("GET "+at+"/pulls/{number}", h.pull(func(w http.ResponseWriter, _ *http.Request, p *Pull) { reply(w, 200, h.pullRequest(p)) }))
	mux.HandleFunc("GET "+at+"/pulls/{number}/reviews", h.pull(h.listReviews))
	mux.HandleFunc("GET "+at+"/issues/{number}/comments", h.pull(func(w http.ResponseWriter, r *http.Request, p *Pull) {
		list := h.listComments(p, h.comment)
		if h.gitea { // without pages
			reply(w, 200, append([]object{}, list...))
			return
		}
		h.list(w, r, list, h.size)
	}))
	mux.HandleFunc("POST "+at+"/issues/{number}/comments", h.pull(h.create(h.checkBody, h.comment)))
	mux.HandleFunc("PATCH "+at+"/issues/comments/{id}", h.edit(h.checkBody, h.comment))
	mux.HandleFunc("DELETE "+at+"/issues/comments/{id}", h.remove)
	mux.HandleFunc("POST "+at+"/statuses/{commit}", h.setStatus)
	mux.HandleFunc("GET "+h.root+"/users/{name}", func(w http.ResponseWriter, r *http.Request) {
		if name := r.PathValue("name"); h.known(name) {
			reply(w, 200, h.user(name))
			return
		}
		h.nothing(w, r)
	})
	mux.HandleFunc("GET "+at, func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, h.shape("repository").with("private", h.private))
	})
	mux.HandleFunc("GET "+at+"/collaborators/{name}/permission", guarded(h.Server, func(w http.ResponseWriter, r *http.Request) {
		name, level := r.PathValue("name"), "read"
		if h.mayWrite(name) {
			level = "write"
		}
		reply(w, 200, h.shape("permission").with("permission", level).with("user", h.user(name)))
	}))
	mux.HandleFunc("/", h.nothing)
	return mux
}

func (h hub) user(name string) object {
	o := h.shape("user").with("login", name).with("id", h.idOf(name))
	if h.gitea {
		o.with("username", name)
	}
	return o
}

func (h hub) pullRequest(p *Pull) object {
	merged, state, fork := p.State == "merged", p.State, "head.repo.id"
	if merged {
		state = "closed"
	}
	o := h.shape("pull").with("number", p.Number).with("title", p.Title).with("state", state).with("user", h.user(p.Author)).
		with("head.sha", h.look(p)).with("base.ref", p.Base)
	switch {
	case h.gitea:
		o.with("merged", merged)
		fork = "head.repo_id"
	case merged:
		o.with("merged_at", stamp(h.now))
	}
	if p.Fork {
		o.with(fork, 4711)
	}
	labels := []object{}
	for _, name := range p.Labels {
		labels = append(labels, object{"id": 208045946, "name": name, "color": "f29513"})
	}
	return o.with("labels", labels)
}

func (h hub) comment(c *Comment) object {
	return h.shape("comment").with("id", c.ID).with("body", c.Body).with("user", h.user(c.Author))
}

// listReviews: Gitea counts its list and does not say where the next page is.
func (h hub) listReviews(w http.ResponseWriter, r *http.Request, p *Pull) {
	var list []object
	for _, each := range h.reviews {
		if each.Pull != p.Number {
			continue
		}
		o := h.shape("review").with("id", each.ID).with("user", h.user(each.User)).
			with("state", h.state(each)).with("commit_id", each.Commit).with("submitted_at", stamp(each.at))
		if h.gitea {
			o.with("dismissed", each.Dismissed).with("stale", each.Commit != h.look(p))
		}
		list = append(list, o)
	}
	if h.gitea {
		w = countOnly{w}
	}
	h.list(w, r, list, h.size)
}

// state is the state of a review in the forge's words.
func (h hub) state(r *Review) string {
	switch {
	case !h.gitea && r.Dismissed:
		return "DISMISSED"
	case h.gitea && r.State == "CHANGES_REQUESTED":
		return "REQUEST_CHANGES"
	case h.gitea && r.State == "COMMENTED":
		return "COMMENT"
	}
	return r.State
}

// countOnly keeps the address of the next page to itself.
type countOnly struct{ http.ResponseWriter }

func (c countOnly) WriteHeader(status int) {
	c.Header().Del("Link")
	c.Header().Del("X-Next-Page")
	c.ResponseWriter.WriteHeader(status)
}

func (h hub) setStatus(w http.ResponseWriter, r *http.Request) {
	sent, state := read(r), "status"
	set := Status{r.PathValue("commit"), sent.text("context"), sent.text("state"), sent.text("description"), sent.text("target_url"), ""}
	if !h.gitea {
		state = "state"
		if utf8.RuneCountInString(set.Description) > 140 {
			h.refuse(w, http.StatusUnprocessableEntity, "Validation Failed: description is too long (maximum is 140 characters)")
			return
		}
	}
	h.statuses = append(h.statuses, set)
	reply(w, http.StatusCreated, h.shape("status").with(state, set.State).with("context", set.Context).
		with("description", set.Description).with("target_url", set.URL))
}

// checkBody is what is refused in a comment.
func (h hub) checkBody(body string) (status int, message string) {
	switch {
	case h.gitea:
		return checkBlank(body)
	case strings.TrimSpace(body) == "":
		return http.StatusUnprocessableEntity, "Validation Failed: body can't be blank"
	case utf8.RuneCountInString(body) > 65536:
		return http.StatusUnprocessableEntity, "Validation Failed: body is too long (maximum is 65536 characters)"
	}
	return 0, ""
}
