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

// The members of SARIF 2.1.0 that a report fills. Names are the standard's.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		ColumnKind  string            `json:"columnKind"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string         `json:"id"`
		Short   sarifText      `json:"shortDescription"`
		Full    sarifText      `json:"fullDescription"`
		Help    sarifText      `json:"help"`
		HelpURI string         `json:"helpUri"`
		Default sarifDefault   `json:"defaultConfiguration"`
		More    map[string]any `json:"properties,omitempty"`
	}
	sarifDefault struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Occurrences  int                `json:"occurrenceCount"`
		Suppressions []sarifSuppression `json:"suppressions"`
		More         map[string]any     `json:"properties"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		ExitCode      int                 `json:"exitCode"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
)

// SARIF writes a report in the Static Analysis Results Interchange Format, 2.1.0,
// as code hosts read it. Every line that is listed is a result of its own. The
// fingerprint says rule, file, call and which of several it is, and neither the
// line nor the day: a result that moves is still the same. The version is that
// of the program.
func (r Report) SARIF(w io.Writer, version string) error {
	index := map[string]int{}
	driver := sarifDriver{Name: "Seawall", Version: version, InformationURI: home, Rules: []sarifRule{}}
	results := []sarifResult{}
	for _, g := range r.Rules {
		i, known := index[g.Notice.Rule]
		if !known {
			i = len(driver.Rules)
			index[g.Notice.Rule] = i
			driver.Rules = append(driver.Rules, r.sarifRule(g))
		}
		for _, p := range g.Places {
			results = append(results, g.sarifResults(i, p)...)
		}
	}
	return encode(w, sarifLog{
		"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0",
		[]sarifRun{{sarifTool{driver}, []sarifInvocation{r.sarifInvocation()}, "unicodeCodePoints", results}},
	})
}

func (r Report) sarifInvocation() sarifInvocation {
	in := sarifInvocation{Successful: true, ExitCode: r.ExitCode()}
	note := func(level, file string, line int, text string) {
		in.Notifications = append(in.Notifications, sarifNotification{
			level, sarifText{Text: printable(text)}, []sarifLocation{{Physical: physical(file, line)}},
		})
	}
	for _, i := range r.Inputs {
		if i.Error != "" {
			in.Successful, in.ExitCode = false, 1
			note("error", i.Name, 0, i.Error)
		}
		for _, s := range i.Skips {
			note("warning", i.place(s), s.Line, "skipped: "+s.Reason)
		}
	}
	return in
}

// place is the file of a skipped place: an input, or a file within it.
func (i Input) place(s Skip) string {
	if s.File == "" {
		return i.Name
	}
	return path.Join(i.Name, s.File)
}

func (r Report) sarifRule(g Group) sarifRule {
	n := g.Notice
	text := printable(n.Title) + ": " + standing(n) + ". " + capital(replacement(n)) + "."
	return sarifRule{
		ID: n.Rule, Short: sarifText{Text: printable(n.Title)}, Full: sarifText{Text: text},
		Help: sarifText{text, fmt.Sprintf("**%s** (`%s`)\n\n%s, by the schedule as of %s.\n\n%s.",
			markdownText(n.Title), n.Rule, capital(standing(n)), r.DataAsOf, markdownText(capital(replacement(n))))},
		HelpURI: home + "/blob/main/docs/deprecations.md",
		Default: sarifDefault{level(n)},
		More:    map[string]any{"date": n.Date, "end_of_life": n.EndOfLife, "tags": []string{"deprecation"}},
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

func (g Group) sarifResults(rule int, p Place) []sarifResult {
	lines := p.Lines
	if len(lines) == 0 {
		lines = []int{0}
	}
	var out []sarifResult
	for i, line := range lines {
		result := sarifResult{
			RuleID: g.Notice.Rule, RuleIndex: rule, Level: level(g.Notice), Message: sarifText{Text: g.message(p)},
			Locations:    []sarifLocation{p.location(line)},
			Fingerprints: map[string]string{"seawallCall/v1": g.fingerprint(p, i)},
			Occurrences:  1, Suppressions: []sarifSuppression{},
			More: map[string]any{"state": g.Notice.State, "daysLeft": g.Notice.DaysLeft},
		}
		if i == 0 { // the lines that are not listed count with the first one
			result.Occurrences = p.Count + p.Similar - len(lines) + 1
		}
		if s := p.Suppressed; s != nil {
			result.Suppressions = []sarifSuppression{{"external", fmt.Sprintf("%s (until %s)", printable(s.Reason), s.Expires)}}
		}
		out = append(out, result)
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
	for i, r := range p.Rewrites {
		if i < shownRewrites {
			parts = append(parts, capital(strings.TrimSpace(lead(r)))+": "+request(r))
		}
	}
	return printable(strings.Join(parts, " "))
}

func (p Place) location(line int) sarifLocation {
	l := sarifLocation{Physical: physical(p.Where.File, line)}
	if p.Where.Integration != "" {
		l.Logical = append(l.Logical, sarifLogical{printable(p.Where.Integration), "module"})
	}
	if p.Address != "" {
		l.Logical = append(l.Logical, sarifLogical{p.Address, "resource"})
	}
	return l
}

// physical is a place in a file; nil for standard input, which is none.
func physical(file string, line int) *sarifPhysical {
	if file == "" || file == "-" {
		return nil
	}
	u := url.URL{Path: path.Clean(file)}
	if path.IsAbs(file) {
		u.Scheme = "file"
	}
	p := &sarifPhysical{Artifact: sarifArtifact{u.String()}}
	if line > 0 {
		p.Region = &sarifRegion{line}
	}
	return p
}

func (g Group) fingerprint(p Place, i int) string {
	text := strings.Join([]string{
		g.Notice.Rule, p.Where.File, p.Where.Integration, p.Address, p.Method, p.Path, p.Detail, fmt.Sprint(p.rewritten()), fmt.Sprint(i),
	}, "\x00")
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:32]
}
