package status

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// Bounds say when a daemon is not ready, or stuck. Zero is never.
type Bounds struct {
	// SourceStale is for how long a fetch of git may fail once it was due.
	SourceStale time.Duration
	// SourceStuck and WorkStuck are for how long one look at git, or at a zone, may go on:
	// much longer than what bounds it.
	SourceStuck, WorkStuck time.Duration
}

// stale says what of the daemon's parts keeps it from being relied on. Its times are by the
// monotonic clock: a clock that is set forward makes nothing stale.
func (c Config) stale(s inspect.Status) (reasons []string) {
	if s.At.IsZero() {
		return nil
	}
	say := func(format string, args ...any) { reasons = append(reasons, fmt.Sprintf(format, args...)) }
	if reason := c.staleSource(s); reason != "" {
		say("%s", reason)
	}
	zones, from := here(s, isCredential)
	if last := latest(latest(s.Started, from), s.Zones.Observed); zones && s.Zones.Declared > 0 && c.overdue(last, s.At) {
		if s.Zones.Observed.IsZero() {
			say("no zone could be read since the start at %s", instant(last))
		} else {
			say("no zone could be read since %s", instant(last))
		}
	}
	reasons = append(reasons, c.behind(s)...)
	return append(reasons, unable(s)...)
}

// here reports whether work is that of the process itself, and since when; zero: since its start.
// Without replicas all is.
func here(s inspect.Status, work func(reconcile.LeaseName) bool) (here bool, since time.Time) {
	if s.Replicas == nil {
		return true, time.Time{}
	}
	for _, l := range s.Replicas.Leases {
		if l.This && work(reconcile.LeaseName(l.Name)) {
			here, since = true, latest(since, l.Since)
		}
	}
	return here, since
}

func isCommits(name reconcile.LeaseName) bool { return name == reconcile.LeaseCommits }

func isCredential(name reconcile.LeaseName) bool {
	return name != reconcile.LeaseCommits && name != reconcile.LeaseTokens
}

// behind says which work is not done in time. A credential that does not work stops its own
// zones, which status, metrics and log report: the process is ready for all others.
func (c Config) behind(s inspect.Status) (reasons []string) {
	for _, of := range s.Work.Credentials {
		if of.Down == "" && !of.OldestDue.IsZero() && c.overdue(of.OldestDue, s.At) {
			reasons = append(reasons, fmt.Sprintf("behind: %s due with credential %s, the oldest since %s", zonesAre(of.Due), of.Name, instant(of.OldestDue)))
		}
	}
	if len(s.Work.Credentials) > 0 {
		return reasons
	}
	for _, p := range s.Queue {
		if !p.Oldest.IsZero() && c.overdue(p.Oldest, s.At) {
			reasons = append(reasons, fmt.Sprintf("behind: %s due (priority %s), the oldest since %s", zonesAre(p.Due), p.Priority, instant(p.Oldest)))
		}
	}
	return reasons
}

func zonesAre(n int) string {
	if n == 1 {
		return "1 zone is"
	}
	return fmt.Sprintf("%d zones are", n)
}

// unable says why the process can do none of its work, from the moment on.
func unable(s inspect.Status) (reasons []string) {
	rejected := map[string]string{}
	for _, o := range s.Outages {
		switch {
		case o.Subject == reconcile.OutageState && o.Works.IsZero():
			reasons = append(reasons, "nothing is written, because "+stateOf(s, o)+": "+o.Cause)
		case o.Subject == reconcile.OutageCredential && o.Zones > 0 && o.Works.IsZero(): // that of tokens affects no zone
			rejected[o.Name] = o.Cause
		}
	}
	if len(rejected) == 0 {
		return reasons
	}
	for _, of := range s.Work.Credentials {
		if _, out := rejected[of.Credential]; of.Zones > 0 && !out {
			return reasons
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rejected)) {
		reasons = append(reasons, fmt.Sprintf("no zone can be read: %s: %s", name, rejected[name]))
	}
	return reasons
}

// staleSource says that git was not fetched for too long; empty where it was. A look is
// due at the next tick after the last one that succeeded.
func (c Config) staleSource(s inspect.Status) string {
	if c.Bounds.SourceStale <= 0 {
		return ""
	}
	looks, from := here(s, isCommits)
	if !looks {
		return ""
	}
	last := latest(latest(s.Started, from), s.Source.LastSuccess)
	bound := c.Bounds.SourceStale
	if c.Sync != nil && !s.Source.LastSuccess.IsZero() {
		if next := c.Sync.Next(last); !next.IsZero() {
			bound += next.Sub(last)
		}
	}
	if s.At.Sub(last) <= bound {
		return ""
	}
	since := "since " + instant(last)
	if s.Source.LastSuccess.IsZero() {
		since = "since the start at " + instant(last)
	}
	if s.Source.Error != "" {
		return fmt.Sprintf("git could not be fetched %s: %s", since, s.Source.Error)
	}
	return "git was not fetched " + since
}

// overdue reports whether an interval of the sweep has passed: the longer one of those in
// which the two moments are, since a schedule may have short and long ones.
func (c Config) overdue(since, now time.Time) bool {
	if c.Sweep == nil {
		return false
	}
	var then, today reconcile.Interval
	interval := max(then.At(c.Sweep, since), today.At(c.Sweep, now))
	return interval > 0 && now.Sub(since) > interval
}

// stuck says which part makes no progress any more; none where all do. Restarting the
// daemon may help.
func (c Config) stuck(s inspect.Status) (reasons []string) {
	if bound := c.Bounds.WorkStuck; bound > 0 && s.Work.OldestSeconds > bound.Seconds() {
		reasons = append(reasons, fmt.Sprintf("a worker has processed %s since %s", s.Work.On, instant(s.Work.Oldest)))
	}
	if bound := c.Bounds.SourceStuck; bound > 0 && s.Source.LookingSeconds > bound.Seconds() {
		reasons = append(reasons, "the current fetch of git began at "+instant(s.Source.Looking))
	}
	return reasons
}

// stateOf says where the ledger is that is away.
func stateOf(s inspect.Status, o reconcile.Outage) string {
	if s.Replicas != nil {
		return "the database cannot be used since " + instant(o.Since)
	}
	return "the state folder cannot be used"
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }
