package demo

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/examples"
)

// checkedDay is the day for which the demo judges: some rules are past their
// end on it and others are announced.
const checkedDay = "2025-05-01"

// Check reports which calls that a folder of desired state declares are deprecated on a day,
// and fails as seawall deprecations check does.
type Check func(ctx context.Context, dir, day string) error

// Deprecations shows, in a temporary folder, what Seawall says of deprecated parts of the
// platform's API.
func Deprecations(ctx context.Context, t *cli.Terminal, check Check) error {
	d := demo{Terminal: t}
	return d.inFolder(func() error {
		return inTurn(ctx, func(ctx context.Context) error { return d.deprecations(ctx, check) }, d.travel)
	})
}

// deprecations shows which integrations of the example use deprecated features.
func (d *demo) deprecations(ctx context.Context, check Check) error {
	d.title("seawall deprecations check --at %s: which programs break, and when", checkedDay)
	files, err := fs.Sub(examples.Files, "integrations")
	if err != nil {
		return err
	}
	if err := os.CopyFS(d.path("integrations"), files); err != nil {
		return err
	}
	err = check(ctx, d.path("integrations"), checkedDay)
	var code cli.ExitError
	if err != nil && !errors.As(err, &code) {
		return err
	}
	return expect(code == 4, "an integration uses what has ended without replacement")
}
