package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/meet"
	"github.com/seawall-dev/seawall/edge/expression/eval"
	"github.com/seawall-dev/seawall/edge/nearest"
)

func newExpressionTest(t *cli.Terminal) *cobra.Command {
	var request, zone, output string
	cmd := &cobra.Command{
		Use:   "test [DIR] --request FILE",
		Short: "Show which declared rules a request meets, and what becomes of it",
		Long: `Send a request through the custom rules, rate limits and exceptions that a folder of
desired state declares for a zone, in the order of the platform, until a rule ends it. Each
rule is shown with the part of its expression that decided. It needs no network.

FILE is a request in CUE or JSON, with the members that request of a test has, or a HTTP
archive (HAR) as browsers save it; "-" is standard input. What it does not say is not
known, and the output says what to add. Without --zone it is the zone of the host, or the
only one. Rules of others are not known here, nor how often the client asked before.

Exit codes: 0, also where the result is not known; 1 for a file that cannot be read, or
desired state that is not valid.`,
		Example: `  seawall expression test --request request.json
  seawall expression test my-edge --request shop.har --zone shop.example
  echo '{"url": "https://shop.example/login"}' | seawall expression test --request - -o json | jq -r .requests[].result`,
		Args: perhapsFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			forms, err := readForms(t, request)
			if err != nil {
				return err
			}
			return testExpressions(cmd.Context(), t, append(args, ".")[0], zone, output, forms)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&request, "request", "", "read the request from this `FILE`; - for standard input")
	flags.StringVar(&zone, "zone", "", "the `ZONE` that gets the request, by its key")
	_ = cmd.MarkFlagFilename("request", "cue", "json", "har")
	_ = cmd.RegisterFlagCompletionFunc("zone", setup.CompleteZonesIn)
	cli.AddOutput(cmd, &output, "text", "json")
	return cmd
}

// mostRequest bounds the file of a request, and an archive.
const mostRequest = 64 << 20

// readForms reads the requests of a file.
func readForms(t *cli.Terminal, name string) ([]eval.Form, error) {
	if name == "" {
		return nil, cli.Fail(errors.New("no request is named"), "seawall expression test --request request.json")
	}
	from := t.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, cli.Fail(err, "--request names a file with a request in CUE or JSON, or a HAR")
		}
		defer file.Close()
		from = file
	}
	data, err := io.ReadAll(io.LimitReader(from, mostRequest+1))
	if err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	if len(data) > mostRequest {
		return nil, errors.New("the request has more than 64 MiB")
	}
	switch empty := len(bytes.TrimSpace(data)) == 0; {
	case empty && name == "-":
		return nil, cli.Fail(errors.New("standard input is empty"), cli.PipeHint)
	case empty:
		return nil, cli.Fail(fmt.Errorf("%s is empty", name), `write a request into it, such as {url: "https://shop.example/login"}`)
	}
	if forms, is, err := eval.HAR(data); is {
		return forms, err
	}
	text, problems := schema.LoadRequest(name, data)
	if len(problems) > 0 {
		t.ShowProblems(t.Err, problems)
		return nil, cli.ExitError(1)
	}
	var form eval.Form
	err = json.Unmarshal(text, &form)
	return []eval.Form{form}, err
}

// testJSON is what became of a request. Result is empty where it is not known; Add and Lacks say why.
type testJSON struct {
	Method  string     `json:"method,omitempty"`
	URL     string     `json:"url,omitempty"`
	Account string     `json:"account"`
	Zone    string     `json:"zone"`
	Result  string     `json:"result"`
	By      string     `json:"by,omitempty"` // the key of the rule that ended it
	Lacks   []string   `json:"lacks,omitempty"`
	Hint    string     `json:"hint,omitempty"`
	Rules   []stepJSON `json:"rules"`

	outcome meet.Outcome
}

// stepJSON is a declared rule. Matches is true, false, unknown, or empty where it is not evaluated.
type stepJSON struct {
	Kind    string        `json:"kind"`
	Key     string        `json:"key"`
	Account bool          `json:"of_account,omitempty"`
	Action  string        `json:"action"`
	Matches string        `json:"matches"`
	Why     string        `json:"why,omitempty"`
	Saw     string        `json:"saw,omitempty"`
	Lacks   []string      `json:"lacks,omitempty"`
	Off     string        `json:"off,omitempty"`
	Counts  []countedJSON `json:"counts,omitempty"`
	File    string        `json:"file"`
	Line    int           `json:"line"`
	Column  int           `json:"column"`
}

type countedJSON struct {
	By    string `json:"by"`
	Value string `json:"value,omitempty"` // absent where it is not known
}

func testExpressions(ctx context.Context, t *cli.Terminal, dir, zone, output string, forms []eval.Form) error {
	state, problems, err := setup.Folder{Dir: dir}.Compile(ctx, "")
	if err != nil {
		return err
	}
	if errs := desired.Errors(problems); len(errs) > 0 {
		t.ShowProblems(t.Err, errs)
		return cli.ExitError(1)
	}
	facts := struct {
		Version  int        `json:"version"`
		Requests []testJSON `json:"requests"`
	}{1, []testJSON{}}
	elsewhere := 0
	for _, form := range forms {
		account, key, err := zoneFor(state, zone, form)
		if err != nil && len(forms) > 1 {
			elsewhere++
			continue
		}
		var request eval.Request
		if err == nil {
			request, err = form.Request()
		}
		if err != nil {
			return err
		}
		facts.Requests = append(facts.Requests, tested(form, account, key, meet.Zone(meet.Scopes(state.Accounts, account, key), request)))
	}
	if elsewhere > 0 {
		fmt.Fprintf(t.Err, "left out: %s to hosts of no declared zone\n", cli.Plural(elsewhere, "request", "requests"))
	}
	return t.Show(output, facts, func() error {
		return cli.Apart(t.Out, facts.Requests, func(r testJSON) error { return r.text(t) })
	})
}

