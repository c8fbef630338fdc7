package guard

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
)

// refuseToken refuses a creation that could not do any good: one without a place
// for the secret, or with its life already over.
func refuseToken(c diff.Change, f Facts) *diff.Refusal {
	switch o := c.Operation.(type) {
	case diff.Amendment:
		return refuseAmendment(o, f)
	case diff.Creation:
		return refuseCreation(o, f)
	}
	return nil
}

func refuseCreation(c diff.Creation, f Facts) *diff.Refusal {
	const anIntent = "0123456789abcdef"
	if refusal := refuseName(c.Suffix.Behind(c.Spec.Name, anIntent)); refusal != nil {
		return refusal
	}
	if refusal := refuseOver(c.Spec.ExpiresOn, "already be expired when it is created", f); refusal != nil {
		return refusal
	}
	reason := f.sink(c.Sink)
	if reason == "" {
		return nil
	}
	release := "sink: {name: …, key: …} in the declaration"
	if c.Sink != nil {
		release = "a sink that takes this key: see sinks in the daemon's configuration, and the place it names"
	}
	return &diff.Refusal{Guard: diff.GuardSink, Reason: reason, Release: release}
}

// refuseAmendment refuses an update that the platform would refuse, or that would
// end a token that is in use by a date: taking it out of the repository says that
// better.
func refuseAmendment(a diff.Amendment, f Facts) *diff.Refusal {
	if refusal := refuseName(a.Spec.Name); refusal != nil {
		return refusal
	}
	return refuseOver(a.Spec.ExpiresOn, "end at once", f)
}

// maxTokenName is how many characters a name has at most, as known beyond the
// reference.
const maxTokenName = 120

func refuseName(name string) *diff.Refusal {
	characters := utf8.RuneCountInString(name)
	if characters <= maxTokenName {
		return nil
	}
	return &diff.Refusal{
		Guard:   diff.GuardName,
		Reason:  fmt.Sprintf("with tokens.name_suffix the name would have %d characters, but the platform allows %d", characters, maxTokenName),
		Release: "a shorter name in the declaration, or a shorter suffix in the daemon's configuration",
	}
}

func refuseOver(expiresOn, would string, f Facts) *diff.Refusal {
	if expires, err := time.Parse(time.RFC3339, expiresOn); err != nil || f.Now.Before(expires) {
		return nil
	}
	return &diff.Refusal{
		Guard:   diff.GuardExpired,
		Reason:  fmt.Sprintf("the token would %s: expires_on is %s", would, expiresOn),
		Release: "a later expires_on",
	}
}

// sink is why a token's secret could not be delivered, empty where it could.
func (f Facts) sink(sink *desired.Sink) string {
	if sink == nil {
		return "the token declares no sink for its secret"
	}
	if f.CheckSink == nil {
		return ""
	}
	if err := f.CheckSink(*sink); err != nil {
		return err.Error()
	}
	return ""
}
