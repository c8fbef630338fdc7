package notify

import (
	"fmt"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/radar"
)

// published are the messages about new versions of managed rulesets: a warning where
// protection is weaker in a zone or a declaration is blocked, else an info.
func published(route string, least Severity, news []radar.Report, now time.Time) (messages []Message) {
	for _, report := range news {
		for _, p := range report.Rulesets {
			if !p.Changes() {
				continue
			}
			m := ofVersion(route, p, now)
			if m.Severity.reaches(least) {
				messages = append(messages, m)
			}
		}
	}
	return messages
}

func ofVersion(route string, p radar.Published, now time.Time) Message {
	before, after := p.Versions[len(p.Versions)-2], p.Versions[len(p.Versions)-1]
	weaker, stronger := p.Towards(diff.Weakens), p.Towards(diff.Strengthens)
	blocked := p.Count(func(g radar.Group) bool { return g.Blocked })
	var keys []string
	for _, a := range p.Accounts {
		keys = append(keys, a.Key)
	}
	m := Message{
		Route: route, Cause: "ruleset/" + strings.Join(keys, ",") + "/" + string(p.ID) + "/" + after.Version, About: AboutRuleset, State: News, Severity: Info,
		Since: after.At, At: now, Zones: weaker + stronger + blocked,
		Title: fmt.Sprintf("Managed ruleset %q of account %s has version %s (was %s): %s",
			p.Name, strings.Join(keys, ", "), after.Version, before.Version, effect(weaker, stronger, blocked)),
		Text: "seawall radar says which rules have changed, and in which zones.",
	}
	if weaker+blocked > 0 {
		m.Severity = Warning
	}
	m.ID = idOf(route, m.Cause, News, m.Since)
	return m
}

// effect says what a version does to deployments.
func effect(weaker, stronger, blocked int) string {
	var said []string
	if weaker > 0 {
		said = append(said, "protection is weaker in "+count(weaker, "deployment", "deployments"))
	}
	if blocked > 0 {
		said = append(said, "the declaration of "+count(blocked, "deployment", "deployments")+" is blocked")
	}
	if stronger > 0 {
		said = append(said, "protection is stronger in "+count(stronger, "deployment", "deployments"))
	}
	if len(said) == 0 {
		return "protection is the same in all deployments"
	}
	return strings.Join(said, ", ")
}
