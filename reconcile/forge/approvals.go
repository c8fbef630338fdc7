package forge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// Standing returns what became of a pull request, and who approves of it, whichever head
// they saw: an approval of an earlier head that was not dismissed is among them. The
// author's own is not.
func (f *Forge) Standing(ctx context.Context, pr int) (reconcile.PullStanding, error) {
	return ask(ctx, f, fmt.Sprintf("reading the reviews of pull request %d", pr), func(ctx context.Context) (reconcile.PullStanding, error) {
		r, err := f.driver.reviewed(ctx, pr)
		return reconcile.PullStanding{State: r.state, Approvers: r.last(func(each review) bool { return each.stands })}, err
	})
}

// Approvals lists who approves of a pull request with this head, sorted by name. It counts the
// last word of each reviewer, if that was a yes to this very commit, given at a
// time or later, and nobody dismissed it. The time is by the forge's clock, which
// knows whole seconds; zero is any. The author's own does not count. Where the
// pull request has another head by now it is [ErrMoved].
func (f *Forge) Approvals(ctx context.Context, pr int, head string, since time.Time) ([]reconcile.Account, error) {
	return ask(ctx, f, fmt.Sprintf("reading the approvals of pull request %d", pr), func(ctx context.Context) ([]reconcile.Account, error) {
		r, err := f.driver.reviewed(ctx, pr)
		if err == nil && r.head != head {
			err = fmt.Errorf("%w from %.12s to %.12s", ErrMoved, head, r.head)
		}
		since = since.Truncate(time.Second)
		return r.last(func(each review) bool { return each.approves && each.commit == r.head && !each.at.Before(since) }), err
	})
}

// last are the accounts whose last review is one that says yes, the author's aside.
func (r reviewed) last(yes func(review) bool) (accounts []reconcile.Account) {
	last := map[reconcile.Account]review{}
	for _, each := range r.reviews {
		last[reconcile.Account{ID: each.user.ID, Name: strings.ToLower(each.user.Name)}] = each
	}
	for key, each := range last {
		if key.Name != "" && yes(each) && key.Name != strings.ToLower(r.author) {
			accounts = append(accounts, each.user)
		}
	}
	slices.SortFunc(accounts, func(a, b reconcile.Account) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return accounts
}
