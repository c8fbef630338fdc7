package reconcile

import (
	"context"
	"encoding/json"
)

// Outbox keeps what notification routes know, and the messages that are still to be sent to
// them. What both say is known to package notify alone.
type Outbox interface {
	// Notified returns what was kept, by route.
	Notified(context.Context) (map[string]Kept, error)
	// Post keeps in one transaction what a route knows now of a part, and the messages that say so;
	// known nil: nothing any more. A message whose id is kept already stays as it is.
	Post(ctx context.Context, route, part string, known json.RawMessage, messages []Posted) error
	// Posted forgets a message.
	Posted(ctx context.Context, id string) error
	// ForgetRoute forgets a route and its messages.
	ForgetRoute(ctx context.Context, route string) error
}

// Kept is what is kept of one route.
type Kept struct {
	Known json.RawMessage // nil: nothing
	// Parts is what it knows beside of parts that are told of one by one: by the process that has the
	// lease of this name, so that none writes over what another does.
	Parts    map[string]json.RawMessage
	Messages []Posted // the oldest first
}

// Posted is a message that is kept until it is sent.
type Posted struct {
	ID   string
	Body json.RawMessage
}

// SharedOutbox is one from which several processes send.
type SharedOutbox interface {
	Outbox
	// Waiting returns what waits, by route.
	Waiting(ctx context.Context) (map[string]Waiting, error)
	// Message returns a message; false where it is sent.
	Message(ctx context.Context, id string) (body json.RawMessage, waits bool, err error)
}

// Waiting is what waits for a route.
type Waiting struct {
	First    string // the id of the oldest message
	Messages int
}
