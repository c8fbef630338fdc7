// Package deprecations is seawall deprecations check: it reads files, folders, standard input
// and declared integrations, and reports which calls are in the deprecation calendar. What
// recognises calls in files is edge/deprecation/scan; what groups and writes findings is
// edge/deprecation/report.
package deprecations

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/trusted"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/deprecation/report"
	"github.com/seawall-dev/seawall/edge/deprecation/scan"
)

// Formats lists the names of the formats that --format takes.
func Formats() (names []string) {
	for _, f := range scan.Formats {
		names = append(names, string(f))
	}
	return names
}

// Check is one run of the command.
type Check struct {
	*cli.Terminal
	Flags
	Load             Load
	Format, Suppress string
	Hosts            []string // that count beside the platform's
	AnyHost, Strict  bool
	Fix, Yes         bool

	day       time.Time
	matcher   *deprecation.Matcher
	clients   deprecation.Clients
	collector *report.Collector
	fixable   map[string]bool // files in which something may be rewritten
	inputs    []report.Input
	failed    []error
}

// CheckFolder checks the integrations that a folder of desired state declares, as of a day.
func CheckFolder(ctx context.Context, t *cli.Terminal, load Load, dir, day string) error {
	c := Check{Terminal: t, Load: load, Flags: Flags{at: day, Dir: dir, Output: "text"}}
	return c.Run(ctx, nil)
}

// Run checks the inputs that args name, and shows the report. The error may be an exit
// status.
func (c *Check) Run(ctx context.Context, args []string) error {
	if err := c.checkUsage(args); err != nil {
		return err
	}
	state, made, err := c.prepare(ctx)
	if err != nil {
		return err
	}
	c.integrations(state)
	for _, name := range args {
		if err := c.input(ctx, name); err != nil {
			return err
		}
	}
	if len(c.failed) == 1 && len(args) == 1 && c.Dir == "" {
		return c.failed[0] // nothing was read: there is nothing to report
	}
	r := c.collector.Report(c.matcher.Calendar())
	r.Inputs, r.Corrections = c.inputs, made
	return c.conclude(ctx, r)
}

func (c *Check) checkUsage(args []string) error {
	for _, host := range c.Hosts {
		if host == "" || strings.ContainsAny(host, "/@ ") { // it would match nothing, without a word
			return cli.Fail(fmt.Errorf("--host %q is not the name of a host", host), "write it as gateway.example.com or *.example.com, without https:// and a path")
		}
	}
	if c.Format != "" {
		if _, err := scan.ParseFormat(c.Format); err != nil {
			return fmt.Errorf("--format: %w", err)
		}
	}
	switch i := slices.Index(args, "-"); {
	case c.Fix && c.Output != "text":
		return cli.Fail(errors.New("--fix shows a diff, which -o "+c.Output+" has no place for"), "run it once for the report and once with --fix")
	case c.Yes && !c.Fix:
		return errors.New("--yes is for --fix")
	case len(args) == 0 && c.Dir == "":
		return cli.Fail(errors.New("there is nothing to check"),
			"name files, folders of source code, or - for standard input",
			"or name a repository of desired state with --dir, to check the integrations it declares")
	case i >= 0 && slices.Contains(args[i+1:], "-"):
		return errors.New("standard input can be read only once: - is given twice")
	}
	return nil
}

// prepare reads everything but the inputs.
func (c *Check) prepare(ctx context.Context) (desired.State, []deprecation.Correction, error) {
	var err error
	if c.day, err = c.Day(time.Now); err != nil {
		return desired.State{}, nil, err
	}
	calendar, made, state, err := CalendarOf(ctx, c.Terminal, c.Load, c.Dir)
	if err != nil {
		return state, nil, err
	}
	suppressions, err := readSuppressions(c.Suppress, calendar)
	if err != nil {
		return state, nil, err
	}
	c.collector = report.NewCollector(c.day, suppressions)
	c.fixable = map[string]bool{}
	if c.matcher, err = deprecation.NewMatcher(calendar); err != nil {
		return state, made, err
	}
	c.clients, err = schema.Clients()
	return state, made, err
}

