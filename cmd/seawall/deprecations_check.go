package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/deprecation/report"
	"github.com/seawall-dev/seawall/edge/deprecation/scan"
)

func newDeprecationsCheck(t *terminal) *cobra.Command {
	c := checking{terminal: t, fixable: map[string]bool{}}
	cmd := &cobra.Command{
		Use:   "check [FILE|DIR|-]...",
		Short: "Find calls to deprecated API features",
		Long: `Look for calls of the platform's API that are in the deprecation calendar:

  FILE        a HAR capture, an access log (common, combined, JSON lines), a script
              with curl, wget or HTTPie, an OpenAPI description, a Terraform plan or
              state as JSON, a Terraform configuration (.tf, .tf.json), requests of a
              REST client (.http), a collection, recorded interactions, a playbook, a
              pipeline, a notebook, Markdown, source code, or lines
              METHOD PATH-or-URL [JSON body]. The format is recognised; gzip and bzip2
              are unpacked; logs are read in constant memory.
  -           the same, from standard input
  DIR         a folder: each file as above, and other texts for string literals that
              are such paths
  --dir DIR   a repository of desired state: what it declares under integration:,
              with its corrections of the calendar

Calls count if they go to a host of the platform, below its base path on any
host, or if the host is not known. --host adds hosts, --any-host counts all.

Each rule is reported once, the most severe first, with the places where it
matches and its replacement. Where the reference gives the new request, that is
shown too. The report shows the path of an address; of the query and the body it
shows only the members that the rule names.

A file of suppressions has one per line; "#" starts a comment:

  RULE WHERE EXPIRES REASON
  firewall-rules-and-filters scripts/old/** 2027-01-01 goes with OPS-12

WHERE is a glob that matches files or names of integrations. A suppression has no
effect from its expiry day on. The report lists suppressions that have expired or
match nothing.

Exit codes, the highest that applies, without suppressed calls: 0 none or announced,
2 deprecated, 3 past its end, 4 past its end without replacement. 1 failure, or
an input could not be read; with --strict also if a file or a line of one could
not be read.`,
		Example: `  seawall deprecations check access.log
  zstdcat access.log.zst | seawall deprecations check -
  seawall deprecations check src scripts/*.sh --suppress known.txt
  seawall deprecations check --dir . -o markdown
  seawall deprecations check src --at 2027-01-01 -o sarif > deprecations.sarif
  terraform show -json plan.out | seawall deprecations check --format terraform -`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args) },
	}
	cmd.Flags().StringVar(&c.dir, "dir", "", "check the integrations that the desired state in `DIR` declares, with its calendar")
	cmd.Flags().StringVar(&c.format, "format", "", "read files as `FORMAT` instead of recognising it: "+wordsOf(formats()))
	cmd.Flags().StringVar(&c.suppress, "suppress", "", "`FILE` of suppressions, each with a reason and an expiry")
	cmd.Flags().StringArrayVar(&c.addHosts, "host", nil, "count calls to `HOST` too, such as gateway.example.com or *.example.com (repeatable)")
	cmd.Flags().BoolVar(&c.anyHost, "any-host", false, "count calls to any host")
	cmd.Flags().BoolVar(&c.strict, "strict", false, "exit with 1 if a file, or a line of one, could not be read as what it is")
	cmd.Flags().BoolVar(&c.fixes, "fix", false, "show as a diff what can be rewritten mechanically in curl commands, .http and .tf files, and ask before it is written")
	cmd.Flags().BoolVar(&c.yes, "yes", false, "with --fix, write without asking")
	_ = cmd.MarkFlagFilename("suppress")
	complete(cmd, "format", formats())
	c.addTo(cmd, "text", "json", "markdown", "sarif", "junit")
	return cmd
}

func formats() (names []string) {
	for _, f := range scan.Formats {
		names = append(names, string(f))
	}
	return names
}

// checking is one run of the command.
type checking struct {
	*terminal
	almanac
	format, suppress string
	addHosts         []string
	anyHost, strict  bool
	fixes, yes       bool

	day       time.Time
	matcher   *deprecation.Matcher
	clients   deprecation.Clients
	fixable   map[string]bool // files in which something may be rewritten
	collector *report.Collector
	inputs    []report.Input
	failed    []error
}

func (c *checking) run(cmd *cobra.Command, args []string) error {
	if err := c.checkUsage(args); err != nil {
		return err
	}
	state, made, err := c.prepare(cmd)
	if err != nil {
		return err
	}
	c.integrations(state)
	for _, name := range args {
		if err := c.input(cmd, name); err != nil {
			return err
		}
	}
	if len(c.failed) == 1 && len(args) == 1 && c.dir == "" {
		return c.failed[0] // nothing was read: there is nothing to report
	}
	r := c.collector.Report(c.matcher.Calendar())
	r.Inputs, r.Corrections = c.inputs, made
	return c.conclude(cmd.Context(), r)
}

