package guard

import (
	"strings"
	"time"

	"github.com/seawall-dev/seawall/diff"
)

func refuseNonConvergent(c diff.Change, f Facts) *diff.Refusal {
	unkept := f.NonConvergent[c.ID()]
	if unkept == "" || unkept != c.Fingerprint() {
		return nil
	}
	reason, hint := diff.NotKept(c.Fields)
	if hint == "" {
		hint = "a change of the declaration or the live state, or seawall apply, which tries once more"
	}
	return &diff.Refusal{Guard: diff.GuardNonConvergent, Reason: whenTried(f.Tries[c.ID()], reason), Release: hint}
}

// whenTried adds to a reason when the change was sent, and when it is sent again.
func whenTried(try diff.Try, reason string) string {
	at, next := "before", ""
	if !try.At.IsZero() {
		at = "at " + try.At.UTC().Format(time.RFC3339)
	}
	if !try.Next.IsZero() {
		next = "; next try at " + try.Next.UTC().Format(time.RFC3339)
	}
	return "the platform accepted this change " + at + ", but " + strings.TrimPrefix(reason, "the platform ") + next
}
