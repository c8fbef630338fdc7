package forge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/reconcile"
)

// Account looks an account up by its name. One that there is not is [reconcile.ErrNoAccount].
func (f *Forge) Account(ctx context.Context, name string) (found reconcile.Account, err error) {
	doing := fmt.Sprintf("looking up the account %q", name)
	missing := name == "" || strings.ContainsAny(name, "/%?#\\ \t\n")
	if !missing {
		found, err = ask(ctx, f, doing, func(ctx context.Context) (reconcile.Account, error) {
			found, err := f.driver.account(ctx, name)
			if missing = errors.Is(err, reconcile.ErrNoAccount); missing {
				return found, nil
			}
			return found, err
		})
	}
	if err == nil && missing {
		err = fmt.Errorf("%s: %w", doing, reconcile.ErrNoAccount)
	}
	return found, err
}

// Access returns what an account may do in the project. Some forges tell only tokens that
// may manage it: that is [reconcile.AccessUnknown], and no error.
func (f *Forge) Access(ctx context.Context, a reconcile.Account) (reconcile.Access, error) {
	access, err := ask(ctx, f, fmt.Sprintf("reading what the account %q may do", a.Name), func(ctx context.Context) (reconcile.Access, error) {
		return f.driver.access(ctx, a)
	})
	switch {
	case errors.Is(err, ErrDenied):
		return reconcile.AccessUnknown, nil
	case err != nil:
		return reconcile.AccessUnknown, err
	}
	return access, nil
}

// Private reports whether only members see the project.
func (f *Forge) Private(ctx context.Context) (bool, error) {
	return ask(ctx, f, "reading whether the project is private", f.driver.private)
}

// Remarks lists the comments on a pull request, oldest first, without Seawall's own.
func (f *Forge) Remarks(ctx context.Context, pr int) ([]reconcile.Remark, error) {
	return ask(ctx, f, fmt.Sprintf("reading the comments of pull request %d", pr), func(ctx context.Context) (remarks []reconcile.Remark, err error) {
		me, err := f.me.get(ctx, f.token, f.driver.user)
		if err != nil {
			return nil, err
		}
		all, err := f.driver.comments(ctx, pr)
		for _, c := range all {
			if c.author != me {
				remarks = append(remarks, reconcile.Remark{Author: reconcile.Account{ID: c.author, Name: c.name}, Body: c.body})
			}
		}
		return remarks, err
	})
}

// accessOf is access by whether it is write access.
func accessOf(write bool) reconcile.Access {
	if write {
		return reconcile.AccessWrite
	}
	return reconcile.AccessRead
}
