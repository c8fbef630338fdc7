package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// laws is what the crash model knows of the truth, and what was seen to be against it.
type laws struct {
	mu    sync.Mutex
	wrong []string

	commits  map[string]desired.State // all that were ever pushed
	accepted [2]string                // the commit on record, and the one before it
	since    time.Time                // when it was accepted
	rolled   time.Time                // when the waves on record changed last

	sends []time.Time // of the last requests, as many as the budget has
	calm  time.Time   // since when nothing is wrong with the world; it may be later than now
	zones map[edge.Scope]*zoneTruth
	// changed are the zones that were written for each commit, and healed when each zone
	// was written because of drift, without an approval.
	changed map[string]map[edge.Scope]bool
	healed  map[edge.Scope]time.Time
	// blurred says that how many zones the commit changes is not what it was when it was
	// counted: people have said or done something since, or zones could not be read. unkept
	// says that of changes that the platform did not keep, which the ledger remembers.
	blurred, unkept bool
	tally           tally
}

// tally says how much of everything a run has had, for who doubts that it is worth anything.
type tally struct {
	Lives, Commits, Requests, Writes, Drift, Approved int
}

func (a *tally) add(b tally) {
	a.Lives, a.Commits, a.Requests = a.Lives+b.Lives, a.Commits+b.Commits, a.Requests+b.Requests
	a.Writes, a.Drift, a.Approved = a.Writes+b.Writes, a.Drift+b.Drift, a.Approved+b.Approved
}

// zoneTruth is what is so in one zone, whatever anybody knows of it.
type zoneTruth struct {
	hand       []string // tags that a person has switched off, and that are none of git's
	clicked    int      // when that was, in the order of what happens
	seen       int      // when the entry point was read last
	asked      time.Time
	held       [2]time.Time // from when until when
	approved   bool         // somebody has agreed to something about it
	happenings *int
}

// fault notes that a law is broken; the caller holds the lock.
func (l *laws) fault(format string, args ...any) {
	if len(l.wrong) < 5 {
		l.wrong = append(l.wrong, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
	}
}

func (l *laws) broken(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault(format, args...)
}

// disturb notes that something has gone wrong, so that nothing need be in time.
func (l *laws) disturb() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); l.calm.Before(now) {
		l.calm = now
	}
}

func (l *laws) rolls() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rolled = time.Now()
}

// accept notes what is in force; the caller holds the lock.
func (l *laws) accept(commit string) {
	if commit == l.accepted[0] {
		return
	}
	l.accepted = [2]string{commit, l.accepted[0]}
	l.since, l.blurred = time.Now(), l.unkept || time.Now().Before(l.calm)
	for _, z := range l.zones {
		l.blurred = l.blurred || z.approved || time.Now().Before(z.held[1])
	}
	l.tally.Commits++
	for _, z := range l.declared(commit) {
		if problem := l.zones[z.Scope]; problem == nil {
			l.fault("commit %s declares %s", commit, z.Key)
		}
	}
	if strings.HasPrefix(commit, "bad") {
		l.fault("commit %s is in force", commit)
	}
}

func (l *laws) declared(commit string) []desired.Zone {
	if accounts := l.commits[commit].Accounts; len(accounts) > 0 {
		return accounts[0].Zones
	}
	return nil
}

func (l *laws) zone(commit string, id edge.Scope) (desired.Zone, bool) {
	for _, z := range l.declared(commit) {
		if z.Scope == id {
			return z, true
		}
	}
	return desired.Zone{}, false
}

// sent counts a request: no span has more of them than the budget.
func (l *laws) sent() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.tally.Requests++
	if len(l.sends) == crashRequests {
		if span := now.Sub(l.sends[0]); span < crashPer {
			l.fault("%d requests in %v", crashRequests+1, span)
		}
		l.sends = l.sends[1:]
	}
	l.sends = append(l.sends, now)
}

func (l *laws) asked(id edge.Scope) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.zones[id].asked = time.Now()
}

// read notes that an entry point was read; the caller holds the lock.
func (l *laws) read(id edge.Scope) {
	z := l.zones[id]
	*z.happenings++
	z.seen = *z.happenings
}

// written notes what a write sends of people's own tags, and what is live after it: the platform may
// ignore it. The caller holds the lock. Under keep, these tags stay, unless they came between the
// read and the write.
func (l *laws) written(id edge.Scope, sent, live []string) {
	z := l.zones[id]
	if !slices.Equal(sent, z.hand) && keeps(id) && z.seen > z.clicked {
		l.fault("a write to zone %s leaves %v off of what people have switched off: %v", zoneName(id), sent, z.hand)
	}
	z.hand = live
}

// handIn are people's own tags of those that are off.
func handIn(off string) (hand []string) {
	for tag := range strings.SplitSeq(off, ",") {
		if slices.Contains(handTags, tag) {
			hand = append(hand, tag)
		}
	}
	return hand
}

// unseen notes the zones that were not looked at for too long.
func (l *laws) unseen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for _, z := range l.declared(l.accepted[0]) {
		last := l.calm
		for _, at := range []time.Time{l.since, l.zones[z.Scope].asked} {
			if at.After(last) {
				last = at
			}
		}
		if gone := now.Sub(last); gone > crashPatience {
			l.fault("%s was not looked at for %v", z.Key, gone)
		}
	}
}

// checkWrite holds a write to what was so at the moment it was permitted.
func (w *crashes) checkWrite(id edge.Scope, off string) {
	record, err := w.people.Restore(context.Background())
	live := strings.Split(w.off(id), ",")
	l := w.laws
	l.mu.Lock()
	defer l.mu.Unlock()
	now, z := time.Now(), l.zones[id]
	if err != nil {
		l.fault("reading the ledger: %v", err)
	}
	commit, ok := l.wants(id, off, now)
	if !ok {
		l.fault("zone %s gets %q, which commit %s does not declare", zoneName(id), off, commit)
		return
	}
	if z.held[0].Before(now) && now.Before(z.held[1]) {
		l.fault("zone %s is written though it is held until %v", zoneName(id), z.held[1])
	}
	if frozen, _ := reconcile.FreezesAt(w.config.Guards.Freezes, now, false); len(frozen) > 0 {
		l.fault("zone %s is written in a freeze", zoneName(id))
	}
	declared, _ := l.zone(commit, id)
	l.tally.Writes++
	work := record.Proofs[id].Fingerprint != declared.Fingerprint(l.commits[commit].Accounts[0])
	if work && !l.rolled.Equal(now) && record.Rollout.Commit == commit {
		if facts := control.RolloutFacts(record.Rollout, w.config.Guards.Waves, now); facts != nil && facts.Wave[id] > 0 &&
			(facts.Wave[id] > facts.Open || facts.Halted != "") {
			l.fault("zone %s is written for commit %s, though of wave %d only %d are open, halted %q", zoneName(id), commit, facts.Wave[id], facts.Open, facts.Halted)
		}
	}
	w.logf("write %s %q over %v for %s, commit work %v", zoneName(id), off, live, commit, work)
	if !work {
		l.tally.Drift++
	}
	if z.approved {
		l.tally.Approved++
		return
	}
	w.checkLimits(record, id, commit, work, now)
	for tag := range strings.SplitSeq(off, ",") {
		if w.approves && declared.Labels["tier"] == "gold" && !slices.Contains(live, tag) && z.seen > z.clicked && tag != "" {
			l.fault("zone %s is weakened (%s, after %v), and nobody has agreed", zoneName(id), tag, live)
		}
	}
}

// wants reports whether a commit in force declares what is about to be written: the one
// on record, or until a moment ago another one. The caller holds the lock.
func (l *laws) wants(id edge.Scope, off string, now time.Time) (string, bool) {
	for i, commit := range l.accepted {
		if i > 0 && !l.since.Equal(now) {
			break
		}
		if z, ok := l.zone(commit, id); ok && fits(z, off) {
			return commit, true
		}
	}
	return l.accepted[0], false
}

