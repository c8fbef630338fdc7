package forge_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/forge/forgetest"
)

func TestStatus(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		states := []reconcile.CommitState{reconcile.StatusPending, reconcile.StatusPending, reconcile.StatusSuccess, reconcile.StatusSuccess, reconcile.StatusFailure, reconcile.StatusError}
		for _, state := range states {
			must.Do(t, f.Status(t.Context(), headA, reconcile.CommitStatus{Context: "seawall/apply", State: state, Description: "3 of 7 zones", URL: "https://edge.example/", Ref: "refs/x"}))
		}
		ref, failure, problem := "", "failure", "error"
		if s.Kind == forge.GitLab {
			ref, failure, problem = "refs/x", "failed", "failed"
		}
		var want []forgetest.Status
		for _, state := range []string{"pending", "success", failure, problem} {
			want = append(want, forgetest.Status{Commit: headA, Context: "seawall/apply", State: state, Description: "3 of 7 zones", URL: "https://edge.example/", Ref: ref})
		}
		if diff := cmp.Diff(want, s.Statuses(headA)); diff != "" {
			t.Errorf("statuses (-want +got):\n%s", diff)
		}
	})
}

// After a restart the forge has a status that the process knows nothing of.
func TestStatusAfterRestart(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		pending := reconcile.CommitStatus{Context: "seawall/plan", State: reconcile.StatusPending}
		for _, f := range []*forge.Forge{f, client(t, s.Config())} {
			if err := f.Status(t.Context(), headA, pending); err != nil {
				t.Errorf("pending: %v", err)
			}
		}
	})
}

// Whatever differs is sent: commit, context, text, address.
func TestStatusesApart(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		plain := reconcile.CommitStatus{Context: "seawall/plan", State: reconcile.StatusSuccess, Description: "a"}
		for _, each := range []struct {
			commit string
			change func(*reconcile.CommitStatus)
		}{
			{headA, func(*reconcile.CommitStatus) {}},
			{headC, func(*reconcile.CommitStatus) {}},
			{headA, func(s *reconcile.CommitStatus) { s.Context = "seawall/apply" }},
			{headA, func(s *reconcile.CommitStatus) { s.Description = "b" }},
			{headA, func(s *reconcile.CommitStatus) { s.URL = "https://edge.example" }},
		} {
			status := plain
			each.change(&status)
			must.Do(t, f.Status(t.Context(), each.commit, status))
		}
		if a, c := len(s.Statuses(headA)), len(s.Statuses(headC)); a != 4 || c != 1 {
			t.Errorf("%d and %d statuses arrived, want 4 and 1", a, c)
		}
	})
}

func TestStatusIsShort(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		must.Do(t, f.Status(t.Context(), headA, reconcile.CommitStatus{Context: "c", State: reconcile.StatusSuccess, Description: strings.Repeat("é\n", 200)}))
		got := s.Statuses(headA)[0].Description
		if utf8.RuneCountInString(got) != 140 || strings.Contains(got, "\n") || !strings.HasSuffix(got, "…") {
			t.Errorf("got %q", got)
		}
	})
}

func TestStatusMistakes(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		for want, test := range map[string]struct {
			commit string
			status reconcile.CommitStatus
		}{
			"is not a commit":                      {"../../issues", reconcile.CommitStatus{Context: "c", State: reconcile.StatusSuccess}},
			"is not a commit status":               {headA, reconcile.CommitStatus{Context: "c", State: "great"}},
			"the context of the status is missing": {headA, reconcile.CommitStatus{State: reconcile.StatusSuccess}},
		} {
			if err := f.Status(t.Context(), test.commit, test.status); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		if sent := s.Requests(); len(sent) > 0 {
			t.Errorf("%q was sent", sent)
		}
	})
}

// A status that the forge refused is sent again.
func TestStatusAgain(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		status := reconcile.CommitStatus{Context: "c", State: reconcile.StatusSuccess}
		s.Break(answer(422, nil, `{"message":"No commit found for SHA"}`))
		if err := f.Status(t.Context(), headA, status); err == nil || !strings.Contains(err.Error(), "No commit found") {
			t.Errorf("got %v", err)
		}
		s.Break(nil)
		if err := f.Status(t.Context(), headA, status); err != nil || len(s.Statuses(headA)) != 1 {
			t.Errorf("got %v", err)
		}
	})
}
