// Package doctor checks the setup of Seawall: configuration, git, credentials, clock, state
// folder, sinks and forge. Each check is a function from settings to findings. None of them
// writes anywhere, and each has a time limit.
package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
)

// checkState is the result of a check.
type checkState string

// The states of a check.
const (
	stateOK      checkState = "ok"
	stateWarning checkState = "warning"
	stateFailed  checkState = "failed"
)

// finding is one line of the doctor.
type finding struct {
	Check string     `json:"check"`
	State checkState `json:"state"`
	Text  string     `json:"text"`
	Hints []string   `json:"hints,omitempty"`
}

// findings are those of one check. Its methods say which state.
type findings struct{ list []finding }

func (f *findings) ok(check, format string, args ...any) {
	f.list = append(f.list, finding{check, stateOK, fmt.Sprintf(format, args...), nil})
}

func (f *findings) warn(check, text string, hints ...string) {
	f.list = append(f.list, finding{check, stateWarning, text, hints})
}

func (f *findings) fail(check string, err error, hints ...string) {
	f.list = append(f.list, finding{check, stateFailed, err.Error(), append(cli.HintsOf(err), hints...)})
}

// failed is fail where there is an error; it reports whether there is one.
func (f *findings) failed(check string, err error, hints ...string) bool {
	if err != nil {
		f.fail(check, err, hints...)
	}
	return err != nil
}

// addHint adds a hint to the newest finding.
func (f *findings) addHint(hint string) {
	newest := &f.list[len(f.list)-1]
	newest.Hints = append(newest.Hints, hint)
}

// check is one thing that the doctor looks at.
type check struct {
	name string
	look func(context.Context, *findings)
}

// run looks, and gives up when the time is over, even where the check does not.
func (c check) run(ctx context.Context, timeout time.Duration) []finding {
	late := fmt.Errorf("no answer within %s", timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, late)
	defer cancel()
	done := make(chan []finding, 1)
	go func() {
		var f findings
		c.look(ctx, &f)
		done <- f.list
	}()
	select {
	case list := <-done:
		return timed(ctx, list)
	case <-ctx.Done():
	}
	select { // what ends with the context has more to say
	case list := <-done:
		return timed(ctx, list)
	case <-time.After(graceOfCheck):
		var f findings
		f.fail(c.name, context.Cause(ctx), "raise --timeout if the check needs longer")
		return f.list
	}
}

// timed says how long a check has waited where libraries say that a deadline was
// exceeded.
func timed(ctx context.Context, list []finding) []finding {
	if cause := context.Cause(ctx); cause != nil {
		for i := range list {
			list[i].Text = strings.ReplaceAll(list[i].Text, context.DeadlineExceeded.Error(), cause.Error())
		}
	}
	return list
}

// graceOfCheck is how long a check may take to say why it was ended.
const graceOfCheck = 2 * time.Second

// doctor runs checks and shows what they have come to.
type doctor struct {
	*cli.Terminal
	options setup.Options
	width   int // of the column of checks; a longer name widens it from there on
}

// Run runs the checks and shows the results, as text while they come or as JSON. The
// error says that a check failed.
func Run(ctx context.Context, t *cli.Terminal, o setup.Options, timeout time.Duration) error {
	d := &doctor{t, o, 20}
	var all []finding
	show, wipe := d.Follow(cli.Quota{})
	defer wipe()
	tell := func(list []finding) {
		all = append(all, list...)
		if d.options.Output == "text" {
			d.showFindings(list)
		}
	}
	of := newDiagnosis(d.Terminal, d.options)
	tell(of.first)
	checks := of.checks()
	for i, c := range checks {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if show != nil {
			show("checking "+c.name, i, len(checks))
		}
		tell(c.run(ctx, timeout))
	}
	wipe()
	return d.showVerdict(all)
}

func (d *doctor) showFindings(list []finding) {
	for _, f := range list {
		d.width = max(d.width, utf8.RuneCountInString(f.Check))
		state := fmt.Sprintf("%-7s", f.State)
		if colour := map[checkState]string{stateOK: "32", stateWarning: "33", stateFailed: "31"}[f.State]; d.ColourOut {
			state = "\x1b[" + colour + "m" + state + "\x1b[0m"
		}
		fmt.Fprintf(d.Out, "%s  %-*s  %s\n", state, d.width, f.Check, cli.OneLine(f.Text))
		for _, hint := range f.Hints {
			fmt.Fprintf(d.Out, "%*s%s\n", d.width+11, "", "hint: "+cli.OneLine(hint))
		}
	}
}

func (d *doctor) showVerdict(all []finding) error {
	count := map[checkState]int{}
	for _, f := range all {
		count[f.State]++
	}
	facts := struct {
		Version int       `json:"version"`
		Failed  int       `json:"failed"`
		Checks  []finding `json:"checks"`
	}{1, count[stateFailed], all}
	err := d.Show(d.options.Output, facts, func() error {
		parts := []string{fmt.Sprintf("%d ok", count[stateOK])}
		if n := count[stateWarning]; n > 0 {
			parts = append(parts, cli.Plural(n, "warning", "warnings"))
		}
		if n := count[stateFailed]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d failed", n))
		}
		_, err := fmt.Fprintln(d.Out, strings.Join(parts, ", "))
		return err
	})
	if err == nil && count[stateFailed] > 0 {
		return cli.ExitError(1)
	}
	return err
}
