// Package notify tells people what is wrong, once, and that it has ended:
//
//	Causes   what is wrong, from a status of the daemon       cause.go
//	judge    what of it is new, and what has ended            judge.go
//	Message  what a route gets: a beginning, an end, a digest  message.go
//	Sender   one for each kind of route                        slack.go, webhook.go, smtp.go, alertmanager.go, pagerduty.go
//	Service  the loop: look, judge, keep, send                 service.go, delivery.go
//
// It is level-triggered as the rest of Seawall: every few seconds it compares what is wrong
// with what its routes know, and keeps the difference as messages in the ledger before it
// sends them. So a message is sent at least once, whatever is killed, and has the same id
// each time; and a route that does not work costs nothing but its own messages.
//
// A cause that an earlier process has reported ends only when this process has seen that it
// is over: not yet read is not in order.
package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// State is what a message says of a cause.
type State string

// The states.
const (
	Begins State = "begins"
	Ends   State = "ends"
	Digest State = "digest" // of what was corrected, and of what is open
	News   State = "news"   // it has no end: a new version of a managed ruleset
	Test   State = "test"
)

// Message is what a route gets. Its JSON form is what the generic webhook sends, and what the
// ledger keeps.
type Message struct {
	ID       string    `json:"id"`    // the same each time it is sent
	Route    string    `json:"route"` // its name in the configuration
	Cause    string    `json:"cause"` // the same for the beginning and the end
	About    About     `json:"about,omitempty"`
	State    State     `json:"state"`
	Severity Severity  `json:"severity"`
	Title    string    `json:"title"`
	Text     string    `json:"text,omitempty"`
	Since    time.Time `json:"since"` // when the cause began
	At       time.Time `json:"at"`    // when this was found
	Zones    int       `json:"zones,omitempty"`
}

// idOf is the id of a message: by what it is about, not by its text.
func idOf(route, cause string, state State, since time.Time) string {
	sum := sha256.Sum256([]byte(route + "\x00" + cause + "\x00" + string(state) + "\x00" + since.UTC().Format(time.RFC3339Nano)))
	return hex.EncodeToString(sum[:16])
}

// Incident is the id that the beginning and the end of a cause share on a route.
func (m Message) Incident() string { return idOf(m.Route, m.Cause, "", m.Since) }

// Sender sends the messages of a route. An error that [errors.Is] [ErrRefused] is final: the
// other side has refused this message, and would refuse it again.
type Sender interface {
	Send(context.Context, Message) error
}

// Open is a cause that a route knows of.
type Open struct {
	Cause    string    `json:"cause"`
	About    About     `json:"about"`
	Severity Severity  `json:"severity"`
	Title    string    `json:"title"`
	Text     string    `json:"text,omitempty"` // as it was at the beginning
	Since    time.Time `json:"since"`
	Zones    int       `json:"zones,omitempty"` // as they were at the beginning
}

// begins is the message that a route got of it.
func (o Open) begins(route string) Message {
	return Message{
		ID: idOf(route, o.Cause, Begins, o.Since), Route: route, Cause: o.Cause, About: o.About, State: Begins, Severity: o.Severity,
		Title: o.Title, Text: o.Text, Since: o.Since, At: o.Since, Zones: o.Zones,
	}
}

// Known is what a route knows, as the ledger keeps it.
type Known struct {
	Open     []Open    `json:"open"`              // causes that were reported and have not ended
	Digested time.Time `json:"digested,omitzero"` // up to when the last digest went
}

// knownOf is what was kept of a part of a route; of all where it has no name. What cannot be read
// is an error, never nothing: it would be reported twice.
func knownOf(kept reconcile.Kept, part string) (known Known, err error) {
	body := kept.Known
	if part != "" {
		body = kept.Parts[part]
	}
	if body == nil {
		return known, nil
	}
	if err := json.Unmarshal(body, &known); err != nil {
		return known, fmt.Errorf("what a route knows: %w", err)
	}
	return known, nil
}

// recalled is what was kept of a part of a route, and the messages that wait for the route.
func recalled(kept reconcile.Kept, part string) (known Known, messages []Message, err error) {
	if known, err = knownOf(kept, part); err != nil {
		return known, nil, err
	}
	for _, p := range kept.Messages {
		var m Message
		if err := json.Unmarshal(p.Body, &m); err != nil {
			return known, nil, fmt.Errorf("message %s: %w", p.ID, err)
		}
		messages = append(messages, m)
	}
	return known, messages, nil
}

// keep keeps what a route knows of a part, and messages that are to be sent.
func keep(ctx context.Context, outbox reconcile.Outbox, route, part string, known Known, messages []Message) error {
	body, err := json.Marshal(known)
	if err != nil {
		return err
	}
	posted := make([]reconcile.Posted, len(messages))
	for i, m := range messages {
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		posted[i] = reconcile.Posted{ID: m.ID, Body: text}
	}
	return outbox.Post(ctx, route, part, body, posted)
}

// Forgetful is an outbox that keeps nothing, for a daemon without a ledger.
type Forgetful struct{}

var _ reconcile.Outbox = Forgetful{}

// Notified implements [reconcile.Outbox].
func (Forgetful) Notified(context.Context) (map[string]reconcile.Kept, error) {
	return map[string]reconcile.Kept{}, nil
}

// Post implements [reconcile.Outbox].
func (Forgetful) Post(context.Context, string, string, json.RawMessage, []reconcile.Posted) error {
	return nil
}

// Posted implements [reconcile.Outbox].
func (Forgetful) Posted(context.Context, string) error { return nil }

// ForgetRoute implements [reconcile.Outbox].
func (Forgetful) ForgetRoute(context.Context, string) error { return nil }
