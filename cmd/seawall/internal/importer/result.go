package importer

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/cuefile"
	"github.com/seawall-dev/seawall/diff"
)

// result is what an import has done.
type result struct {
	accounts  []imported
	tokens    tokenImport
	files     []cuefile.File // generated
	fixed     []cuefile.File // of every new repository
	summary   cuefile.Summary
	warnings  []desired.Problem
	skipped   int // zones that were declared already
	unmanaged []string
	left      []leftOut // accounts that could not be read
	notes     []string  // about accounts that the configuration leaves out
}

func (r *result) report(t *cli.Terminal, o Order) error {
	for _, f := range r.files {
		fmt.Fprintf(t.Err, "written  %s\n", filepath.Join(o.Dir, filepath.FromSlash(f.Name)))
	}
	if len(r.fixed) > 0 {
		fmt.Fprintf(t.Err, "written  %s\n", filepath.Join(o.Dir, "seawall"))
	}
	t.ShowProblems(t.Err, r.warnings)
	zones, missing := 0, len(r.left)
	for _, a := range r.accounts {
		zones += len(a.Zones)
		missing += len(a.missing) + a.rejected
	}
	if zones+missing == 0 && len(r.tokens.declared) == 0 {
		fmt.Fprintln(t.Out, "nothing to import")
	} else {
		fmt.Fprintf(t.Out, "imported %s of %s%s\n", cli.Plural(zones, "zone", "zones"), cli.Plural(len(r.accounts), "account", "accounts"), r.breakdown())
	}
	if text := r.deployText(o.NoDeploy); text != "" {
		fmt.Fprintln(t.Out, text)
	}
	if r.skipped > 0 {
		fmt.Fprintf(t.Out, "%s declared already: left as they are\n", cli.Plural(r.skipped, "zone is", "zones are"))
	}
	r.tokens.report(t)
	r.reportSkips(t)
	r.reportMissing(t, missing)
	if len(r.unmanaged) > 0 {
		fmt.Fprintf(t.Out, "\nnot managed by Seawall:\n")
		list(t, "  ", r.unmanaged)
	}
	if len(r.files) > 0 {
		fmt.Fprintf(t.Out, "\nNext: seawall validate %s, then: %s\n", o.Dir, o.Plan)
	}
	return cli.Attention(missing > 0 || len(r.tokens.left) > 0)
}

// mostOff bounds the lines about what is off: a skip rule of an account is in all its zones.
const mostOff = 20

// reportSkips names the skip rules by which something is off, and places in which none could
// be looked for.
func (r *result) reportSkips(t *cli.Terminal) {
	var (
		off      []string
		unlooked []diff.NotLookedAt
	)
	for _, a := range r.accounts {
		off, unlooked = append(off, a.skips.off()...), append(unlooked, a.skips.unlooked...)
	}
	list(t, "! ", off[:min(len(off), mostOff)])
	if more := len(off) - mostOff; more > 0 {
		fmt.Fprintf(t.Out, "! and %d more: search the files for \"IS OFF\" and \"ARE OFF\"\n", more)
	}
	if text := diff.NotLooked(unlooked); text != "" {
		fmt.Fprintf(t.Out, "note: %s\n", cli.OneLine(text))
	}
}

// reportMissing names what was not imported.
func (r *result) reportMissing(t *cli.Terminal, missing int) {
	list(t, "not imported: ", r.notes)
	if missing > 0 {
		fmt.Fprintf(t.Out, "\nnot imported:\n")
	}
	for _, l := range r.left {
		fmt.Fprintf(t.Out, "! account %s: %s\n", cli.OneLine(l.account), cli.OneLine(l.why))
	}
	for _, a := range r.accounts {
		if a.rejected > 0 {
			fmt.Fprintf(t.Out, "! account %s: %s: %s\n", a.Key, cli.Plural(a.rejected, "zone", "zones"), cli.OneLine(a.why))
		}
		for _, z := range a.missing {
			if z.Failed != "" {
				fmt.Fprintf(t.Out, "! %s / %s (%s): could not be read: %s\n", a.Key, cli.OneLine(z.Name), z.Zone, cli.OneLine(z.Failed))
			}
			for _, why := range z.Left {
				fmt.Fprintf(t.Out, "! %s / %s (%s): %s\n", a.Key, cli.OneLine(z.Name), z.Zone, cli.OneLine(why))
			}
		}
	}
}

// breakdown says how the zones are written.
func (r *result) breakdown() string {
	var parts []string
	if n := r.summary.Tiers; n > 0 {
		parts = append(parts, cli.Plural(n, "tier", "tiers"), cli.Plural(r.summary.Exceptions, "exception", "exceptions"))
	}
	if n := r.summary.Own; n > 0 {
		parts = append(parts, fmt.Sprintf("%d without a tier", n))
	}
	none := 0
	for _, a := range r.accounts {
		for _, z := range a.Zones {
			if len(z.Deployments) == 0 {
				none++
			}
		}
	}
	if none > 0 {
		parts = append(parts, fmt.Sprintf("%d without a deployment", none))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// list writes lines, each behind the same words.
func list(t *cli.Terminal, before string, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(t.Out, before+cli.OneLine(line))
	}
}
