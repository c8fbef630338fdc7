package diff

import (
	"fmt"
	"time"
)

// refuseToken refuses a creation that could not do any good: one without a place
// for the secret, or with its life already over.
func refuseToken(c Change, f Facts) *Refusal {
	if c.Creation == nil {
		return nil
	}
	if n := c.Creation.nameLength(); n > maxTokenName {
		return &Refusal{
			Guard:   "name",
			Reason:  fmt.Sprintf("with tokens.name_suffix the name would have %d characters, and the platform takes %d", n, maxTokenName),
			Release: "a shorter name in the declaration, or a shorter suffix in the daemon's configuration",
		}
	}
	if expires, err := time.Parse(time.RFC3339, c.Creation.Spec.ExpiresOn); err == nil && !f.Now.Before(expires) {
		return &Refusal{
			Guard:   "expired",
			Reason:  "the token would be expired before it exists: expires_on is " + c.Creation.Spec.ExpiresOn,
			Release: "a later expires_on",
		}
	}
	if reason := f.Sink(c.Creation); reason != "" {
		release := "sink: {name: …, key: …} in the declaration"
		if c.Creation.Sink != nil {
			release = "a sink that takes this key: see sinks in the daemon's configuration, and the place it names"
		}
		return &Refusal{Guard: "sink", Reason: reason, Release: release}
	}
	return nil
}

// Sink is why a token's secret could not be delivered, empty where it could.
func (f Facts) Sink(c *Creation) string {
	if c.Sink == nil {
		return "the token declares no sink for its secret"
	}
	if f.CheckSink == nil {
		return ""
	}
	if err := f.CheckSink(*c.Sink); err != nil {
		return err.Error()
	}
	return ""
}
