package inspect

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// widest is how much of a reason a table shows, in characters.
const widest = 100

// cut is a reason for a table: without the call that an error begins with, which says
// little beside the zone. It is cut to the width of a terminal, and to nothing else.
func (t *textWriter) cut(text string) string {
	if call, rest, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(call, "GET /") {
		text = rest
	}
	runes := []rune(text)
	if !t.terminal || len(runes) <= widest {
		return text
	}
	return string(runes[:widest-1]) + "…"
}

// value is a value of a field as JSON; an absent one is a dash.
func value(v any) string {
	if v == nil {
		return "-"
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return "?"
	}
	return strings.TrimSpace(b.String())
}

// OutageText is an outage on a line.
func OutageText(o reconcile.Outage) string {
	subject := string(o.Subject)
	if o.Name != "" {
		subject += " " + o.Name
	}
	text := fmt.Sprintf("%s since %s: %s", subject, instant(o.Since), o.Cause)
	if o.Zones > 0 {
		text += " (" + Count(o.Zones, "zone", "zones") + ")"
	}
	return text
}

// Words is an outcome as people say it.
func Words(o Outcome) string { return strings.ReplaceAll(string(o), "_", " ") }

// Count is a number of things.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Short is the beginning of a commit.
func Short(commit string) string {
	if commit == "" {
		return "(none)"
	}
	return commit[:min(len(commit), 12)]
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Ago says how long ago a moment was.
func Ago(t, now time.Time) string { return Span(Age(t, now)) + " ago" }

// Span is a time for people, rounded to what matters of it.
func Span(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}
