package forgetest

import (
	"net/http"
	"slices"
	"strings"
)

// gitlab speaks GitLab's REST API.
type gitlab struct{ *Server }

func (g gitlab) handler() http.Handler {
	mux := http.NewServeMux()
	at := "/api/v4/projects/{project}"
	handle := func(method, path string, next http.HandlerFunc) {
		mux.HandleFunc(method+" "+at+path, func(w http.ResponseWriter, r *http.Request) {
			if r.PathValue("project") != g.Project {
				g.refuse(w, http.StatusNotFound, "404 Project Not Found")
				return
			}
			next(w, r)
		})
	}
	mux.HandleFunc("GET /api/v4/user", func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, g.user(Me)) })
	handle("GET", "/merge_requests", g.listPulls)
	handle("GET", "/merge_requests/{number}", g.pull(func(w http.ResponseWriter, _ *http.Request, p *Pull) { reply(w, 200, g.pullRequest(p)) }))
	handle("GET", "/merge_requests/{number}/versions", g.pull(g.listVersions))
	handle("GET", "/merge_requests/{number}/approvals", g.pull(g.listApprovals))
	handle("GET", "/merge_requests/{number}/notes", g.pull(func(w http.ResponseWriter, r *http.Request, p *Pull) {
		g.list(w, r, g.listComments(p, g.comment), "per_page")
	}))
	handle("POST", "/merge_requests/{number}/notes", g.pull(g.create(checkBlank, g.comment)))
	handle("PUT", "/merge_requests/{number}/notes/{id}", g.edit(checkBlank, g.comment))
	handle("DELETE", "/merge_requests/{number}/notes/{id}", g.remove)
	handle("POST", "/statuses/{commit}", g.setStatus)
	mux.HandleFunc("GET /api/v4/users", func(w http.ResponseWriter, r *http.Request) {
		list := []object{}
		if name := r.URL.Query().Get("username"); g.known(name) {
			list = append(list, g.user(name))
		}
		reply(w, 200, list)
	})
	handle("GET", "", func(w http.ResponseWriter, _ *http.Request) {
		visibility := "public"
		if g.private {
			visibility = "private"
		}
		reply(w, 200, g.shape("project").with("visibility", visibility))
	})
	handle("GET", "/members/all/{id}", guarded(g.Server, func(w http.ResponseWriter, r *http.Request) {
		name := g.nameOf(number(r.PathValue("id")))
		if !g.mayWrite(name) {
			g.refuse(w, http.StatusNotFound, "404 Not found")
			return
		}
		reply(w, 200, g.shape("member").with("id", g.idOf(name)).with("username", name))
	}))
	mux.HandleFunc("/", g.nothing)
	return mux
}

func (g gitlab) user(name string) object {
	return g.shape("user").with("username", name).with("id", g.idOf(name))
}

func (g gitlab) listPulls(w http.ResponseWriter, r *http.Request) {
	var list []object
	for _, p := range g.pulls {
		if query := r.URL.Query(); gitlabState(p) == query.Get("state") && p.Base == query.Get("target_branch") {
			list = append(list, g.pullRequest(p))
		}
	}
	g.list(w, r, list, "per_page")
}

func gitlabState(p *Pull) string {
	if p.State == "open" {
		return "opened"
	}
	return p.State
}

func (g gitlab) pullRequest(p *Pull) object {
	o := g.shape("pull").with("id", 5000+p.Number).with("iid", p.Number).with("title", p.Title).with("state", gitlabState(p)).
		with("author", g.user(p.Author)).with("sha", g.look(p)).with("target_branch", p.Base).
		with("source_project_id", 3).with("target_project_id", 3)
	if p.Fork {
		o.with("source_project_id", 4711)
	}
	o.with("labels", append([]string{}, p.Labels...))
	return o
}

func (g gitlab) comment(c *Comment) object {
	return g.shape("comment").with("id", c.ID).with("body", c.Body).with("author", g.user(c.Author)).
		with("system", strings.HasPrefix(c.Author, "system:"))
}

func (g gitlab) listVersions(w http.ResponseWriter, r *http.Request, p *Pull) {
	g.look(p)
	var list []object
	for i, v := range p.versions {
		list = append(list, g.shape("version").with("id", i+1).with("head_commit_sha", v.head).with("created_at", stamp(v.at)))
	}
	slices.Reverse(list)
	g.list(w, r, list, "per_page")
}

// listApprovals: a project that does not take approvals back when commits are
// added, which is up to its settings.
func (g gitlab) listApprovals(w http.ResponseWriter, _ *http.Request, p *Pull) {
	by := map[string]*Review{}
	for _, each := range g.reviews {
		if each.Pull == p.Number && each.State != "COMMENTED" {
			by[each.User] = each
		}
	}
	list := []object{}
	for _, each := range g.reviews {
		if by[each.User] == each && each.State == "APPROVED" && !each.Dismissed {
			list = append(list, g.shape("approver").with("user", g.user(each.User)).with("approved_at", stamp(each.at)))
		}
	}
	reply(w, 200, g.shape("approvals").with("iid", p.Number).with("approved_by", list))
}

// setStatus: to set pending what is pending is a mistake here.
func (g gitlab) setStatus(w http.ResponseWriter, r *http.Request) {
	sent := read(r)
	set := Status{r.PathValue("commit"), sent.text("name"), sent.text("state"), sent.text("description"), sent.text("target_url"), sent.text("ref")}
	last := ""
	for _, each := range g.statuses {
		if each.Commit == set.Commit && each.Context == set.Context {
			last = each.State
		}
	}
	if last == "pending" && set.State == "pending" {
		g.refuse(w, http.StatusBadRequest, `Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition via "enqueue")`)
		return
	}
	g.statuses = append(g.statuses, set)
	reply(w, http.StatusCreated, g.shape("status").with("sha", set.Commit).with("name", set.Context).with("status", set.State).
		with("description", set.Description).with("target_url", set.URL).with("ref", set.Ref))
}
