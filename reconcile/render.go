package reconcile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/visible"
)

// ReportVersion is the version of the JSON form of a report.
const ReportVersion = 1

// Text writes a report for a person at a terminal: the plan, and what became
// of it.
func (r Report) Text(w io.Writer, colour bool) error {
	if err := render.Text(w, r.done(), colour); err != nil {
		return err
	}
	if len(r.Results) > 0 {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	return r.TextOfResults(w, colour)
}

// TextOfResults writes what became of a plan that was shown before.
func (r Report) TextOfResults(w io.Writer, colour bool) error {
	width := 0
	for _, result := range r.Results {
		width = max(width, utf8.RuneCountInString(visible.Name(result.Change.Name())))
	}
	for _, result := range r.Results {
		if _, err := fmt.Fprintln(w, result.line(width, colour)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, r.Verdict())
	return err
}

// done is the plan as a person reads it afterwards: nothing is still to be sent.
func (r Report) done() diff.Plan {
	p := r.Plan
	p.Requests.ToApply, p.Requests.Cost = 0, nil
	return p
}

func (r Result) line(width int, colour bool) string {
	mark, code := "✓", "32"
	if r.Outcome != Converged {
		mark, code = "✗", "31"
	}
	if colour {
		mark = "\x1b[" + code + "m" + mark + "\x1b[0m"
	}
	line := r.words()
	if r.Err != nil {
		line += ": " + r.Err.Error()
	}
	if len(r.Left) > 0 && r.Outcome != NonConvergent {
		line += "; still differs: " + strings.Join(fieldNames(r.Left), ", ")
	}
	if r.Concurrent {
		line += "; another client wrote to the entry point at the same time"
	}
	return fmt.Sprintf("%s %-*s  %s", mark, width, visible.Name(r.Change.Name()), visible.Text(line))
}

// words is the outcome as people say it. What was created or deleted is not read
// back, so it is told what was done.
func (r Result) words() string {
	switch {
	case r.Unproved && errors.Is(r.Err, edge.ErrOutcomeUnknown):
		return "perhaps written, not proved"
	case r.Unproved:
		return "written, not proved"
	}
	switch r.Outcome {
	case Converged:
		return r.achieved()
	case NonConvergent:
		reason, hint := diff.NotKept(r.Left)
		if hint != "" {
			hint = "; " + hint
		}
		return "written, but " + reason + hint
	case NotStarted:
		return "not started"
	case Quarantined:
		return "outcome unknown; quarantined until seawall token resolve " + r.Change.Token
	default:
		return string(r.Outcome)
	}
}

func (r Result) achieved() string {
	if r.Elsewhere {
		return "applied by another Seawall process, and proved"
	}
	return r.Change.Do().Achieved(r.Change).Text
}

// Verdict is the last line of a run.
func (r Report) Verdict() string {
	switch {
	case r.Err != nil:
		return "stopped: " + visible.Text(r.Err.Error()) + r.sofar()
	case r.Converged() && len(r.Results) == 0:
		return "in sync: nothing to apply"
	case r.Converged():
		return "converged: " + strings.Join(r.achieved(), ", ")
	}
	return "not converged: " + strings.Join(r.counts(), ", ")
}

// sofar counts what a run that stopped has come to.
func (r Report) sofar() string {
	if len(r.Results) == 0 {
		return ""
	}
	parts := r.achieved()
	unproved, unstarted := 0, r.Count(NotStarted)
	for _, result := range r.Results {
		if result.Unproved {
			unproved++
		}
	}
	failed := len(r.Results) - r.Count(Converged) - unproved - unstarted
	for _, part := range []struct {
		n    int
		what string
	}{{failed, "failed"}, {unproved, "written, not proved"}, {unstarted, "not started"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	return "; " + strings.Join(parts, "; ")
}

// achieved counts what converged, by what was done.
func (r Report) achieved() []string {
	done := map[diff.Achieved]int{}
	for _, result := range r.Results {
		if result.Outcome == Converged {
			done[result.Change.Do().Achieved(result.Change).Counts]++
		}
	}
	var parts []string
	for _, what := range diff.AllAchieved() {
		if n := done[what]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	if len(parts) == 0 {
		return []string{"0 applied and proved"}
	}
	return parts
}

func (r Report) counts() []string {
	parts := r.achieved()
	if n := len(r.Results) - r.Count(Converged); n > 0 {
		parts = append(parts, fmt.Sprintf("%d not", n))
	}
	attention, waiting, back := len(r.Plan.Problems), 0, 0
	for _, c := range r.Plan.Changes {
		switch {
		case c.Applies(), c.Action() == diff.ActionOrphan:
		case c.Refused.WaitsForTime():
			waiting++
		case c.Refused.PutBack():
			back++
		default:
			attention++
		}
	}
	if waiting > 0 {
		parts = append(parts, fmt.Sprintf("%d waiting", waiting))
	}
	if back > 0 {
		parts = append(parts, fmt.Sprintf("%d put back by a revert", back))
	}
	switch {
	case attention == 1:
		parts = append(parts, "1 needs attention")
	case attention > 1:
		parts = append(parts, fmt.Sprintf("%d need attention", attention))
	}
	return parts
}

// JSON writes a report in its versioned JSON form.
func (r Report) JSON(w io.Writer) error {
	type result struct {
		Account    string           `json:"account"`
		Zone       string           `json:"zone"`
		Kind       desired.KindName `json:"kind,omitempty"` // as in [diff.ID]
		Deployment string           `json:"deployment"`
		Token      string           `json:"token,omitempty"`
		Outcome    Outcome          `json:"outcome"`
		Error      string           `json:"error,omitempty"`
		Left       []diff.Field     `json:"left,omitempty"`
		Concurrent bool             `json:"concurrent,omitempty"`
		Unproved   bool             `json:"unproved,omitempty"`
	}
	results := make([]result, len(r.Results))
	for i, res := range r.Results {
		results[i] = result{
			Account: res.Change.Account, Zone: res.Change.Zone, Kind: res.Change.ID().Kind, Deployment: res.Change.Deployment,
			Token:   res.Change.Token,
			Outcome: res.Outcome, Error: errorText(res.Err), Left: res.Left, Concurrent: res.Concurrent, Unproved: res.Unproved,
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		Version   int       `json:"version"`
		Converged bool      `json:"converged"`
		Error     string    `json:"error,omitempty"`
		Plan      diff.Plan `json:"plan"`
		Results   []result  `json:"results"`
	}{ReportVersion, r.Converged(), errorText(r.Err), render.WithoutStandIns(r.Plan), results})
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Markdown writes a report for a job summary.
func (r Report) Markdown(w io.Writer) error {
	if err := render.Markdown(w, r.done()); err != nil {
		return err
	}
	for _, result := range r.Results {
		if _, err := fmt.Fprintf(w, "- %s\n", render.Code(strings.Replace(result.line(0, false), "  ", " ", 1))); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", render.Code(r.Verdict()))
	return err
}

func fieldNames(fields []diff.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = string(f.Path)
	}
	return names
}
