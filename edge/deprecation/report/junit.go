package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The elements of JUnit's XML that its readers agree on.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string     `xml:"name,attr"`
		Class   string     `xml:"classname,attr"`
		Failure *junitText `xml:"failure,omitempty"`
		Error   *junitText `xml:"error,omitempty"`
		Skipped *junitText `xml:"skipped,omitempty"`
		Out     string     `xml:"system-out,omitempty"`
	}
	junitText struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes a report as the results of tests: one for each rule of the
// calendar, which fails where the exit code counts it, and one for each input,
// which is in error where it could not be read. A rule that is merely announced
// passes, with its places as output; one that is only met where it is suppressed
// is skipped.
func (r Report) JUnit(w io.Writer) error {
	rules, inputs := r.ruleSuite(), r.inputSuite()
	all := junitSuites{Name: "seawall deprecations check", Suites: []junitSuite{rules}}
	if len(inputs.Cases) > 0 {
		all.Suites = append(all.Suites, inputs)
	}
	for i := range all.Suites {
		s := &all.Suites[i]
		s.count()
		all.Tests, all.Failures, all.Errors = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) count() {
	s.Tests = len(s.Cases)
	for _, c := range s.Cases {
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
}

func (r Report) ruleSuite() junitSuite {
	s := junitSuite{Name: "deprecations on " + string(r.At)}
	groups := map[string][]Group{}
	for _, g := range r.Rules {
		groups[g.Notice.Rule] = append(groups[g.Notice.Rule], g)
	}
	for _, rule := range r.Calendar.Rules {
		s.Cases = append(s.Cases, ruleCase(rule.ID, groups[rule.ID]))
	}
	return s
}

func ruleCase(id string, groups []Group) junitCase {
	c := junitCase{Name: id, Class: "seawall.deprecations"}
	var failed, told []string
	suppressed, counted, title := 0, 0, ""
	for _, g := range groups {
		suppressed, counted = suppressed+g.Suppressed, counted+g.Count
		text := g.plain()
		switch {
		case g.Count > 0 && g.Notice.ExitCode() > 0:
			failed, title = append(failed, text), printable(g.Notice.Title)+": "+standing(g.Notice)
		case g.Count > 0:
			told = append(told, text)
		}
	}
	switch {
	case len(failed) > 0:
		c.Failure = &junitText{title, "deprecation", strings.Join(failed, "\n")}
	case suppressed > 0 && counted == 0:
		c.Skipped = &junitText{Message: plural(suppressed, "call is", "calls are") + " suppressed"}
	}
	c.Out = strings.Join(told, "\n")
	return c
}

// plain is the block of a rule as text.
func (g Group) plain() string {
	var t textWriter
	t.group(g)
	return strings.TrimSpace(t.String())
}

func (r Report) inputSuite() junitSuite {
	s := junitSuite{Name: "inputs"}
	for _, in := range r.Inputs {
		c := junitCase{Name: printable(in.Name), Class: "seawall.inputs"}
		if in.Error != "" {
			c.Error = &junitText{Message: printable(in.Error), Type: "unreadable"}
		}
		if in.Skipped > 0 {
			c.Out = fmt.Sprintf("%s could not be read", plural(in.Skipped, "place", "places"))
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}
