package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/edge/expression"
	"github.com/seawall-dev/seawall/edge/expression/judge"
	"github.com/seawall-dev/seawall/edge/nearest"
)

func newExpression(t *cli.Terminal) *cobra.Command {
	return group(&cobra.Command{
		Use:   "expression",
		Short: "Check the expression of a rule, explain it, and try rules with a request",
		Long: `The expression of a rule says which requests it matches. check says whether the
platform takes one, explain says in words what it means, and test shows which declared
rules a request meets. They need no network.`,
		Example: `  seawall expression check 'http.host eq "shop.example" and ssl'
  seawall expression explain 'not ip.src in {192.0.2.0/24}'
  seawall expression test my-edge --request request.json`,
	}, newExpressionCheck(t), newExpressionExplain(t), newExpressionTest(t))
}

// expressionFlags say where an expression stands.
type expressionFlags struct {
	expression.For
	output string
}

func newExpressionCheck(t *cli.Terminal) *cobra.Command {
	var f expressionFlags
	cmd := &cobra.Command{
		Use:   "check EXPRESSION",
		Short: "Say whether the platform takes an expression",
		Long: `Read an expression as the platform does, and show what is wrong with it, each
mistake at its place. "-" reads it from standard input.

An error is what the platform refuses, as far as is known; a warning is what it may
refuse; a note is what it takes and what may not be meant, such as a condition that is
always true. Without --phase and --plan, what only some of them have counts as right.

Exit codes: 0 without an error, 1 with one.`,
		Example: `  seawall expression check 'http.host eq "shop.example" and ssl'
  seawall expression check --plan pro 'http.request.uri.path matches "^/api/"'
  seawall expression check --phase http_ratelimit --counting 'http.response.code eq 403'
  echo 'ip.src eqq 192.0.2.9' | seawall expression check - -o json | jq .mistakes`,
		Args: oneExpression,
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := expressionText(t, args[0])
			if err == nil {
				err = f.check()
			}
			if err != nil {
				return err
			}
			return f.checkExpression(t, text)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Phase, "phase", "", "check what this `PHASE` has, such as http_request_firewall_custom")
	flags.StringVar(&f.Plan, "plan", "", "check what a zone of this `PLAN` has: "+cli.Either(expression.Plans))
	flags.BoolVar(&f.Counting, "counting", false, "with --phase http_ratelimit: it says what the rate limit counts")
	for name, words := range map[string][]string{"phase": expression.Phases, "plan": expression.Plans} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	cli.AddOutput(cmd, &f.output, "text", "json")
	return cmd
}

func (f expressionFlags) check() error {
	if f.Phase != "" && !slices.Contains(expression.Phases, f.Phase) {
		return cli.Fail(fmt.Errorf("there is no phase %q", f.Phase),
			nearest.Hint(f.Phase, expression.Phases, "such as http_request_firewall_custom, http_ratelimit or http_request_firewall_managed"))
	}
	if f.Counting && f.Phase != "http_ratelimit" {
		return cli.Usage("--counting needs --phase http_ratelimit")
	}
	if f.Plan != "" {
		return cli.OneOf("--plan", f.Plan, expression.Plans...)
	}
	return nil
}

// mostExpression bounds what is read from standard input: more than any that the platform takes.
const mostExpression = 64 << 10

// expressionText is the expression of the command line, or of standard input.
func expressionText(t *cli.Terminal, word string) (string, error) {
	if word != "-" {
		return word, nil
	}
	text, err := io.ReadAll(io.LimitReader(t.In, mostExpression+1))
	if err != nil {
		return "", fmt.Errorf("reading standard input: %w", err)
	}
	if len(text) > mostExpression || !utf8.Valid(text) {
		return "", cli.Fail(errors.New("standard input is no expression"), "it is text of at most 64 KiB")
	}
	return strings.TrimSpace(string(text)), nil
}

