package notify

import (
	"fmt"
	"strings"
	"text/template"
	"time"
)

// Heading is the title with the severity, or with what has happened.
func (m Message) Heading() string {
	switch m.State {
	case Ends:
		return "[ENDED] " + m.Title
	case Digest, News, Test:
		return m.Title
	default:
		return "[" + strings.ToUpper(string(m.Severity)) + "] " + m.Title
	}
}

// TestMessage is what seawall notify test sends.
func TestMessage(route string, now time.Time) Message {
	return Message{
		ID: idOf(route, "test", Test, now), Route: route, Cause: "test", State: Test, Severity: Info,
		Title: "Seawall can send to route " + route, Text: "This is a test: nothing is wrong.", Since: now, At: now,
	}
}

// Template is how a route writes titles and texts; nil members leave them as they are.
type Template struct{ Title, Text *template.Template }

// ParseTemplate reads the templates of a route, in the language of text/template; an empty text is none. The
// data is a [Message]. A template that fails for a message is refused here.
func ParseTemplate(title, text string) (t Template, err error) {
	if t.Title, err = parse("title", title); err != nil {
		return t, err
	}
	t.Text, err = parse("text", text)
	return t, err
}

func parse(name, text string) (*template.Template, error) {
	if text == "" {
		return nil, nil
	}
	t, err := template.New(name).Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, err
	}
	return t, t.Execute(new(strings.Builder), TestMessage("test", time.Unix(0, 0)))
}

// apply writes the title and the text of a message.
func (t Template) apply(m Message) Message {
	was := m
	m.Title, m.Text = filled(t.Title, was, m.Title), filled(t.Text, was, m.Text)
	return m
}

func filled(t *template.Template, m Message, otherwise string) string {
	if t == nil {
		return otherwise
	}
	var b strings.Builder
	if err := t.Execute(&b, m); err != nil { // it was tried before; a message is sent in any case
		return otherwise
	}
	return b.String()
}

// mostNamed is how many zones, or causes, a digest names.
const mostNamed = 5

// Summary is what a digest says of a span of time.
type Summary struct {
	Corrected, CorrectedZones int // drift that Seawall has corrected
	Applied, AppliedZones     int // writes of commits
	Failed                    int // writes that were not proved
	First                     []string
}

// digest is the message of a route for a span; open are the causes that it knows of.
func digest(route string, from, to time.Time, s Summary, open []Open) Message {
	m := Message{
		ID: idOf(route, "digest", Digest, to), Route: route, Cause: "digest", State: Digest, Severity: Info, Since: from, At: to, Zones: s.CorrectedZones,
		Title: fmt.Sprintf("Drift corrected: %s in %s; %s open",
			count(s.Corrected, "change", "changes"), count(s.CorrectedZones, "zone", "zones"), count(len(open), "cause is", "causes are")),
	}
	text := []string{"From " + from.UTC().Format(time.RFC3339) + " to " + to.UTC().Format(time.RFC3339) + ".", strings.Join(s.First, ", ")}
	text = append(text, "Commits: "+count(s.Applied, "write", "writes")+" in "+count(s.AppliedZones, "zone", "zones")+"; "+count(s.Failed, "write was", "writes were")+" not proved.")
	for i, o := range open {
		if i == mostNamed {
			text = append(text, fmt.Sprintf("and %d more; seawall status lists all", len(open)-mostNamed))
			break
		}
		text = append(text, "Open since "+o.Since.UTC().Format(time.RFC3339)+": "+o.Title)
	}
	m.Text = lines(text...)
	return m
}