// maxSuppressions bounds a file of suppressions, in bytes.
const maxSuppressions = 1 << 20

func readSuppressions(file string, calendar deprecation.Calendar) ([]report.Suppression, error) {
	if file == "" {
		return nil, nil
	}
	data, err := trusted.ReadSmall(file, maxSuppressions)
	if err != nil {
		return nil, cli.Fail(fmt.Errorf("reading the suppressions: %w", err), "--suppress names a file with lines: RULE WHERE EXPIRES REASON")
	}
	rules := []string{}
	for _, r := range calendar.Rules {
		rules = append(rules, r.ID)
	}
	suppressions, mistakes := report.ParseSuppressions(string(data), rules)
	if len(mistakes) == 0 {
		return suppressions, nil
	}
	var problems []desired.Problem
	for _, m := range mistakes {
		problems = append(problems, desired.Problem{
			Origin: desired.Origin{File: file, Line: m.Line, Column: m.Column}, Message: m.Message, Hint: m.Hint,
		})
	}
	return nil, &cli.FileError{Summary: fmt.Sprintf("%s: %s in the suppressions", file, cli.Plural(len(mistakes), "mistake", "mistakes")), Problems: problems}
}

// integrations looks at what a repository declares.
func (c *Check) integrations(state desired.State) {
	calls := 0
	for _, i := range state.Integrations {
		for _, call := range i.Calls {
			calls++
			where := deprecation.Where{File: call.Origin.File, Line: call.Origin.Line, Integration: i.Name}
			req := call.Request()
			c.collector.Add(c.matcher.Match(req, c.day), report.Seen{Request: req, Where: where, Owner: i.Owner})
		}
	}
	if c.Dir != "" {
		c.inputs = append(c.inputs, report.Input{Name: c.Dir, Format: "desired state", Calls: calls})
	}
}

// conclude writes the report, tells what could not be read, and finds the exit
// code.
func (c *Check) conclude(ctx context.Context, r report.Report) error {
	err := c.ShowAs(c.Output, cli.Forms{
		"json": r.JSON, "markdown": r.Markdown, "junit": r.JUnit,
		"sarif": func(w io.Writer) error { return r.SARIF(w, cli.ThisVersion().Version) },
		"text":  func(w io.Writer) error { return r.Text(w, c.ColourOut) },
	})
	if err != nil {
		return err
	}
	for _, in := range r.Inputs {
		c.tellSkipped(in)
	}
	for _, err := range c.failed {
		c.ShowError(err)
	}
	if c.Fix {
		if err := c.rewrite(ctx); err != nil {
			return err
		}
	}
	if len(c.failed) > 0 || c.Strict && r.Counts().Skipped > 0 {
		return cli.ExitError(1)
	}
	return cli.ExitWith(r.ExitCode())
}

// tellSkipped says what of an input was not understood: a person who reads
// "nothing" must know of what.
func (c *Check) tellSkipped(in report.Input) {
	if in.OtherHosts > 0 {
		fmt.Fprintf(c.Err, "%s: %s to other hosts not counted (--host adds a host, --any-host counts all)\n", cli.OneLine(in.Name), cli.Plural(in.OtherHosts, "call", "calls"))
	}
	if in.Skipped == 0 {
		return
	}
	fmt.Fprintf(c.Err, "%s %s: %s could not be read and %s skipped\n", c.Red("warning:"), cli.OneLine(in.Name),
		cli.Plural(in.Skipped, "place", "places"), map[bool]string{true: "was", false: "were"}[in.Skipped == 1])
	for _, u := range in.Unread {
		fmt.Fprintf(c.Err, "    %s: %s could not be read as that; the strings were searched\n", u.As, cli.Plural(u.Files, "file", "files"))
	}
	for _, s := range in.Skips[:min(len(in.Skips), 3)] {
		at := in.Name
		if s.File != "" {
			at = path.Join(in.Name, s.File)
		}
		if s.Line > 0 {
			at += fmt.Sprintf(":%d", s.Line)
		}
		fmt.Fprintf(c.Err, "    %s: %s\n", cli.OneLine(at), cli.OneLine(s.Reason))
	}
}
