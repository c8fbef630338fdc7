package deprecation

import (
	"fmt"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge/lazyregexp"
	"github.com/seawall-dev/seawall/edge/visible"
)

// Rules of what an answer announces itself.
const (
	RuleHeader  = "deprecation-header"        // Deprecation (RFC 9745) or Sunset (RFC 8594)
	RuleLink    = "deprecation-link"          // Link alone; info
	RuleOrder   = "sunset-before-deprecation" // the two headers contradict each other
	RuleMessage = "deprecation-message"       // the envelope's messages
)

// headerNotices reads what the answer's headers announce.
func headerNotices(header map[string][]string, at time.Time) []Notice {
	deprecation := parseDeprecation(first(header, "Deprecation"))
	sunset := parseSunset(first(header, "Sunset"))
	link := documentation(values(header, "Link"))
	if !deprecation.said && !sunset.said {
		if link == "" {
			return nil
		}
		return []Notice{{
			Rule: RuleLink, Title: "the answer links to a notice of deprecation", State: Deprecated,
			Info: true, Replacement: "see " + link,
		}}
	}
	n := Notice{Rule: RuleHeader, Title: "the answer's headers announce a deprecation", Detail: detail(deprecation, sunset)}
	n.standing(deprecation, sunset, at)
	if link != "" {
		n.Replacement = "see " + link
	}
	out := []Notice{n}
	if d, s := deprecation.at, sunset.at; !d.IsZero() && !s.IsZero() && s.Before(d) {
		wrong := n
		wrong.Rule, wrong.Title = RuleOrder, "the answer's Sunset is earlier than its Deprecation"
		out = append(out, wrong)
	}
	return out
}

// announcement is what a header field says: nothing, something, or an instant.
type announcement struct {
	said bool
	at   time.Time // zero where no day was told, or none that can be read
	text string
}

func first(header map[string][]string, name string) string {
	if v := values(header, name); len(v) > 0 {
		return strings.TrimSpace(v[0])
	}
	return ""
}

// parseDeprecation reads RFC 9745's "@1688169599" and the forms of its drafts,
// "true" and an HTTP date. What it cannot read still says that there is a
// deprecation; only "false" and an empty field say that there is none.
func parseDeprecation(text string) announcement {
	a := announcement{said: text != "" && text != "false" && text != "?0", text: text}
	item, _, _ := strings.Cut(text, ";") // parameters
	if seconds, ok := strings.CutPrefix(item, "@"); ok {
		a.at = epoch(strings.TrimSpace(seconds))
	} else {
		a.at = httpDate(text)
	}
	return a
}

func parseSunset(text string) announcement {
	return announcement{said: text != "", at: httpDate(text), text: text}
}

// epoch reads whole seconds. Years beyond 9999 are no dates.
func epoch(text string) time.Time {
	var seconds int64
	if _, err := fmt.Sscanf(text, "%d", &seconds); err != nil || fmt.Sprint(seconds) != text {
		return time.Time{}
	}
	if t := time.Unix(seconds, 0).UTC(); t.Year() >= 1 && t.Year() <= 9999 {
		return t
	}
	return time.Time{}
}

// httpDate reads the three forms of RFC 9110, 5.6.7.
func httpDate(text string) time.Time {
	for _, form := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// standing compares instants, not days: a header tells the time too.
func (n *Notice) standing(deprecation, sunset announcement, at time.Time) {
	target := deprecation.at
	switch {
	case !sunset.at.IsZero() && !at.Before(sunset.at):
		n.State, target = PastEnd, sunset.at
	case !deprecation.at.IsZero() && at.Before(deprecation.at), !deprecation.said && !sunset.at.IsZero():
		n.State = Announced
	default:
		n.State = Deprecated
		if !sunset.at.IsZero() {
			target = sunset.at // what a deprecated call waits for
		}
	}
	if target.IsZero() {
		target = sunset.at
	}
	n.Date, n.EndOfLife = dateOrNone(deprecation.at), End(dateOrNone(sunset.at))
	if !target.IsZero() {
		n.DaysLeft = DateOf(target).DaysAfter(DateOf(at))
	}
}

func dateOrNone(t time.Time) Date {
	if t.IsZero() {
		return ""
	}
	return DateOf(t)
}

func detail(deprecation, sunset announcement) string {
	var out []string
	if deprecation.said {
		out = append(out, "Deprecation: "+printable(deprecation.text))
	}
	if sunset.said {
		out = append(out, "Sunset: "+printable(sunset.text))
	}
	return strings.Join(out, ", ")
}

// messageNotices finds messages of the envelope that speak of a deprecation.
func messageNotices(body any) []Notice {
	envelope, _ := body.(map[string]any)
	list, _ := envelope["messages"].([]any)
	var out []Notice
	seen := map[string]bool{}
	for _, m := range list {
		text := messageText(m)
		if !speaks().MatchString(text) || seen[text] {
			continue
		}
		seen[text] = true
		out = append(out, Notice{
			Rule: RuleMessage, Title: "a message of the answer speaks of a deprecation",
			State: Deprecated, Detail: printable(text),
		})
	}
	return out
}

// messageText: messages are texts or objects with one.
func messageText(m any) string {
	if object, ok := m.(map[string]any); ok {
		m = object["message"]
	}
	text, _ := m.(string)
	return text
}

// speaks are the words of a message that speaks of a deprecation.
var speaks = lazyregexp.New(`(?i)deprecat|sunset|end of life|end-of-life`)

// printable is a text of the platform's as it may stand in a report: in one
// line, without control characters, and not too long.
func printable(text string) string {
	text = visible.Text(text)
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + "…"
	}
	return text
}