// fits reports whether the tags that a write switches off are those that are declared,
// and under keep those of people.
func fits(z desired.Zone, off string) bool {
	var git []string
	for tag := range strings.SplitSeq(off, ",") {
		if slices.Contains(gitTags, tag) || tag != "" && !keeps(z.Scope) {
			git = append(git, tag)
		}
	}
	return slices.Equal(git, declaredTags(z))
}

func declaredTags(z desired.Zone) (tags []string) {
	for _, tag := range z.Deployments[0].Disable.Tags {
		tags = append(tags, tag.Value)
	}
	slices.Sort(tags)
	return tags
}

// checkLimits counts what is written without an approval; the caller holds the lock.
func (w *crashes) checkLimits(record reconcile.Record, id edge.Scope, commit string, work bool, now time.Time) {
	l := w.laws
	if w.limit == 0 {
		return
	}
	if work {
		if l.changed[commit] == nil {
			l.changed[commit] = map[edge.Scope]bool{}
		}
		l.changed[commit][id] = true
		if n := len(l.changed[commit]); n > w.limit {
			l.fault("zone %s is the %d. that commit %s changes, of at most %d", zoneName(id), n, commit, w.limit)
		}
		if n := w.touched(record, commit); n > w.limit && !l.blurred {
			l.fault("zone %s is written, of %d that commit %s changes, of at most %d", zoneName(id), n, commit, w.limit)
		}
		return
	}
	l.healed[id] = now
	n := 0
	for _, at := range l.healed {
		if now.Sub(at) < crashInterval {
			n++
		}
	}
	if n > w.limit {
		l.fault("zone %s is the %d. whose drift is healed within %v, of at most %d", zoneName(id), n, crashInterval, w.limit)
	}
}

// touched counts the zones that a commit has changed, and those that it has not yet; the
// caller holds the lock.
func (w *crashes) touched(record reconcile.Record, commit string) int {
	n := len(w.laws.changed[commit])
	for _, z := range w.laws.declared(commit) {
		unproved := record.Proofs[z.Scope].Fingerprint != z.Fingerprint(w.laws.commits[commit].Accounts[0])
		if unproved && !w.laws.changed[commit][z.Scope] && !fits(z, w.off(z.Scope)) {
			n++
		}
	}
	return n
}

// off are the tags that are off in a zone.
func (w *crashes) off(id edge.Scope) string {
	entry, err := w.server.Platform.EntryPoint(context.Background(), id, edge.PhaseFirewallManaged)
	if err != nil {
		panic(err)
	}
	return strings.Join(reconciletest.TagsOff(entry.Rules[0]), ",")
}

// differ says what is not as git says, after everything that was in the way has ended.
func (w *crashes) differ() (all []string) {
	record, err := w.people.Restore(context.Background())
	if err != nil {
		return []string{err.Error()}
	}
	w.laws.mu.Lock()
	defer w.laws.mu.Unlock()
	state := w.laws.commits[w.repo.Head]
	if record.Accepted.Commit != w.repo.Head {
		return []string{fmt.Sprintf("commit %s is in force, not %s", record.Accepted.Commit, w.repo.Head)}
	}
	for _, z := range state.Accounts[0].Zones {
		want := declaredTags(z)
		if keeps(z.Scope) {
			want = append(want, w.laws.zones[z.Scope].hand...)
			slices.Sort(want)
		}
		if got := w.off(z.Scope); got != strings.Join(want, ",") {
			all = append(all, fmt.Sprintf("%s has %q off, want %v", z.Key, got, want))
		}
		if record.Proofs[z.Scope].Fingerprint != z.Fingerprint(state.Accounts[0]) {
			all = append(all, z.Key+" is not proved")
		}
	}
	return all
}