// mistakeJSON is a mistake as JSON has it: Line and Column are counted from 1 in characters, From
// and To in bytes from 0.
type mistakeJSON struct {
	Grade   string `json:"grade"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	From    int    `json:"from"`
	To      int    `json:"to"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// checkExpression shows what is wrong with an expression, and how often it is true.
func (f expressionFlags) checkExpression(t *cli.Terminal, text string) error {
	e, mistakes := expression.Examine(text, f.For)
	refused := slices.ContainsFunc(mistakes, isRefused)
	if e.Root != nil {
		mistakes = append(mistakes, expression.Findings(e)...)
	}
	verdict := judge.Expression(text, judge.Facts{})
	if verdict != judge.Sometimes && !refused {
		mistakes = append(mistakes, expression.Mistake{
			Span: e.Root.Where(), Grade: expression.Noted, Message: fmt.Sprintf("it is %s true", verdict),
		})
	}
	facts := struct {
		Version    int           `json:"version"`
		Expression string        `json:"expression"`
		Valid      bool          `json:"valid"`
		True       string        `json:"true,omitempty"` // sometimes, always or never; absent for one that is refused
		Mistakes   []mistakeJSON `json:"mistakes"`
	}{Version: 1, Expression: text, Valid: !refused, Mistakes: []mistakeJSON{}}
	if !refused {
		facts.True = verdict.String()
	}
	for _, m := range mistakes {
		line, column := m.Position(text)
		facts.Mistakes = append(facts.Mistakes, mistakeJSON{m.Grade.String(), line, column, m.At, m.To, m.Message, m.Hint})
	}
	err := t.Show(f.output, facts, func() error { return showMistakes(t, text, mistakes) })
	if err == nil && refused {
		return cli.ExitError(1)
	}
	return err
}

func isRefused(m expression.Mistake) bool {
	return m.Grade == expression.Certain || m.Grade == expression.Documented
}

// showMistakes shows each mistake with the line that it is in, and a mark below it.
func showMistakes(t *cli.Terminal, text string, mistakes []expression.Mistake) error {
	var b strings.Builder
	for _, m := range mistakes {
		fmt.Fprintf(&b, "%s at %s: %s\n", m.Grade, m.Place(text), cli.OneLine(m.Message))
		start := 1 + strings.LastIndexByte(text[:m.At], '\n')
		line, _, _ := strings.Cut(text[start:], "\n")
		from, to := m.At-start, min(max(m.To-start, m.At-start), len(line))
		before, marked := cli.OneLine(line[:min(from, len(line))]), cli.OneLine(line[min(from, len(line)):to])
		fmt.Fprintf(&b, "  %s\n", before+marked+cli.OneLine(line[to:]))
		fmt.Fprintf(&b, "  %s%s\n", strings.Repeat(" ", utf8.RuneCountInString(before)), strings.Repeat("^", max(1, utf8.RuneCountInString(marked))))
		if m.Hint != "" {
			fmt.Fprintf(&b, "  hint: %s\n", cli.OneLine(m.Hint))
		}
	}
	if !slices.ContainsFunc(mistakes, isRefused) {
		b.WriteString("the expression is valid\n")
	}
	_, err := io.WriteString(t.Out, b.String())
	return err
}

func newExpressionExplain(t *cli.Terminal) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "explain EXPRESSION",
		Short: "Say in words what an expression means",
		Long: `Say in words which requests an expression matches, with what is known of each field
and function. "-" reads it from standard input.

Exit codes: 0; 1 for an expression that cannot be read.`,
		Example: `  seawall expression explain 'not ip.src in {192.0.2.0/24}'
  seawall expression explain - -o json < rule.txt | jq -r '.lines[].text'`,
		Args: oneExpression,
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := expressionText(t, args[0])
			if err != nil {
				return err
			}
			return explainExpression(t, output, text)
		},
	}
	cli.AddOutput(cmd, &output, "text", "json")
	return cmd
}

// lineJSON is a line of an explanation; one of more depth is a part of the one above.
type lineJSON struct {
	Depth int    `json:"depth"`
	Text  string `json:"text"`
}

// usedJSON is a field or a function of an expression. Type is empty for one that is not known.
type usedJSON struct {
	Name string `json:"name"`
	Type string `json:"type,omitempty"`
	Is   string `json:"is,omitempty"`
}

func explainExpression(t *cli.Terminal, output, text string) error {
	e, err := expression.Parse(text)
	if wrong := (*expression.SyntaxError)(nil); errors.As(err, &wrong) {
		if err := showMistakes(t, text, []expression.Mistake{wrong.Mistake}); err != nil {
			return err
		}
		return cli.ExitError(1)
	}
	facts := struct {
		Version    int        `json:"version"`
		Expression string     `json:"expression"`
		Lines      []lineJSON `json:"lines"`
		Used       []usedJSON `json:"used"`
	}{1, e.String(), nil, nil}
	for _, line := range expression.Explain(e) {
		facts.Lines = append(facts.Lines, lineJSON(line))
	}
	for _, name := range expression.Used(e) {
		used := usedJSON{Name: name}
		if f, is := expression.Fields()[name]; is {
			used.Type, used.Is = string(f.Type), f.Is
		} else if f, is := expression.Functions()[name]; is {
			used.Name, used.Type, used.Is = f.Signature, string(f.Returns), f.Is
		}
		facts.Used = append(facts.Used, used)
	}
	return t.Show(output, facts, func() error {
		for _, line := range facts.Lines {
			fmt.Fprintf(t.Out, "%s%s\n", strings.Repeat("  ", line.Depth), cli.OneLine(line.Text))
		}
		fmt.Fprintln(t.Out)
		rows := [][]string{{"NAME", "TYPE", "WHAT IT IS"}}
		for _, used := range facts.Used {
			rows = append(rows, []string{used.Name, used.Type, used.Is})
		}
		return t.Table(rows)
	})
}
