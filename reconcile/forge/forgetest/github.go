package forgetest

import (
	"net/http"
	"strings"
	"unicode/utf8"
)

// github speaks GitHub's REST API as a server of one's own serves it.
type github struct{ *Server }

func (g github) handler() http.Handler {
	mux := http.NewServeMux()
	at := "/api/v3/repos/" + g.Project
	mux.HandleFunc("GET /api/v3/user", func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, g.user(Me)) })
	mux.HandleFunc("GET "+at+"/pulls", func(w http.ResponseWriter, r *http.Request) {
		var list []object
		for _, p := range g.pulls {
			if query := r.URL.Query(); p.State == query.Get("state") && p.Base == query.Get("base") {
				list = append(list, g.pullRequest(p))
			}
		}
		g.list(w, r, list, "per_page")
	})
	mux.HandleFunc("GET "+at+"/pulls/{number}", g.pull(func(w http.ResponseWriter, _ *http.Request, p *Pull) { reply(w, 200, g.pullRequest(p)) }))
	mux.HandleFunc("GET "+at+"/pulls/{number}/reviews", g.pull(g.listReviews))
	mux.HandleFunc("GET "+at+"/issues/{number}/comments", g.pull(func(w http.ResponseWriter, r *http.Request, p *Pull) {
		g.list(w, r, g.listComments(p, g.comment), "per_page")
	}))
	mux.HandleFunc("POST "+at+"/issues/{number}/comments", g.pull(g.create(checkGitHubBody, g.comment)))
	mux.HandleFunc("PATCH "+at+"/issues/comments/{id}", g.edit(checkGitHubBody, g.comment))
	mux.HandleFunc("POST "+at+"/statuses/{commit}", g.setStatus)
	mux.HandleFunc("GET /api/v3/users/{name}", func(w http.ResponseWriter, r *http.Request) {
		if name := r.PathValue("name"); g.known(name) {
			reply(w, 200, g.user(name))
			return
		}
		g.refuse(w, http.StatusNotFound, "Not Found")
	})
	mux.HandleFunc("GET "+at, func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, g.shape("repository").with("private", g.private))
	})
	mux.HandleFunc("GET "+at+"/collaborators/{name}/permission", guarded(g.Server, func(w http.ResponseWriter, r *http.Request) {
		name, level := r.PathValue("name"), "read"
		if g.mayWrite(name) {
			level = "write"
		}
		reply(w, 200, g.shape("permission").with("permission", level).with("user", g.user(name)))
	}))
	mux.HandleFunc("/", g.nothing)
	return mux
}

func (g github) user(name string) object {
	return g.shape("user").with("login", name).with("id", g.idOf(name))
}

func (g github) pullRequest(p *Pull) object {
	state := p.State
	if state == "merged" {
		state = "closed"
	}
	o := g.shape("pull").with("number", p.Number).with("title", p.Title).with("state", state).with("user", g.user(p.Author)).
		with("head.sha", g.look(p)).with("base.sha", g.git.branch(p.Base)).with("base.ref", p.Base)
	if p.Fork {
		o.with("head.repo.id", 4711)
	}
	if p.State == "merged" {
		o.with("merged_at", stamp(g.now))
	}
	labels := []object{}
	for _, name := range p.Labels {
		labels = append(labels, object{"id": 208045946, "name": name, "color": "f29513", "default": false})
	}
	o.with("labels", labels)
	return o
}

func (g github) comment(c *Comment) object {
	return g.shape("comment").with("id", c.ID).with("body", c.Body).with("user", g.user(c.Author))
}

func (g github) listReviews(w http.ResponseWriter, r *http.Request, p *Pull) {
	var list []object
	for _, each := range g.reviews {
		if each.Pull != p.Number {
			continue
		}
		state := each.State
		if each.Dismissed {
			state = "DISMISSED"
		}
		list = append(list, g.shape("review").with("id", each.ID).with("user", g.user(each.User)).
			with("state", state).with("commit_id", each.Commit).with("submitted_at", stamp(each.at)))
	}
	g.list(w, r, list, "per_page")
}

func (g github) setStatus(w http.ResponseWriter, r *http.Request) {
	sent := read(r)
	description := sent.text("description")
	if utf8.RuneCountInString(description) > 140 {
		g.refuse(w, http.StatusUnprocessableEntity, "Validation Failed: description is too long (maximum is 140 characters)")
		return
	}
	set := Status{r.PathValue("commit"), sent.text("context"), sent.text("state"), description, sent.text("target_url"), ""}
	g.statuses = append(g.statuses, set)
	reply(w, http.StatusCreated, g.shape("status").with("state", set.State).with("context", set.Context).
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
