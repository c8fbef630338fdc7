package forgetest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// gitlab speaks GitLab's REST API.
func gitlab(s *Server) http.Handler {
	mux := http.NewServeMux()
	at := "/api/v4/projects/{project}"
	handle := func(method, path string, next http.HandlerFunc) {
		mux.HandleFunc(method+" "+at+path, func(w http.ResponseWriter, r *http.Request) {
			if r.PathValue("project") != s.Project {
				s.refuse(w, http.StatusNotFound, "404 Project Not Found")
				return
			}
			next(w, r)
		})
	}
	mux.HandleFunc("GET /api/v4/user", func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, s.gitlabUser(Me)) })
	handle("GET", "/merge_requests", s.gitlabPulls)
	handle("GET", "/merge_requests/{number}", s.pull(func(w http.ResponseWriter, _ *http.Request, p *Pull) { reply(w, 200, s.gitlabPull(p)) }))
	handle("GET", "/merge_requests/{number}/versions", s.pull(s.gitlabVersions))
	handle("GET", "/merge_requests/{number}/approvals", s.pull(s.gitlabApprovals))
	handle("GET", "/merge_requests/{number}/notes", s.pull(func(w http.ResponseWriter, r *http.Request, p *Pull) {
		s.list(w, r, s.listComments(p, s.gitlabComment), "per_page")
	}))
	handle("POST", "/merge_requests/{number}/notes", s.pull(s.create(checkBlank, s.gitlabComment)))
	handle("PUT", "/merge_requests/{number}/notes/{id}", s.edit(checkBlank, s.gitlabComment))
	handle("GET", "/repository/branches/{name}", func(w http.ResponseWriter, r *http.Request) {
		name, _ := url.PathUnescape(r.PathValue("name")) // unescaped once by the mux already
		reply(w, 200, s.shape("branch").with("name", name).with("commit.id", s.branch(name)))
	})
	handle("POST", "/statuses/{commit}", s.gitlabStatus)
	mux.HandleFunc("/", s.nothing)
	return mux
}

func (s *Server) gitlabUser(name string) object {
	return s.shape("user").with("username", name).with("id", s.account(name))
}

func (s *Server) gitlabPulls(w http.ResponseWriter, r *http.Request) {
	var list []object
	for _, p := range s.pulls {
		if query := r.URL.Query(); gitlabState(p) == query.Get("state") && p.Base == query.Get("target_branch") {
			list = append(list, s.gitlabPull(p))
		}
	}
	s.list(w, r, list, "per_page")
}

func gitlabState(p *Pull) string {
	if p.State == "open" {
		return "opened"
	}
	return p.State
}

func (s *Server) gitlabPull(p *Pull) object {
	o := s.shape("pull").with("id", 5000+p.Number).with("iid", p.Number).with("title", p.Title).with("state", gitlabState(p)).
		with("author", s.gitlabUser(p.Author)).with("sha", s.look(p)).with("target_branch", p.Base).
		with("source_project_id", 3).with("target_project_id", 3)
	if p.Fork {
		o.with("source_project_id", 4711)
	}
	return o
}

func (s *Server) gitlabComment(c *Comment) object {
	return s.shape("comment").with("id", c.ID).with("body", c.Body).with("author", s.gitlabUser(c.Author)).
		with("system", strings.HasPrefix(c.Author, "system:"))
}

func (s *Server) gitlabVersions(w http.ResponseWriter, r *http.Request, p *Pull) {
	s.look(p)
	var list []object
	for i, v := range p.versions {
		list = append(list, s.shape("version").with("id", i+1).with("head_commit_sha", v.head).with("created_at", stamp(v.at)))
	}
	slices.Reverse(list)
	s.list(w, r, list, "per_page")
}

// gitlabApprovals: a project that does not take approvals back when commits are
// added, which is up to its settings.
func (s *Server) gitlabApprovals(w http.ResponseWriter, _ *http.Request, p *Pull) {
	by := map[string]*Review{}
	for _, each := range s.reviews {
		if each.Pull == p.Number && each.State != "COMMENTED" {
			by[each.User] = each
		}
	}
	list := []object{}
	for _, each := range s.reviews {
		if by[each.User] == each && each.State == "APPROVED" && !each.Dismissed {
			list = append(list, s.shape("approver").with("user", s.gitlabUser(each.User)).with("approved_at", stamp(each.at)))
		}
	}
	reply(w, 200, s.shape("approvals").with("iid", p.Number).with("approved_by", list))
}

// gitlabStatus: to set pending what is pending is a mistake here.
func (s *Server) gitlabStatus(w http.ResponseWriter, r *http.Request) {
	sent := read(r)
	set := Status{r.PathValue("commit"), sent.text("name"), sent.text("state"), sent.text("description"), sent.text("target_url"), sent.text("ref")}
	last := ""
	for _, each := range s.statuses {
		if each.Commit == set.Commit && each.Context == set.Context {
			last = each.State
		}
	}
	if last == "pending" && set.State == "pending" {
		s.refuse(w, http.StatusBadRequest, `Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition via "enqueue")`)
		return
	}
	s.statuses = append(s.statuses, set)
	reply(w, http.StatusCreated, s.shape("status").with("sha", set.Commit).with("name", set.Context).with("status", set.State).
		with("description", set.Description).with("target_url", set.URL).with("ref", set.Ref))
}
