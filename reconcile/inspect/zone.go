package inspect

import (
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// ZoneList has the zones that a name can mean: the same name may be declared in several accounts.
type ZoneList struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	Zones   []Zone    `json:"zones"` // at least one
	// Records says that no daemon has answered; nil: one has.
	Records *OnRecord `json:"records,omitempty"`
}

// Zone is what a daemon knows of one zone. Its JSON form is a promise; see [ZoneSchema].
type Zone struct {
	Zone    string         `json:"zone"`
	Scope   edge.Scope     `json:"zone_id"`
	Account string         `json:"account"`
	Origin  desired.Origin `json:"origin"` // of its declaration
	Commit  string         `json:"commit"` // in force
	// Declares is what it declares, as far as that says how strict it is.
	Declares []Declared `json:"declares,omitempty"`
	// Changed is the commit that last changed the declaration, or why that is not known. Both
	// are added by whoever asks and has the repository at hand.
	Changed        *Changed `json:"changed,omitempty"`
	ChangedUnknown string   `json:"changed_unknown,omitempty"`

	Outcome Outcome `json:"outcome"`
	// Decisions are the last ones: one for each deployment that is not as declared, or one
	// about the zone.
	Decisions []Decision `json:"decisions"`
	// LookedAt is when the last look ended, and WrittenAt when a write to it was proved
	// last; zero: not since the start.
	LookedAt  time.Time `json:"looked_at,omitzero"`
	WrittenAt time.Time `json:"written_at,omitzero"`
	// Drift says that what differs is not because of a commit, and Differs since when it
	// was seen to differ; zero: it is not known to.
	Drift   bool      `json:"drift"`
	Differs time.Time `json:"differs_since,omitzero"`
	// Fields are those that differ, as of the last read; none where Unread says why.
	Fields []Field `json:"fields"`
	Unread string  `json:"fields_unknown,omitempty"`
	// Undecided are live members that nothing declares and on which nothing decides.
	Undecided []Leftover `json:"undecided,omitempty"`
	// Bypasses are the skip rules that keep requests from its deployments, as of the last read.
	// Looked says when the phases before theirs were last looked at, and NotLookedAt which of
	// them were not.
	Bypasses    []diff.Bypass      `json:"bypasses,omitempty"`
	Looked      []LookedAt         `json:"skip_rules_looked_at,omitempty"`
	NotLookedAt []diff.NotLookedAt `json:"skip_rules_not_looked_at,omitempty"`

	// Outages are those that last and keep Seawall from knowing how the zone is or should be,
	// and Newer is a commit that is held: what is said of the zone is of an older one.
	Outages []reconcile.Outage `json:"outages"`
	Newer   *Newer             `json:"newer,omitempty"`

	Hold *diff.Hold `json:"hold,omitempty"`
	// Replica is another replica, which works on the zone; empty: this one does.
	Replica string `json:"replica,omitempty"`
	// NoReplica says that none works on the zone now: who had it may be this one.
	NoReplica bool `json:"no_replica,omitempty"`
	// OnRecord says that no daemon has answered, but the ledger; see [OnRecord]. Proved is the last
	// proof on record, and Past the newest entries of its history, the newest first; both only where
	// the process that answers has not read the zone.
	OnRecord bool    `json:"on_record,omitempty"`
	Proved   *Proved `json:"proved,omitempty"`
	Past     []Past  `json:"past,omitempty"`
	// Fingerprint is that of what is declared.
	Fingerprint string  `json:"-"`
	AtWork      *AtWork `json:"at_work,omitempty"`
	Next        *Next   `json:"next,omitempty"` // nil: none is planned
	// Why says the same in sentences; see [Zone.Sentences].
	Why []string `json:"why"`
}

// Decision is what was decided about a deployment, or about a zone as a whole.
type Decision struct {
	Kind       desired.KindName `json:"kind,omitempty"`       // as in [diff.ID]
	Deployment string           `json:"deployment,omitempty"` // empty: the zone as a whole
	Stage      Stage            `json:"stage"`
	Outcome    Outcome          `json:"outcome"`
	Guard      diff.Guard       `json:"guard,omitempty"` // which one, where the stage is guard
	Reason     string           `json:"reason"`
	Release    string           `json:"release,omitempty"` // what changes it
	Approve    string           `json:"approve,omitempty"` // the digest that a person may approve
	// Until is when it ends by itself; zero: it does not, or that is not known.
	Until time.Time `json:"until,omitzero"`
	Since time.Time `json:"since,omitzero"` // when it was decided so first; zero: not known
}

// Stage is where a decision was taken.
type Stage string

