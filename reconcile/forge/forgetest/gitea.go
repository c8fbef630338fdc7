package forgetest

import "net/http"

// gitea speaks the API of Gitea and Forgejo.
type gitea struct{ *Server }

func (g gitea) handler() http.Handler {
	mux := http.NewServeMux()
	at := "/api/v1/repos/" + g.Project
	mux.HandleFunc("GET /api/v1/user", func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, g.user(Me)) })
	mux.HandleFunc("GET "+at+"/pulls", func(w http.ResponseWriter, r *http.Request) {
		var list []object
		for _, p := range g.pulls { // of all branches: older servers know no filter for them
			if p.State == r.URL.Query().Get("state") {
				list = append(list, g.pullRequest(p))
			}
		}
		g.list(w, r, list, "limit")
	})
	mux.HandleFunc("GET "+at+"/pulls/{number}", g.pull(func(w http.ResponseWriter, _ *http.Request, p *Pull) { reply(w, 200, g.pullRequest(p)) }))
	mux.HandleFunc("GET "+at+"/pulls/{number}/reviews", g.pull(g.listReviews))
	mux.HandleFunc("GET "+at+"/issues/{number}/comments", g.pull(func(w http.ResponseWriter, _ *http.Request, p *Pull) {
		reply(w, 200, append([]object{}, g.listComments(p, g.comment)...)) // without pages
	}))
	mux.HandleFunc("POST "+at+"/issues/{number}/comments", g.pull(g.create(checkBlank, g.comment)))
	mux.HandleFunc("PATCH "+at+"/issues/comments/{id}", g.edit(checkBlank, g.comment))
	mux.HandleFunc("POST "+at+"/statuses/{commit}", g.setStatus)
	mux.HandleFunc("GET /api/v1/users/{name}", func(w http.ResponseWriter, r *http.Request) {
		if name := r.PathValue("name"); g.known(name) {
			reply(w, 200, g.user(name))
			return
		}
		g.refuse(w, http.StatusNotFound, "user redirect does not exist")
	})
	mux.HandleFunc("GET "+at, func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, g.shape("repository").with("private", g.private))
	})
	mux.HandleFunc("GET "+at+"/collaborators/{name}/permission", guarded(g.Server, func(w http.ResponseWriter, r *http.Request) {
		name, level := r.PathValue("name"), "read"
		if g.mayWrite(name) {
			level = "write"
		}
		reply(w, 200, g.shape("permission").with("permission", level).with("user.login", name).with("user.username", name).with("user.id", g.idOf(name)))
	}))
	mux.HandleFunc("/", g.nothing)
	return mux
}

func (g gitea) user(name string) object {
	return g.shape("user").with("login", name).with("username", name).with("id", g.idOf(name))
}

func (g gitea) pullRequest(p *Pull) object {
	state := p.State
	if state == "merged" {
		state = "closed"
	}
	o := g.shape("pull").with("number", p.Number).with("title", p.Title).with("state", state).with("merged", p.State == "merged").
		with("user", g.user(p.Author)).with("head.sha", g.look(p)).with("base.sha", g.git.branch(p.Base)).with("base.ref", p.Base)
	if p.Fork {
		o.with("head.repo_id", 4711)
	}
	labels := []object{}
	for _, name := range p.Labels {
		labels = append(labels, object{"id": 1, "name": name, "color": "00aabb", "exclusive": false})
	}
	o.with("labels", labels)
	return o
}

func (g gitea) comment(c *Comment) object {
	return g.shape("comment").with("id", c.ID).with("body", c.Body).with("user", g.user(c.Author))
}

// listReviews counts its list and does not say where the next page is.
func (g gitea) listReviews(w http.ResponseWriter, r *http.Request, p *Pull) {
	states := map[string]string{"CHANGES_REQUESTED": "REQUEST_CHANGES", "COMMENTED": "COMMENT"}
	var list []object
	for _, each := range g.reviews {
		if each.Pull != p.Number {
			continue
		}
		state := each.State
		if other, ok := states[state]; ok {
			state = other
		}
		list = append(list, g.shape("review").with("id", each.ID).with("user", g.user(each.User)).with("state", state).
			with("commit_id", each.Commit).with("submitted_at", stamp(each.at)).with("dismissed", each.Dismissed).with("stale", each.Commit != g.look(p)))
	}
	g.list(countOnly{w}, r, list, "limit")
}

// countOnly keeps the address of the next page to itself.
type countOnly struct{ http.ResponseWriter }

func (c countOnly) WriteHeader(status int) {
	c.Header().Del("Link")
	c.Header().Del("X-Next-Page")
	c.ResponseWriter.WriteHeader(status)
}

func (g gitea) setStatus(w http.ResponseWriter, r *http.Request) {
	sent := read(r)
	set := Status{r.PathValue("commit"), sent.text("context"), sent.text("state"), sent.text("description"), sent.text("target_url"), ""}
	g.statuses = append(g.statuses, set)
	reply(w, http.StatusCreated, g.shape("status").with("status", set.State).with("context", set.Context).
		with("description", set.Description).with("target_url", set.URL))
}
