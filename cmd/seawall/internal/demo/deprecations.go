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

// deprecations shows which integrations of the example use deprecated features.
func (d *demo) deprecations(ctx context.Context) error {
	d.title("seawall deprecations check --at %s: which programs break, and when", checkedDay)
	files, err := fs.Sub(examples.Files, "integrations")
	if err != nil {
		return err
	}
	if err := os.CopyFS(d.path("integrations"), files); err != nil {
		return err
	}
	err = d.Check(ctx, d.path("integrations"), checkedDay)
	var code cli.ExitError
	if err != nil && !errors.As(err, &code) {
		return err
	}
	return expect(code == 4, "an integration uses what has ended without replacement")
}
