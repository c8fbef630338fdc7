package notify

import (
	"context"
	"time"
)

// PagerDuty sends events of its API, version 2. The beginning of a cause triggers an incident,
// and its end resolves the same one. A digest and
// news are no events: they are left out.
type PagerDuty struct {
	poster
	URL    Secret
	Key    Secret // the integration key of a service
	Source string // what reports: the name of this host
}

type pagerDutyEvent struct {
	RoutingKey string            `json:"routing_key"`
	Action     string            `json:"event_action"`
	Key        string            `json:"dedup_key"`
	Payload    *pagerDutyPayload `json:"payload,omitempty"`
}

type pagerDutyPayload struct {
	Summary   string         `json:"summary"`
	Source    string         `json:"source"`
	Severity  Severity       `json:"severity"`
	Timestamp time.Time      `json:"timestamp"`
	Details   map[string]any `json:"custom_details"`
}

// mostSummary is how long a summary may be, as its documentation says.
const mostSummary = 1024

// NewPagerDuty returns the sender of events.
func NewPagerDuty(url, key Secret, source string) (*PagerDuty, error) {
	p, err := newPoster(nil)
	return &PagerDuty{p, url, key, source}, err
}

// Send implements [Sender].
func (p *PagerDuty) Send(ctx context.Context, m Message) error {
	event := pagerDutyEvent{Key: m.Incident(), Action: "trigger"}
	switch m.State {
	case Digest, News:
		return nil
	case Ends:
		event.Action = "resolve"
	default:
		event.Payload = &pagerDutyPayload{
			Summary: cut(m.Title, mostSummary), Source: p.Source, Severity: m.Severity, Timestamp: m.Since,
			Details: map[string]any{"text": m.Text, "cause": m.Cause, "id": m.ID},
		}
	}
	key, err := p.Key()
	if err != nil {
		return err
	}
	event.RoutingKey = key.Reveal()
	if err := p.post(ctx, p.URL, event, nil); err != nil || m.State != Test {
		return err
	}
	event.Action, event.Payload = "resolve", nil // a test leaves no incident behind
	return p.post(ctx, p.URL, event, nil)
}

// cut shortens a text to at most so many bytes, at a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && text[most]&0xc0 == 0x80 {
		most--
	}
	return text[:most]
}
