package notify

import (
	"context"
	"net/http"
	"time"
)

// Heartbeat asks an address again and again while the daemon is ready. What is behind it (a
// dead man's switch) reports when that stops: the one thing that the daemon cannot report
// itself.
type Heartbeat struct {
	poster
	URL   Secret
	Every time.Duration
	Ready func() bool // /readyz answers 200
}

// NewHeartbeat returns the heartbeat of an address.
func NewHeartbeat(url Secret, every time.Duration, ready func() bool) (*Heartbeat, error) {
	p, err := newPoster(nil)
	return &Heartbeat{p, url, every, ready}, err
}

// HeartbeatRoute is the name under which its failures are reported.
const HeartbeatRoute = "heartbeat"

func (h *Heartbeat) run(ctx context.Context, c Config) {
	ticker := time.NewTicker(h.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if !h.Ready() {
			continue
		}
		switch err := h.beat(ctx); {
		case ctx.Err() != nil:
		case err != nil:
			c.Failed(HeartbeatRoute, err)
		default:
			c.Worked(HeartbeatRoute)
		}
	}
}

func (h *Heartbeat) beat(ctx context.Context) error {
	request, err := newRequest(ctx, http.MethodGet, h.URL, nil)
	if err != nil {
		return err
	}
	return h.do(request)
}