// The stages of a look at a zone.
const (
	StageQueue Stage = "queue" // it was not read yet
	StageRead  Stage = "read"
	StagePlan  Stage = "plan"
	StageGuard Stage = "guard"
	StageWrite Stage = "write"
	StageProve Stage = "prove"
)

// Field is a field that differs.
type Field struct {
	Kind       desired.KindName `json:"kind,omitempty"` // as in [diff.ID]
	Deployment string           `json:"deployment"`
	Path       string           `json:"path"`
	Live       any              `json:"live,omitempty"`     // absent: there is none
	Declared   any              `json:"declared,omitempty"` // absent: there is to be none
	Direction  diff.Direction   `json:"direction"`          // of the change that would be made
	Note       string           `json:"note,omitempty"`     // which rule it is about
}

// Leftover is a live member that nothing declares.
type Leftover struct {
	Kind       desired.KindName `json:"kind,omitempty"` // as in [diff.ID]
	Deployment string           `json:"deployment"`
	Path       string           `json:"path"`
	Live       any              `json:"live"`
	Was        any              `json:"was,omitempty"`  // when it was last proved, where that is another value
	Note       string           `json:"note,omitempty"` // which rule it is about
}

// AtWork says that a worker has the zone.
type AtWork struct {
	Began    time.Time `json:"began"`
	Seconds  float64   `json:"seconds"`
	Priority string    `json:"priority"`
	Reason   string    `json:"reason"`
}

// Next is when a zone is to be read next.
type Next struct {
	Due      time.Time `json:"due"`
	Seconds  float64   `json:"seconds"` // until then; negative: since then
	Priority string    `json:"priority"`
	Reason   string    `json:"reason"`
	// WaitsFor is what an item that is due waits for: see [WaitsBudget] and the others.
	WaitsFor string `json:"waits_for,omitempty"`
	// WaitsCause is why, where the platform or the credential fails.
	WaitsCause string `json:"waits_cause,omitempty"`
	// WaitsUntil is when that ends, or is tried again, where it is known.
	WaitsUntil time.Time `json:"waits_until,omitzero"`
}

// What an item that is due can wait for.
const (
	WaitsPlatform   = "platform"   // reads fail one after the other; only probes are sent
	WaitsCredential = "credential" // the same, because the platform rejects the credential
	WaitsBudget     = "budget"     // of requests
	WaitsAsked      = "throttle"   // the platform asked to wait
	WaitsWorker     = "worker"     // all are at work, or others are more urgent
)

// Worst is the most severe outcome of decisions; in_sync where there are none.
func Worst(decisions []Decision) Outcome {
	worst := InSync
	for _, d := range decisions {
		if d.Outcome.Severity() > worst.Severity() {
			worst = d.Outcome
		}
	}
	return worst
}

// Sentences says what was decided about a zone, since when, and when it is read
// next, as of a moment.
func (z Zone) Sentences(now time.Time) []string {
	lines := append([]string{z.headline()}, z.onRecord(now)...)
	lines = append(lines, z.beside(now)...)
	for _, d := range z.Declares {
		lines = append(lines, declaredLine+d.String()+".")
	}
	for _, d := range z.Decisions {
		lines = append(lines, d.sentences(now)...)
	}
	lines = append(append(lines, z.differences()...), z.skipRules()...)
	lines = append(lines, z.stage(now)...)
	if !z.Differs.IsZero() {
		lines = append(lines, fmt.Sprintf("It has differed since %s (%s).", instant(z.Differs), z.whyItDiffers()))
	}
	if z.Hold != nil && z.Outcome != PutBack { // then the decision says so
		lines = append(lines, fmt.Sprintf("The zone is %s.", z.Hold))
	}
	lines = append(lines, z.lookedAhead(now)...)
	if z.AtWork != nil {
		lines = append(lines, fmt.Sprintf("A worker has processed it for %s (priority %s: %s).", Span(z.AtWork.Seconds), z.AtWork.Priority, z.AtWork.Reason))
	}
	if z.Next == nil && (z.AtWork != nil || z.Replica != "" || z.OnRecord) {
		return lines
	}
	return append(lines, z.Next.sentence())
}

// stage says how far the last look at a zone has come, and when it was written last.
func (z Zone) stage(now time.Time) (lines []string) {
	written := !z.WrittenAt.IsZero() && z.WrittenAt.Equal(z.LookedAt)
	switch {
	case len(z.Decisions) > 0 || z.LookedAt.IsZero():
	case written:
		lines = append(lines, fmt.Sprintf("Stage prove, %s: a change was written and read back.", Ago(z.LookedAt, now)))
	default:
		lines = append(lines, fmt.Sprintf("Stage plan, %s: the live state is as declared, so nothing was written.", Ago(z.LookedAt, now)))
	}
	if !z.WrittenAt.IsZero() && !written {
		lines = append(lines, fmt.Sprintf("The last write was proved %s.", Ago(z.WrittenAt, now)))
	}
	return lines
}

