package forge_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/forge/forgetest"
)

func TestApprovals(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headA})
		s.Approve(1, "early")
		s.Approve(1, "faithful")
		s.Set(1, func(p *forgetest.Pull) { p.Head = headC })
		s.Approve(1, "zoe")
		s.Approve(1, "bob")
		s.Approve(1, "faithful")
		s.Approve(1, "ana") // of her own
		s.Approve(1, "fickle")
		s.Review(1, "fickle", "CHANGES_REQUESTED")
		s.Review(1, "chatty", "COMMENTED")
		s.Review(1, "bob", "COMMENTED") // takes nothing back
		s.Dismiss(s.Review(1, "dismissed", "APPROVED"))
		got, err := f.Approvals(t.Context(), 1, headC, time.Time{})
		must.Do(t, err)
		var names []string
		for _, a := range got {
			names = append(names, a.Name)
		}
		if diff := cmp.Diff([]string{"bob", "faithful", "zoe"}, names); diff != "" {
			t.Errorf("approvals (-want +got):\n%s", diff)
		}
	})
}

// A head that comes back must be approved again: nobody knows what the approval
// of before had in view.
func TestApprovalsOfAReturningHead(t *testing.T) {
	s := forgetest.Start(t, forge.GitLab, "acme/edge", "")
	f := client(t, s.Config())
	s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headA})
	s.Approve(1, "bob")
	for _, head := range []string{headC, headA} {
		s.Set(1, func(p *forgetest.Pull) { p.Head = head })
	}
	if got, err := f.Approvals(t.Context(), 1, headA, time.Time{}); err != nil || len(got) > 0 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestApprovalsOfAnotherHead(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headC})
		s.Approve(1, "bob", headA)
		got, err := f.Approvals(t.Context(), 1, headA, time.Time{})
		if !errors.Is(err, forge.ErrMoved) || got != nil {
			t.Errorf("got %v, %v", got, err)
		}
		if _, err := f.Approvals(t.Context(), 99, headA, time.Time{}); !errors.Is(err, forge.ErrDenied) {
			t.Errorf("no such pull request: got %v", err)
		}
	})
}

// An approval without a time is not taken for one of this head, nor for none.
func TestApprovalsWithoutTime(t *testing.T) {
	s := forgetest.Start(t, forge.GitLab, "acme/edge", "")
	s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headA})
	s.Break(onPath("/approvals", answer(200, nil, `{"approved_by":[{"user":{"id":1,"username":"bob"}}]}`)))
	got, err := client(t, s.Config()).Approvals(t.Context(), 1, headA, time.Time{})
	if err == nil || got != nil || !strings.Contains(err.Error(), "does not report when bob approved") {
		t.Errorf("got %v, %v", got, err)
	}
}

// An approval from before a time is one of something else.
func TestApprovalsSince(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headA})
		s.Approve(1, "bob")
		at := s.Now()
		for since, want := range map[time.Time]int{{}: 1, at: 1, at.Add(999 * time.Millisecond): 1, at.Add(time.Second): 0} {
			if got, err := f.Approvals(t.Context(), 1, headA, since); err != nil || len(got) != want {
				t.Errorf("since %v: got %v, %v", since.Sub(at), got, err)
			}
		}
	})
}