func (c *checking) checkUsage(args []string) error {
	if err := oneOf("--output", c.output, c.outputs...); err != nil {
		return err
	}
	if c.format != "" {
		if _, err := scan.ParseFormat(c.format); err != nil {
			return fail(fmt.Errorf("--format: %w", err))
		}
	}
	switch i := slices.Index(args, "-"); {
	case c.fixes && c.output != "text":
		return fail(errors.New("--fix shows a diff, which -o "+c.output+" has no place for"), "run it once for the report and once with --fix")
	case c.yes && !c.fixes:
		return fail(errors.New("--yes is for --fix"))
	case len(args) == 0 && c.dir == "":
		return fail(errors.New("there is nothing to check"),
			"name files, folders of source code, or - for standard input",
			"or name a repository of desired state with --dir, to check the integrations it declares")
	case i >= 0 && slices.Contains(args[i+1:], "-"):
		return fail(errors.New("standard input can be read only once: - is given twice"))
	}
	return nil
}

// prepare reads everything but the inputs.
func (c *checking) prepare(cmd *cobra.Command) (desired.State, []deprecation.Correction, error) {
	var err error
	if c.day, err = c.almanac.day(time.Now); err != nil {
		return desired.State{}, nil, err
	}
	calendar, made, state, err := c.calendar(cmd, c.dir)
	if err != nil {
		return state, nil, err
	}
	suppressions, err := readSuppressions(c.suppress, calendar)
	if err != nil {
		return state, nil, err
	}
	c.collector = report.NewCollector(c.day, suppressions)
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
	data, err := readSmall(file, maxSuppressions)
	if err != nil {
		return nil, fail(fmt.Errorf("reading the suppressions: %w", err), "--suppress names a file with lines: RULE WHERE EXPIRES REASON")
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
	return nil, &badFile{fmt.Sprintf("%s: %s in the suppressions", file, plural(len(mistakes), "mistake", "mistakes")), problems}
}

// integrations looks at what a repository declares.
func (c *checking) integrations(state desired.State) {
	calls := 0
	for _, i := range state.Integrations {
		for _, call := range i.Calls {
			calls++
			where := deprecation.Where{File: call.Origin.File, Line: call.Origin.Line, Integration: i.Name}
			req := call.Request()
			c.collector.Add(c.matcher.Match(req, c.day), report.Seen{Request: req, Where: where, Owner: i.Owner})
		}
	}
	if c.dir != "" {
		c.inputs = append(c.inputs, report.Input{Name: c.dir, Format: "desired state", Calls: calls})
	}
}

// conclude writes the report, tells what could not be read, and finds the exit
// code.
func (c *checking) conclude(ctx context.Context, r report.Report) error {
	if err := c.show(r); err != nil {
		return err
	}
	for _, in := range r.Inputs {
		c.tellSkipped(in)
	}
	for _, err := range c.failed {
		c.tell(err)
	}
	if c.fixes {
		if err := c.fix(ctx); err != nil {
			return err
		}
	}
	if len(c.failed) > 0 || c.strict && r.Counts().Skipped > 0 {
		return exitStatus(1)
	}
	return exitWith(r.ExitCode())
}

func (c *checking) show(r report.Report) error {
	switch c.output {
	case "json":
		return r.JSON(c.out)
	case "markdown":
		return r.Markdown(c.out)
	case "sarif":
		return r.SARIF(c.out, thisVersion().Version)
	case "junit":
		return r.JUnit(c.out)
	}
	return r.Text(c.out, c.colourOut)
}

// tellSkipped says what of an input was not understood: a person who reads
// "nothing" must know of what.
func (c *checking) tellSkipped(in report.Input) {
	if in.OtherHosts > 0 {
		fmt.Fprintf(c.err, "%s: %s to other hosts not counted (--host adds a host, --any-host counts all)\n", oneLine(in.Name), plural(in.OtherHosts, "call", "calls"))
	}
	if in.Skipped == 0 {
		return
	}
	fmt.Fprintf(c.err, "%s %s: %s could not be read and %s skipped\n", c.red("warning:"), oneLine(in.Name),
		plural(in.Skipped, "place", "places"), map[bool]string{true: "was", false: "were"}[in.Skipped == 1])
	for _, u := range in.Unread {
		fmt.Fprintf(c.err, "    %s: %s could not be read as that; the strings were searched\n", u.As, plural(u.Files, "file", "files"))
	}
	for _, s := range in.Skips[:min(len(in.Skips), 3)] {
		at := in.Name
		if s.File != "" {
			at = path.Join(in.Name, s.File)
		}
		if s.Line > 0 {
			at += fmt.Sprintf(":%d", s.Line)
		}
		fmt.Fprintf(c.err, "    %s: %s\n", oneLine(at), oneLine(s.Reason))
	}
}
