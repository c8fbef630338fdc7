package page_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/page"
	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

// TestAnswersAreAsDescribed holds real answers to the description, which is to have every member.
func TestAnswersAreAsDescribed(t *testing.T) {
	for name, data := range map[string]page.Data{
		"empty": pagetest.Empty(), "no zone": pagetest.New(0), "one zone": pagetest.New(1),
		"many": pagetest.New(500), "hostile": pagetest.Hostile(40),
	} {
		t.Run(name, func(t *testing.T) {
			api := pagetest.NewAPI(t, page.Handler(page.Config{Data: data}))
			for _, row := range page.Rows() {
				path := row.API
				for name, p := range pathParams {
					path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(p.example))
				}
				api.Get(t, path)
			}
			for i := range inspect.Outcomes() { // the first zones have one each
				api.Get(t, "/api/v1/zones/"+pagetest.Scope(i).Text())
			}
		})
	}
}