// candidate is a zone that may get a request.
type candidate struct {
	desired.Zone
	account string
}

// zoneFor is the zone that gets a request: the one that is named, that of the host, or the only one.
func zoneFor(state desired.State, named string, form eval.Form) (account, key string, err error) {
	host := eval.Host(form.URL)
	fit, keys := candidates(state, named, host)
	switch {
	case len(fit) == 1:
		return fit[0].account, fit[0].Key, nil
	case len(fit) > 1 && (named != "" || host != ""):
		return "", "", cli.Fail(fmt.Errorf("two accounts have the zone %q", fit[0].Key), "name a folder that declares one of them alone")
	case named != "":
		return "", "", cli.Fail(fmt.Errorf("there is no zone %q", named), nearest.Hint(named, keys, zoneHint))
	}
	if host != "" {
		return "", "", cli.Fail(fmt.Errorf("no zone of the host %q is declared", host), "name the zone that gets the request with --zone")
	}
	return "", "", cli.Fail(errors.New("which zone gets the request is not known"), "name it with --zone, or give the request a url with its host")
}

// candidates are the zones that fit a key or, without one, a host best; all where neither is said.
func candidates(state desired.State, named, host string) (fit []candidate, keys []string) {
	longest := 0
	for a, z := range state.EachZone() {
		if desired.IsAccountKey(z.Key) {
			continue
		}
		keys = append(keys, z.Key)
		fits := named == z.Key
		if named == "" {
			fits = host == "" || within(host, z.Name) && len(z.Name) >= longest
		}
		if !fits {
			continue
		}
		if named == "" && host != "" && len(z.Name) > longest {
			fit, longest = nil, len(z.Name)
		}
		fit = append(fit, candidate{z, a.Key})
	}
	return fit, keys
}

// within reports whether a host is that of a zone, or below it.
func within(host, zone string) bool {
	return zone != "" && (host == zone || strings.HasSuffix(host, "."+zone))
}

func tested(form eval.Form, account, zone string, o meet.Outcome) testJSON {
	j := testJSON{
		Method: form.Method, URL: form.URL, Account: account, Zone: zone, Result: o.Result,
		Lacks: lacksOf(o.Lacks), Hint: meet.Add(o.Lacks), Rules: []stepJSON{}, outcome: o,
	}
	if o.By != nil && o.Result != "" && len(o.By.Open) == 0 {
		j.By = o.By.Key
	}
	for _, s := range o.Steps {
		step := stepJSON{
			Kind: string(s.Kind), Key: s.Key, Account: s.Account, Action: s.Action, Why: s.Why, Saw: s.Saw, Lacks: lacksOf(slices.Concat(s.Lacks, s.Open)), Off: s.Off,
			File: s.Origin.File, Line: s.Origin.Line, Column: s.Origin.Column,
		}
		if s.Off == "" {
			step.Matches = s.Verdict.String()
		}
		for _, c := range s.Counts {
			step.Counts = append(step.Counts, countedJSON(c))
		}
		j.Rules = append(j.Rules, step)
	}
	return j
}

func lacksOf(lacks []eval.Lack) (all []string) {
	for _, l := range lacks {
		all = append(all, l.String())
	}
	return all
}

// text shows what became of a request, rule by rule.
func (j testJSON) text(t *cli.Terminal) error {
	result := "not known"
	if j.Result != "" {
		result = j.Result
	}
	if j.By != "" {
		result += ", by " + j.outcome.By.Kind.Word() + " " + j.By
	}
	fmt.Fprintf(t.Out, "%s in %s: %s\n", cli.OneLine(cmp.Or(strings.TrimSpace(j.Method+" "+j.URL), "a request without a URL")), cli.OneLine(j.Zone), cli.OneLine(result))
	if j.Hint != "" {
		fmt.Fprintf(t.Out, "  hint: %s\n", cli.OneLine(j.Hint))
	}
	rows := [][]string{{"RULE", "ACTION", "MATCHES", "WHY"}}
	for _, s := range j.outcome.Steps {
		rows = append(rows, rowOf(s))
	}
	if len(rows) == 1 {
		_, err := fmt.Fprintln(t.Out, "no rules are declared for this zone")
		return err
	}
	return t.Table(rows)
}

func rowOf(s meet.Step) []string {
	word := s.Kind.Word() + " " + s.Key
	if s.Account {
		word += " (account)"
	}
	matches := map[eval.Verdict]string{eval.True: "yes", eval.False: "no", eval.Unknown: "not known"}[s.Verdict]
	if s.Off != "" {
		matches = "-"
	}
	why := s.Because()
	if len(s.Counts) > 0 {
		var by []string
		for _, c := range s.Counts {
			if by = append(by, c.By); c.Value != "" {
				by[len(by)-1] += " " + c.Value
			}
		}
		why += "; counts by " + strings.Join(by, ", ")
	}
	return []string{word, s.Action, matches, cli.OneLine(why)}
}
