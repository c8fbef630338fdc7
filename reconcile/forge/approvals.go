package forge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Approvals lists who approves of a pull request with this head: the names of
// accounts, sorted, as the forge spells them (forges take upper and lower case
// for the same in a name, so compare with [strings.EqualFold]). It counts the
// last word of each reviewer, if that was a yes to this very commit, given at a
// time or later, and nobody dismissed it. The time is by the forge's clock, which
// knows whole seconds; zero is any. The author's own does not count. Where the
// pull request has another head by now it is [ErrMoved].
func (f *Forge) Approvals(ctx context.Context, pr int, head string, since time.Time) (names []string, err error) {
	doing := fmt.Sprintf("reading the approvals of pull request %d", pr)
	err = f.do(ctx, doing, func(ctx context.Context) error {
		r, err := f.driver.reviewed(ctx, pr)
		if err == nil && r.head != head {
			err = fmt.Errorf("%w from %.12s to %.12s", ErrMoved, head, r.head)
		}
		if err == nil {
			names = r.approvers(since.Truncate(time.Second))
		}
		return err
	})
	return names, err
}

func (r reviewed) approvers(since time.Time) (names []string) {
	last := map[string]review{}
	for _, each := range r.reviews {
		last[strings.ToLower(each.user)] = each
	}
	for name, each := range last {
		if name != "" && each.approves && each.commit == r.head && !each.at.Before(since) && name != strings.ToLower(r.author) {
			names = append(names, each.user)
		}
	}
	slices.Sort(names)
	return names
}
