package page_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/page"
	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

// assetHash is what changes with the style sheet and the script alone.
var assetHash = regexp.MustCompile(`(/assets/[a-z]+)-[0-9a-f]{16}`)

var version = regexp.MustCompile(`data-version="[0-9]+"`)

// Each page is as it is kept in testdata. A change is looked at there, and kept with
// go test ./reconcile/page -run AsKept -update.
func TestPagesAreAsKept(t *testing.T) {
	full, empty := handlerOf(pagetest.New(16)), handlerOf(pagetest.Empty())
	closed := page.Handler(page.Config{Data: pagetest.New(16), Now: nowOf, Program: "v1.0.0", Login: &page.Login{Begin: "/login", End: "/logout"}})
	web := &login.Person{Name: "oidc:ada@example.com", Grants: []login.Grant{{Role: login.Viewer, Labels: map[string]string{"team": "web"}}}}
	for _, c := range []struct {
		name    string
		handler http.Handler
		path    string
		who     *login.Person
	}{
		{"overview", full, "/", nil},
		{"overview-empty", empty, "/", nil},
		{"start", closed, "/", web},
		{"log-in", closed, "/zones", nil},
		{"zones", full, "/zones?account=prod&label=tier%3Dbronze", nil},
		{"zones-none", full, "/zones?text=nothing", nil},
		{"zones-empty", empty, "/zones", nil},
		{"zone-refused", full, "/zones/" + pagetest.Scope(0).Text(), nil},
		{"zone-bypassed", full, "/zones/" + pagetest.Scope(len(inspect.Outcomes())-1-inspect.Bypassed.Severity()).Text(), nil},
		{"zone-in-sync", full, "/zones/" + pagetest.Scope(len(inspect.Outcomes())).Text(), nil},
		{"commits", full, "/commits?after=220", nil},
		{"commits-empty", empty, "/commits", nil},
		{"commit-held", full, "/commits/" + pagetest.Held, nil},
		{"commit", full, "/commits/" + pagetest.Before, nil},
		{"history-none", full, "/history?token=none", nil},
		{"history-empty", empty, "/history", nil},
		{"tokens", full, "/tokens", nil},
		{"tokens-empty", empty, "/tokens", nil},
		{"radar", full, "/radar?since=60d", nil},
		{"radar-none", full, "/radar?since=1h", nil},
		{"radar-empty", empty, "/radar", nil},
		{"radar-some", closed, "/radar?since=60d", web},
		{"radar-version", full, fmt.Sprintf("/radar/%d", pagetest.NewestVersion), nil},
		{"radar-version-some", closed, fmt.Sprintf("/radar/%d", pagetest.NewestVersion), web},
		{"radar-version-earlier", full, "/radar/40", nil},
		{"deprecations", full, "/deprecations", nil},
		{"pulls", full, "/pulls", nil},
		{"pulls-empty", empty, "/pulls", nil},
		{"pull", full, "/pulls/104", nil},
		{"outages", full, "/outages", nil},
		{"outages-empty", empty, "/outages", nil},
		{"credentials", full, "/credentials", nil},
		{"replicas", full, "/replicas", nil},
		{"replicas-none", empty, "/replicas", nil},
		{"problem", full, "/zones?outcome=bad", nil},
		{"grid", full, "/grid.svg", nil},
	} {
		got := assetHash.ReplaceAll(ask(c.handler, c.path, c.who).Body.Bytes(), []byte("$1"))
		got = version.ReplaceAll(got, []byte(`data-version="0"`)) // that of who may not see all is another one each time
		file := filepath.Join("testdata", c.name+".html")
		if *update {
			must.Do(t, os.MkdirAll("testdata", 0o755))
			must.Do(t, os.WriteFile(file, got, 0o644))
			continue
		}
		want, err := os.ReadFile(file)
		must.Do(t, err)
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (%s): %s", c.name, c.path, diff)
		}
	}
}
