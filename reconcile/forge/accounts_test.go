package forge_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/forge/forgetest"
)

func TestAccounts(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		ana := reconcile.Account{ID: s.ID("ana"), Name: "ana"}
		if got, err := f.Account(t.Context(), "ana"); err != nil || got != ana {
			t.Errorf("got %v, %v, want %v", got, err, ana)
		}
		if got, err := f.Account(t.Context(), "ANA"); err != nil || got.ID != ana.ID {
			t.Errorf("got %v, %v, want %v", got, err, ana)
		}
		s.Missing("nobody")
		for _, name := range []string{"nobody", "a/b", "", "../user"} {
			if got, err := f.Account(t.Context(), name); !errors.Is(err, reconcile.ErrNoAccount) {
				t.Errorf("%q: got %v, %v", name, got, err)
			}
		}
	})
}

// Access is that of an account, not of whoever has its name by now.
func TestAccess(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		s.Restrict("mallory")
		ana, mallory := reconcile.Account{ID: s.ID("ana"), Name: "ana"}, reconcile.Account{ID: s.ID("mallory"), Name: "mallory"}
		want := func(a reconcile.Account, want reconcile.Access) {
			t.Helper()
			if got, err := f.Access(t.Context(), a); err != nil || got != want {
				t.Errorf("%v: got %v, %v, want %v", a, got, err, want)
			}
		}
		want(ana, reconcile.AccessWrite)
		want(mallory, reconcile.AccessRead)
		if s.Kind != forge.GitLab { // which is asked by id alone
			want(reconcile.Account{ID: 4711, Name: "ana"}, reconcile.AccessRead)
		}
		s.Secretive()
		want(ana, reconcile.AccessUnknown)
	})
}

func TestPrivate(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		if private, err := f.Private(t.Context()); err != nil || private {
			t.Errorf("got %v, %v", private, err)
		}
		s.MakePrivate()
		if private, err := f.Private(t.Context()); err != nil || !private {
			t.Errorf("got %v, %v", private, err)
		}
	})
}

// Standing is what a pull request came to, and who stands by an approval of any head.
func TestStanding(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headA, Labels: []string{"seawall"}})
		s.Approve(1, "bob")
		gone := s.Review(1, "zoe", "APPROVED")
		s.Set(1, func(p *forgetest.Pull) { p.Head = headC })
		want := func(state reconcile.PullState, names ...string) {
			t.Helper()
			got, err := f.Standing(t.Context(), 1)
			var by []string
			for _, a := range got.Approvers {
				if by = append(by, a.Name); a.ID != s.ID(a.Name) {
					t.Errorf("%s has the id %d", a.Name, a.ID)
				}
			}
			if d := cmp.Diff(names, by); err != nil || got.State != state || d != "" {
				t.Errorf("got %v, %v:\n%s", got, err, d)
			}
		}
		want(reconcile.PullOpen, "bob", "zoe")
		s.Dismiss(gone)
		want(reconcile.PullOpen, "bob")
		s.Review(1, "bob", "CHANGES_REQUESTED")
		want(reconcile.PullOpen)
		for state, want := range map[string]reconcile.PullState{"merged": reconcile.PullMerged, "closed": reconcile.PullClosed} {
			s.Set(1, func(p *forgetest.Pull) { p.State = state })
			if got, err := f.Standing(t.Context(), 1); err != nil || got.State != want {
				t.Errorf("%s: got %v, %v", state, got, err)
			}
		}
	})
}

func TestLabelsAndRemarks(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headA, Fork: true, Labels: []string{"bug", "seawall"}})
		s.Say(1, "bob", "/seawall plan")
		s.Say(1, forgetest.Me, "our own")
		open, err := f.PullRequests(t.Context())
		if err != nil || len(open) != 1 || !cmp.Equal(open[0].Labels, []string{"bug", "seawall"}) || open[0].AuthorID != s.ID("ana") {
			t.Errorf("got %+v, %v", open, err)
		}
		remarks, err := f.Remarks(t.Context(), 1)
		if want := []reconcile.Remark{{Author: reconcile.Account{ID: s.ID("bob"), Name: "bob"}, Body: "/seawall plan"}}; err != nil || !cmp.Equal(remarks, want) {
			t.Errorf("got %+v, %v", remarks, err)
		}
	})
}
