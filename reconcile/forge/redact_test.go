package forge_test

import (
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/redact/redacttest"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/forge/forgetest"
)

// What is sent to a forge has no secret of this process in it.
func TestCommentsAndStatusesAreRedacted(t *testing.T) {
	const secret = "k8Jx-2vQ_pLm9ZtR4wYb7NcD1fGh"
	_ = edge.NewSecret(secret)
	search := redacttest.For(secret)
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headA})
		must.Do(t, f.Comment(t.Context(), 1, "<!-- seawall:plan -->", "the value is `"+redacttest.Echo(secret)+"`"))
		status := reconcile.CommitStatus{Context: "seawall/plan", State: reconcile.StatusFailure, Description: "it said " + secret}
		must.Do(t, f.Status(t.Context(), headA, status))
		comment, description := s.Comments(1)[0].Body, s.Statuses(headA)[0].Description
		for _, text := range []string{comment, description} {
			if found := search.In([]byte(text)); found != "" || !strings.Contains(text, "[secret]") {
				t.Errorf("%s in %q", found, text)
			}
		}
	})
}
