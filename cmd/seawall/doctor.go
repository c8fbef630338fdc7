package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newDoctor(t *terminal) *cobra.Command {
	var o options
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the setup and say what to fix",
		Long: `Check the configuration, git, both credentials, the clock, the state folder, the
sinks of secrets and the forge, and print one line for each check: ok, warning or
failed, with what to do about it. A check that fails or hangs does not stop the
others. Run it as the user that the daemon runs as; the daemon may be running.

Doctor writes nothing: not to the platform, a sink or a forge, and not to the
state folder. It fetches git into a temporary folder. It does not check what only
a write can show, such as whether a credential may write.

Exit codes: 0 no check failed, warnings do not count; 1 a check failed.`,
		Example: `  seawall doctor
  seawall doctor --config ./config.cue
  seawall doctor --dir . --base-url https://api.example.com/client/v4
  seawall doctor -o json | jq '.checks[] | select(.state != "ok")'
  sudo -u seawall seawall doctor --timeout 1m`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("--output", o.output, "text", "json"); err != nil {
				return err
			}
			if timeout <= 0 {
				return usage("--timeout %s is not a duration above zero", timeout)
			}
			return (&doctor{t, o, timeout}).examine(cmd.Context())
		},
	}
	o.addSource(cmd)
	cmd.Flags().StringVarP(&o.output, "output", "o", "text", "text or json")
	cmd.Flags().DurationVar(&timeout, "timeout", 30*time.Second, "how long each check may take")
	return cmd
}

// state is what a check has come to.
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
	f.list = append(f.list, finding{check, stateFailed, err.Error(), append(hintsOf(err), hints...)})
}

// hintsOf collects the hints that an error carries.
func hintsOf(err error) []string {
	var told *failure
	if errors.As(err, &told) && len(told.hints) > 0 {
		return append([]string{}, told.hints...)
	}
	if advice := adviceOf(err); advice != "" {
		return []string{advice}
	}
	return nil
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

// doctorVersion is the version of the JSON form.
const doctorVersion = 1

// doctor runs checks and shows what they have come to.
type doctor struct {
	*terminal
	options options
	timeout time.Duration // of each check
}

func (d *doctor) examine(ctx context.Context) error {
	var all []finding
	show, wipe := d.progress()
	defer wipe()
	tell := func(list []finding) {
		all = append(all, list...)
		if d.options.output == "text" {
			d.showFindings(list)
		}
	}
	of := newDiagnosis(d.terminal, d.options)
	tell(of.first)
	checks := of.checks()
	for i, c := range checks {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if show != nil {
			show("checking "+c.name, i, len(checks))
		}
		tell(c.run(ctx, d.timeout))
	}
	wipe()
	return d.showVerdict(all)
}

func (d *doctor) showFindings(list []finding) {
	for _, f := range list {
		state := fmt.Sprintf("%-7s", f.State)
		if colour := map[checkState]string{stateOK: "32", stateWarning: "33", stateFailed: "31"}[f.State]; d.colourOut {
			state = "\x1b[" + colour + "m" + state + "\x1b[0m"
		}
		fmt.Fprintf(d.out, "%s  %-20s  %s\n", state, f.Check, oneLine(f.Text))
		for _, hint := range f.Hints {
			fmt.Fprintf(d.out, "%31s%s\n", "", "hint: "+oneLine(hint))
		}
	}
}

func (d *doctor) showVerdict(all []finding) error {
	count := map[checkState]int{}
	for _, f := range all {
		count[f.State]++
	}
	var err error
	if d.options.output == "json" {
		encoder := json.NewEncoder(d.out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(struct {
			Version int       `json:"version"`
			Failed  int       `json:"failed"`
			Checks  []finding `json:"checks"`
		}{doctorVersion, count[stateFailed], all})
	} else {
		parts := []string{fmt.Sprintf("%d ok", count[stateOK])}
		if n := count[stateWarning]; n > 0 {
			parts = append(parts, plural(n, "warning", "warnings"))
		}
		if n := count[stateFailed]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d failed", n))
		}
		_, err = fmt.Fprintln(d.out, strings.Join(parts, ", "))
	}
	if err == nil && count[stateFailed] > 0 {
		return exitStatus(1)
	}
	return err
}
