package deprecations

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/moby/sys/atomicwriter"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired/trusted"
	"github.com/seawall-dev/seawall/edge/deprecation/fix"
)

// maxFixed bounds a file that is rewritten, in bytes.
const maxFixed = 4 << 20

// rewritten is a file with what it becomes.
type rewritten struct {
	name          string
	before, after []byte
	fixed         int
}

// rewrite shows what can be rewritten mechanically in the files that were found, as a
// diff, and writes it where a person or --yes agrees.
func (c *Check) rewrite(ctx context.Context) error {
	files, left, err := c.rewrites()
	if err != nil {
		return err
	}
	fixed := 0
	for _, f := range files {
		fixed += f.fixed
		fmt.Fprintf(c.Out, "\n%s", diff.Diff(filepath.ToSlash(f.name), f.before, filepath.ToSlash(f.name)+" (rewritten)", f.after))
	}
	if left > 0 {
		fmt.Fprintf(c.Err, "%s left: no change of the text could be proved to make the request that is proposed\n", cli.Plural(left, "rewrite is", "rewrites are"))
	}
	if fixed == 0 {
		fmt.Fprintln(c.Err, "nothing can be rewritten mechanically in curl commands, .http files and .tf files")
		return nil
	}
	what := fmt.Sprintf("%s in %s", cli.Plural(fixed, "rewrite", "rewrites"), cli.Plural(len(files), "file", "files"))
	if !c.Yes && !c.Interactive() {
		fmt.Fprintf(c.Err, "%s not written; --yes writes them\n", what)
		return nil
	}
	if err := cli.Confirm(ctx, c.Terminal, "Write "+what+"?", c.Yes); err != nil {
		return err
	}
	for _, f := range files {
		if err := f.write(); err != nil {
			return fmt.Errorf("writing %s: %w", f.name, err)
		}
	}
	fmt.Fprintf(c.Err, "%s written\n", what)
	return nil
}

// rewrites are the files that change, and how many rewrites could not be made.
func (c *Check) rewrites() (files []rewritten, left int, err error) {
	one := c.search()
	for _, name := range slices.Sorted(maps.Keys(c.fixable)) {
		text, err := trusted.ReadSmall(name, maxFixed)
		if err != nil {
			return nil, 0, fmt.Errorf("reading %s again: %w", name, err)
		}
		one.Open = beside(name)
		made, err := fix.Text(one, name, string(text))
		if err != nil {
			return nil, 0, err
		}
		left += made.Left
		if made.Fixed > 0 {
			files = append(files, rewritten{name, text, []byte(made.Text), made.Fixed})
		}
	}
	return files, left, nil
}

var errChanged = errors.New("it has changed since it was read")

// write replaces the file at once, with its mode; a symbolic link stays one.
func (f rewritten) write() error {
	name, err := filepath.EvalSymlinks(f.name)
	if err != nil {
		return err
	}
	now, err := trusted.ReadSmall(name, maxFixed)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, f.before) {
		return errChanged
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	return atomicwriter.WriteFile(name, f.after, info.Mode().Perm())
}
