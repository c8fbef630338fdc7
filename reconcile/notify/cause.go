package notify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// Severity says how much a cause matters: info, warning or critical.
type Severity string

// The severities.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

var severities = []Severity{Info, Warning, Critical}

// reaches reports whether a route that asks for at least this severity gets a cause.
func (s Severity) reaches(least Severity) bool {
	return slices.Index(severities, s) >= slices.Index(severities, least)
}

// Cause is something that is wrong, or waits for a person, at one moment.
type Cause struct {
	// Key is the same for as long as it lasts: what it is about, never its text.
	Key      string
	About    About
	Severity Severity
	Title    string // one line
	Text     string // what it means, and what to do
	Since    time.Time
	Zones    int // that it concerns; zero where it is not about zones
}

// About is what a cause is about. It decides what a cause waits for.
type About string

// What causes are about.
const (
	AboutOutage About = "outage"
	AboutCommit About = "commit"
	AboutWaves  About = "waves"
	AboutZones  About = "zones"
	AboutToken  About = "token"
	AboutClock  About = "clock"

	AboutRuleset About = "ruleset"
)

// mostTokens bounds the tokens with a cause each; all further ones share one.
const mostTokens = 20

// tokenEnds is how long before its end a token without a successor is a cause.
const tokenEnds = 7 * 24 * time.Hour

// Causes are what is wrong as of a status; groups are the zones that need a person. Sorted by
// key.
func Causes(s inspect.Status, groups []inspect.Group) []Cause {
	var all []Cause
	for _, o := range s.Outages {
		all = append(all, ofOutage(o))
	}
	if held := s.Commit.Held; held != nil {
		all = append(all, Cause{
			Key: "commit/" + held.Commit, About: AboutCommit, Severity: Warning, Since: held.Since,
			Title: "Commit " + short(held.Commit) + " is not accepted: " + held.Reason,
			Text:  lines(by(held.Author), strings.Join(held.Problems, "\n"), "The last good commit stays in force.", held.Fix),
		})
	}
	if s.Rollout != nil && s.Rollout.Halted != "" {
		all = append(all, Cause{
			Key: "waves/" + s.Commit.InForce, About: AboutWaves, Severity: Warning, Since: s.At,
			Title: fmt.Sprintf("The rollout of commit %s is halted at wave %d of %d", short(s.Commit.InForce), s.Rollout.Open, s.Rollout.Waves),
			Text:  lines(s.Rollout.Halted, "seawall waves shows it; seawall waves resume continues it."),
		})
	}
	if f := s.ClockForward(); f != nil {
		all = append(all, Cause{
			Key: "clock/database", About: AboutClock, Severity: Warning, Since: f.At, Title: "Database: " + f.Text(), Text: inspect.ForwardFix + ".",
		})
	}
	for _, g := range groups {
		all = append(all, ofGroup(g))
	}
	all = append(all, ofTokens(s)...)
	slices.SortFunc(all, func(a, b Cause) int { return strings.Compare(a.Key, b.Key) })
	return all
}

// ofOutage is the cause of an outage. That of zones has its own cause in the key, as there
// may be several at once.
func ofOutage(o reconcile.Outage) Cause {
	c := Cause{
		Key: keyOfOutage(o.Subject, o.Name), About: AboutOutage, Severity: Warning, Since: o.Since, Zones: o.Zones,
		Text: lines(o.Fix, affected(o.Zones)),
	}
	what := strings.TrimSpace(string(o.Subject) + " " + o.Name)
	switch o.Subject {
	case reconcile.OutageGit, reconcile.OutagePlatform, reconcile.OutageCredential, reconcile.OutageState:
		c.Severity = Critical // nothing is applied, or nothing is corrected
	case reconcile.OutageZone:
		c.Key = keyOfOutage(o.Subject, o.Cause)
		what = o.Name
	default:
	}
	c.Title = "Outage of " + what + ": " + o.Cause
	return c
}

func keyOfOutage(subject reconcile.OutageSubject, name string) string {
	return "outage/" + string(subject) + "/" + name
}

func ofGroup(g inspect.Group) Cause {
	title := fmt.Sprintf("%s %s", count(g.Count, "zone is", "zones are"), strings.ReplaceAll(string(g.Outcome), "_", " "))
	names := strings.Join(g.First, ", ")
	if more := g.Count - len(g.First); more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	severity, next := Warning, "seawall why ZONE says what holds each back, and what changes that."
	if g.Outcome == inspect.Bypassed {
		// Requests reach no protection, and nothing else says so.
		severity, next = Critical, "seawall why ZONE says which requests reach no protection, and how to remove or accept the skip rule."
	}
	return Cause{
		Key: "zones/" + string(g.Outcome) + "/" + g.By, About: AboutZones, Severity: severity, Since: g.Since, Zones: g.Count,
		Title: title + ": " + g.Reason, Text: lines(names, next),
	}
}

func ofTokens(s inspect.Status) (all []Cause) {
	for _, t := range s.Tokens.Findings {
		if !needsPerson(t) {
			continue
		}
		all = append(all, Cause{
			Key: "token/" + t.Token + "/" + string(t.Outcome), About: AboutToken, Severity: Warning, Since: t.Since,
			Title: "Token " + t.Token + " is " + strings.ReplaceAll(string(t.Outcome), "_", " ") + ": " + t.Reason, Text: t.Fix,
		})
	}
	for _, e := range s.Tokens.Expiring {
		if e.At.Sub(s.At) > tokenEnds {
			continue
		}
		all = append(all, Cause{
			Key: "token/" + e.Token + "/expires", About: AboutToken, Severity: Warning, Since: s.At,
			Title: "Token " + e.Token + " ends at " + e.At.UTC().Format(time.RFC3339) + ", and nothing follows it",
			Text:  "Declare another end or a rotation; seawall token list has all tokens.",
		})
	}
	slices.SortStableFunc(all, func(a, b Cause) int { return cmp.Compare(a.Key, b.Key) })
	if more := len(all) - mostTokens; more > 0 {
		all = append(all[:mostTokens], Cause{
			Key: "token/more", About: AboutToken, Severity: Warning, Since: s.At,
			Title: count(more, "more token needs", "more tokens need") + " a person", Text: "seawall status lists them.",
		})
	}
	return all
}

func needsPerson(t inspect.Token) bool {
	return t.Lasts || t.Outcome.NeedsPerson() || t.Outcome == inspect.Quarantined || t.Outcome == inspect.Undelivered
}

// affected says how many zones an outage concerns.
func affected(zones int) string {
	if zones == 0 {
		return ""
	}
	return "It concerns " + count(zones, "zone.", "zones.")
}

func by(author string) string {
	if author == "" {
		return ""
	}
	return "By " + author + "."
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func short(commit string) string { return commit[:min(len(commit), 12)] }

// lines are those that say something.
func lines(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(l string) bool { return strings.TrimSpace(l) == "" }), "\n")
}