func (z Zone) whyItDiffers() string {
	switch {
	case z.Outcome == PutBack:
		return "a revert has put it back, or has stopped the commit before it was written"
	case z.Drift:
		return "drift: the live state changed without a commit"
	}
	return "a commit changes it"
}

// headline says how the zone is.
func (z Zone) headline() string {
	name := fmt.Sprintf("%s (account %s)", z.Zone, z.Account)
	switch {
	case z.OnRecord && z.Replica != "":
		return name + " is worked on by replica " + z.Replica + ", which knows more than the records: ask on its machine, or with --address." + z.recorded()
	case z.OnRecord:
		return name + " is worked on by no replica now." + z.recorded()
	case z.Replica != "" && z.Outcome == NotRead:
		return name + " is worked on by replica " + z.Replica + ", which knows how it is now: ask on its machine, or with --address."
	}
	if z.NoReplica && z.Outcome == NotRead {
		return name + " is worked on by no replica now, so how it is now is not known."
	}
	return name + " " + map[Outcome]string{
		InSync:        "is in sync.",
		NotRead:       "has not been read since the daemon started; an earlier process proved that it was as declared.",
		Observed:      "is not as declared, but is observed only: Seawall does not write there.",
		PutBack:       "is not as declared, because of a revert; it stays so until git changes it.",
		Pending:       "is not as declared yet; the change will be written.",
		Waiting:       "is not as declared; a guard holds the change back for some time.",
		Unknown:       "could not be read.",
		Failed:        "is not as declared; the last write failed and is tried again.",
		NonConvergent: "is not as declared; the platform did not keep the last write.",
		Undecided:     "has live members that nothing declares; they stay until you decide on them.",
		Bypassed:      "is bypassed: a skip rule keeps requests from what is declared, and that is not accepted.",
		NotDeployed:   "does not run a managed ruleset that is declared for it.",
		Blocked:       "cannot be changed to the declared state, because of its live state.",
		Forbidden:     "may not be read with the configured credential.",
		Refused:       "is not as declared; a guard holds the change back until you act.",
	}[z.Outcome]
}

// sentences says what was decided, and what changes it.
func (d Decision) sentences(now time.Time) []string {
	where := "Stage " + string(d.Stage)
	if d.Guard != "" {
		where += ", guard " + string(d.Guard)
	}
	if d.Deployment != "" {
		where += ", " + d.Kind.Word() + " " + d.Deployment
	}
	if !d.Since.IsZero() {
		where += fmt.Sprintf(", since %s (%s)", instant(d.Since), Ago(d.Since, now))
	}
	lines := []string{where + ": " + d.Reason + "."}
	if d.Release != "" {
		lines = append(lines, "What changes that: "+d.Release+".")
	}
	if !d.Until.IsZero() {
		lines = append(lines, "It ends by itself at "+instant(d.Until)+".")
	}
	return lines
}

// sentence says when and why the zone is read next.
func (n *Next) sentence() string {
	switch {
	case n == nil:
		return "No next read is planned. A new commit, or the end of a wait, starts one."
	case n.Seconds > 0:
		return fmt.Sprintf("Next read: in %s, at %s (priority %s: %s).", Span(n.Seconds), instant(n.Due), n.Priority, n.Reason)
	}
	waits := map[string]string{
		WaitsPlatform:   "all reads fail: " + n.WaitsCause,
		WaitsCredential: "the platform rejects the credential: " + n.WaitsCause,
		WaitsBudget:     "the request budget is used up for now",
		WaitsAsked:      "the platform asked to wait (429, Retry-After)",
		WaitsWorker:     "the workers have other zones first",
	}[n.WaitsFor]
	switch {
	case n.WaitsUntil.IsZero():
	case n.WaitsCause != "":
		waits += "; one request tests that at " + instant(n.WaitsUntil)
	default:
		waits += " until " + instant(n.WaitsUntil)
	}
	if waits == "" {
		return fmt.Sprintf("Next read: now (priority %s: %s).", n.Priority, n.Reason)
	}
	return fmt.Sprintf("Next read: due for %s (priority %s: %s); it waits because %s.", Span(-n.Seconds), n.Priority, n.Reason, waits)
}
