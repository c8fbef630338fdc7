package forge

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Approvals lists who approves of a pull request with this head: the names of
// accounts, sorted, as the forge spells them (forges take upper and lower case
// for the same in a name, so compare with [strings.EqualFold]). It counts the
// last word of each reviewer, if that was a yes to this very commit and nobody
// dismissed it. The author's own does not count. Where the pull request has
// another head by now it is [ErrMoved].
func (f *Forge) Approvals(ctx context.Context, pr int, head string) (names []string, err error) {
	doing := fmt.Sprintf("asking who approves of pull request %d", pr)
	err = f.do(ctx, doing, func(ctx context.Context) error {
		r, err := f.driver.reviewed(ctx, pr)
		if err == nil && r.head != head {
			err = fmt.Errorf("%w from %.12s to %.12s", ErrMoved, head, r.head)
		}
		if err == nil {
			names = r.approvers()
		}
		return err
	})
	return names, err
}

func (r reviewed) approvers() (names []string) {
	last := map[string]review{}
	for _, each := range r.reviews {
		last[strings.ToLower(each.user)] = each
	}
	for name, each := range last {
		if name != "" && each.approves && each.commit == r.head && name != strings.ToLower(r.author) {
			names = append(names, each.user)
		}
	}
	slices.Sort(names)
	return names
}
