package diff

import (
	"fmt"
	"time"
	"unicode/utf8"
)

// refuseToken refuses a creation that could not do any good: one without a place
// for the secret, or with its life already over.
func refuseToken(c Change, f Facts) *Refusal {
	if c.Amendment != nil {
		return refuseAmendment(*c.Amendment, f)
	}
	if c.Creation == nil {
		return nil
	}
	if refusal := refuseName(c.Creation.nameLength()); refusal != nil {
		return refusal
	}
	if refusal := refuseOver(c.Creation.Spec.ExpiresOn, "already be expired when it is created", f); refusal != nil {
		return refusal
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

// refuseAmendment refuses an update that the platform would refuse, or that would
// end a token that is in use by a date: taking it out of the repository says that
// better.
func refuseAmendment(a Amendment, f Facts) *Refusal {
	if refusal := refuseName(utf8.RuneCountInString(a.Spec.Name)); refusal != nil {
		return refusal
	}
	return refuseOver(a.Spec.ExpiresOn, "end at once", f)
}

func refuseName(characters int) *Refusal {
	if characters <= maxTokenName {
		return nil
	}
	return &Refusal{
		Guard:   "name",
		Reason:  fmt.Sprintf("with tokens.name_suffix the name would have %d characters, but the platform allows %d", characters, maxTokenName),
		Release: "a shorter name in the declaration, or a shorter suffix in the daemon's configuration",
	}
}

func refuseOver(expiresOn, would string, f Facts) *Refusal {
	if expires, err := time.Parse(time.RFC3339, expiresOn); err != nil || f.Now.Before(expires) {
		return nil
	}
	return &Refusal{
		Guard:   "expired",
		Reason:  fmt.Sprintf("the token would %s: expires_on is %s", would, expiresOn),
		Release: "a later expires_on",
	}
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
