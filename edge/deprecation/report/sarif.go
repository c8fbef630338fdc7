package report

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

// Where a reader of SARIF finds more.
const home = "https://github.com/seawall-dev/seawall"

// object is one of SARIF 2.1.0, whose names are the standard's; a test holds them to its schema.
type object = map[string]any

func sarifText(text string) object { return object{"text": text} }

// SARIF writes a report in the Static Analysis Results Interchange Format, 2.1.0,
// as code hosts read it. Every line that is listed is a result of its own. The
// fingerprint says rule, file, call and which of several it is, and neither the
// line nor the day: a result that moves is still the same. The version is that
// of the program.
func (r Report) SARIF(w io.Writer, version string) error {
	index := map[string]int{}
	rules, results := []object{}, []object{}
	for _, g := range r.Rules {
		i, known := index[g.Notice.Rule]
		if !known {
			i = len(rules)
			index[g.Notice.Rule] = i
			rules = append(rules, r.sarifRule(g))
		}
		for _, p := range g.Places {
			results = append(results, g.sarifResults(i, p)...)
		}
	}
	driver := object{"name": "Seawall", "informationUri": home, "rules": rules}
	if version != "" {
		driver["version"] = version
	}
	return encode(w, object{
		"$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		"version": "2.1.0",
		"runs": []object{{
			"tool": object{"driver": driver}, "invocations": []object{r.sarifInvocation()}, "columnKind": "unicodeCodePoints", "results": results,
		}},
	})
}

func (r Report) sarifInvocation() object {
	successful, code, notes := true, r.ExitCode(), []object{}
	note := func(level, file string, line int, text string) {
		notes = append(notes, object{"level": level, "message": sarifText(printable(text)), "locations": []object{physical(file, line)}})
	}
	for _, i := range r.Inputs {
		if i.Error != "" {
			successful, code = false, 1
			note("error", i.Name, 0, i.Error)
		}
		for _, s := range i.Skips {
			note("warning", i.place(s), s.Line, "skipped: "+s.Reason)
		}
	}
	return object{"executionSuccessful": successful, "exitCode": code, "toolExecutionNotifications": notes}
}

// place is the file of a skipped place: an input, or a file within it.
func (i Input) place(s Skip) string {
	if s.File == "" {
		return i.Name
	}
	return path.Join(i.Name, s.File)
}

func (r Report) sarifRule(g Group) object {
	n := g.Notice
	text := printable(n.Title) + ": " + standing(n) + ". " + capital(replacement(n)) + "."
	return object{
		"id": n.Rule, "shortDescription": sarifText(printable(n.Title)), "fullDescription": sarifText(text),
		"help": object{"text": text, "markdown": fmt.Sprintf("**%s** (`%s`)\n\n%s, by the schedule as of %s.\n\n%s.",
			markdownText(n.Title), n.Rule, capital(standing(n)), r.DataAsOf, markdownText(capital(replacement(n))))},
		"helpUri":              home + "/blob/main/docs/deprecations.md",
		"defaultConfiguration": object{"level": level(n)},
		"properties":           object{"date": n.Date, "end_of_life": n.EndOfLife, "tags": []string{"deprecation"}},
	}
}

func level(n deprecation.Notice) string {
	switch {
	case n.Info, n.State == deprecation.Announced:
		return "note"
	case n.State == deprecation.Deprecated:
		return "warning"
	}
	return "error"
}

func (g Group) sarifResults(rule int, p Place) []object {
	lines := p.Lines
	if len(lines) == 0 {
		lines = []int{0}
	}
	suppressions := []object{}
	if s := p.Suppressed; s != nil {
		suppressions = append(suppressions, object{"kind": "external", "justification": fmt.Sprintf("%s (until %s)", printable(s.Reason), s.Expires)})
	}
	var out []object
	for i, line := range lines {
		occurrences := 1
		if i == 0 { // the lines that are not listed count with the first one
			occurrences = p.Count + p.Similar - len(lines) + 1
		}
		out = append(out, object{
			"ruleId": g.Notice.Rule, "ruleIndex": rule, "level": level(g.Notice), "message": sarifText(g.message(p)),
			"locations":           []object{p.location(line)},
			"partialFingerprints": object{"seawallCall/v1": g.fingerprint(p, i)},
			"occurrenceCount":     occurrences, "suppressions": suppressions,
			"properties": object{"state": g.Notice.State, "daysLeft": g.Notice.DaysLeft},
		})
	}
	return out
}

// message is the notice in a sentence or two, with what to write instead.
func (g Group) message(p Place) string {
	parts := []string{p.call() + ": " + g.Notice.Title + ", " + standing(g.Notice) + "."}
	if p.Where.Integration != "" {
		parts = append(parts, "Called by "+p.who()+".")
	}
	parts = append(parts, capital(replacement(g.Notice))+".")
	for _, r := range p.shown() {
		parts = append(parts, capital(strings.TrimSpace(lead(r)))+": "+request(r))
	}
	return printable(strings.Join(parts, " "))
}

func (p Place) location(line int) object {
	l, logical := physical(p.Where.File, line), []object{}
	if p.Where.Integration != "" {
		logical = append(logical, object{"name": printable(p.Where.Integration), "kind": "module"})
	}
	if p.Address != "" {
		logical = append(logical, object{"name": p.Address, "kind": "resource"})
	}
	if len(logical) > 0 {
		l["logicalLocations"] = logical
	}
	return l
}

// physical is the location of a line in a file; an empty one for standard input, which is
// no file.
func physical(file string, line int) object {
	if file == "" || file == "-" {
		return object{}
	}
	u := url.URL{Path: path.Clean(file)}
	if path.IsAbs(file) {
		u.Scheme = "file"
	}
	p := object{"artifactLocation": object{"uri": u.String()}}
	if line > 0 {
		p["region"] = object{"startLine": line}
	}
	return object{"physicalLocation": p}
}

func (g Group) fingerprint(p Place, i int) string {
	if p.Method == "" && p.Detail != "" && !part().MatchString(p.Detail) {
		p.Detail = "GET " + p.Detail // as 0.1.0 told it: fingerprints stay
	}
	text := strings.Join([]string{
		g.Notice.Rule, p.Where.File, p.Where.Integration, p.Address, p.Method, p.Path, p.Detail, fmt.Sprint(p.rewritten()), fmt.Sprint(i),
	}, "\x00")
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:32]
}
