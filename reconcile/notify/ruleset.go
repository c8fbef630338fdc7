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
		Title: fmt.Sprintf("Managed ruleset %q of account %s has version %s (was %s): protection is weaker in %s, stronger in %s; %s blocked",
			p.Name, strings.Join(keys, ", "), after.Version, before.Version, count(weaker, "deployment", "deployments"), count(stronger, "deployment", "deployments"), count(blocked, "is", "are")),
		Text: "seawall radar says which rules have changed, and in which zones.",
	}
	if weaker+blocked > 0 {
		m.Severity = Warning
	}
	m.ID = idOf(route, m.Cause, News, m.Since)
	return m
}
