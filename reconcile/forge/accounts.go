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
	if name == "" || strings.ContainsAny(name, "/%?#\\ \t\n") {
		return reconcile.Account{}, fmt.Errorf("looking up the account %q: %w", name, reconcile.ErrNoAccount)
	}
	missing := false
	err = f.do(ctx, fmt.Sprintf("looking up the account %q", name), func(ctx context.Context) error {
		found, err = f.driver.account(ctx, name)
		if missing = errors.Is(err, reconcile.ErrNoAccount); missing {
			return nil
		}
		return err
	})
	if err == nil && missing {
		err = fmt.Errorf("looking up the account %q: %w", name, reconcile.ErrNoAccount)
	}
	return found, err
}

// Access returns what an account may do in the project. Some forges tell only tokens that
// may manage it: that is [reconcile.AccessUnknown], and no error.
func (f *Forge) Access(ctx context.Context, a reconcile.Account) (access reconcile.Access, err error) {
	err = f.do(ctx, fmt.Sprintf("reading what the account %q may do", a.Name), func(ctx context.Context) error {
		access, err = f.driver.access(ctx, a)
		return err
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
func (f *Forge) Private(ctx context.Context) (private bool, err error) {
	err = f.do(ctx, "reading whether the project is private", func(ctx context.Context) error {
		private, err = f.driver.private(ctx)
		return err
	})
	return private, err
}

// Remarks lists the comments on a pull request, oldest first, without Seawall's own.
func (f *Forge) Remarks(ctx context.Context, pr int) (remarks []reconcile.Remark, err error) {
	err = f.do(ctx, fmt.Sprintf("reading the comments of pull request %d", pr), func(ctx context.Context) error {
		me, err := f.me.get(ctx, f.token, f.driver.user)
		if err != nil {
			return err
		}
		all, err := f.driver.comments(ctx, pr)
		for _, c := range all {
			if c.author != me {
				remarks = append(remarks, reconcile.Remark{Author: reconcile.Account{ID: c.author, Name: c.name}, Body: c.body})
			}
		}
		return err
	})
	return remarks, err
}

// accessOf is access by whether it is write access.
func accessOf(write bool) reconcile.Access {
	if write {
		return reconcile.AccessWrite
	}
	return reconcile.AccessRead
}
