// Package inspect has what a running daemon says of itself when it is asked:
//
//	Status   all of it: commit, source, zones by outcome, queue, budget   inspect.go
//	Zone     one zone: the last decision about it, and the next look      zone.go
//	Fleet    lists, as pages show them                                    fleet.go, live.go
//	OnRecord what the ledger says where no daemon answers                 onrecord.go
//
// Both have a versioned JSON form with a published schema, a text form, and a verdict
// for scripts. The daemon fills them in (reconcile/controller/snapshot.go) and serves them
// ([Handler]) on a socket in its state folder ([Listen]); a command asks for them
// ([Client]). On the socket, and there alone, people also order what the daemon does about
// tokens ([Orders]). Health and metrics are worked out from the same values.
//
// Apart from the socket, the handler and the client everything here is a value or a pure
// function of one. Times are of the daemon's clock; ages are in seconds, by its monotonic
// clock. Nothing here holds a secret.
package inspect

import (
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// MostListed is how many entries a list has: in the text of a status each, and of zones that
// stand out its JSON form, too.
const MostListed = 20

// Version is the version of the JSON forms.
const Version = 1

// Status is how a daemon is. Its JSON form is a promise; see [StatusSchema].
type Status struct {
	Version  int       `json:"version"`
	At       time.Time `json:"at"`      // when it was asked
	Program  string    `json:"program"` // the version of seawall
	Started  time.Time `json:"started"`
	Verdict  Verdict   `json:"verdict"`
	Mode     Mode      `json:"mode"`
	Reasons  []string  `json:"reasons"`   // why the verdict is not healthy
	NotReady []string  `json:"not_ready"` // what /readyz says; none while it answers 200
	// Unread is since when the daemon reads its records, and has not read them yet: commit, zones and
	// tokens are not known, and no number of them says anything. Zero: it has read them.
	Unread time.Time `json:"unread_since,omitzero"`

	Commit  Commit             `json:"commit"`
	Source  Source             `json:"source"`
	Zones   Zones              `json:"zones"`
	Tokens  Tokens             `json:"tokens"`
	Queue   []Priority         `json:"queue"` // the most urgent first
	Work    Work               `json:"work"`
	Budget  Budget             `json:"budget"`  // of all credentials that this process works with
	Outages []reconcile.Outage `json:"outages"` // that last
	Rollout *Rollout           `json:"rollout,omitempty"`
	Holds   []diff.Hold        `json:"holds"`
	Freezes []Freeze           `json:"freezes"` // in force
	// Weakened are new versions of managed rulesets of the last 7 days that weaken zones, or
	// block their declaration: the newest.
	Weakened []Weakening `json:"weakened,omitempty"`
	// Replicas says which daemons share the work; nil where the ledger is a file.
	Replicas *Replicas `json:"replicas,omitempty"`
	// Records says that no daemon has answered; nil: one has.
	Records *OnRecord `json:"records,omitempty"`
}

// Mode says whether changes are written.
type Mode string

// The modes.
const (
	ModeApply   Mode = "apply"
	ModeObserve Mode = "observe" // nothing is written
	ModeMixed   Mode = "mixed"   // accounts differ, or some zones are only observed
)

// Commit says which commit is acted on.
type Commit struct {
	InForce string `json:"in_force"` // empty: none yet, or a folder that is not git
	Wanted  string `json:"wanted"`   // the newest that was fetched
	Held    *Held  `json:"held,omitempty"`
	// LedgerPutBack says that the ledger was put back to an earlier time, so that InForce may be an older commit
	// than was in force: nothing is written until git was looked at.
	LedgerPutBack bool `json:"ledger_put_back,omitempty"`
	// Changes is what the commit in force does to zones, of those that were looked at
	// because of it since the start; nil: none was.
	Changes *Changes `json:"changes,omitempty"`
}

// Newer is a commit that is held, beside what an older one is in force of.
type Newer struct {
	Commit string `json:"commit"`
	Held
}

// Newer is the commit that is held; nil where none is.
func (c Commit) Newer() *Newer {
	if c.Held == nil {
		return nil
	}
	return &Newer{c.Wanted, *c.Held}
}

// Changes counts the zones that a commit changes, each once: one that it weakens anywhere
// is weakened.
type Changes struct {
	Zones        int `json:"zones"`
	Weakened     int `json:"weakened"`
	Strengthened int `json:"strengthened"`
}

// Held says why the wanted commit is not in force.
type Held struct {
	Commit   string    `json:"-"`                // which is held: a newer one may be fetched already
	Author   string    `json:"author,omitempty"` // of the commit, as it says itself; empty: not known
	Reason   string    `json:"reason"`
	Problems []string  `json:"problems,omitempty"` // the first of them
	Since    time.Time `json:"since"`
	Fix      string    `json:"fix,omitempty"` // what a person can do
}

// Source says how it is going with git.
type Source struct {
	// LastSuccess is when git was fetched last; zero: not since the start.
	LastSuccess time.Time `json:"last_success,omitzero"`
	AgeSeconds  float64   `json:"age_seconds"` // since LastSuccess, or since the start
	Failures    int       `json:"failures"`    // fetches that failed since, in a row
	Error       string    `json:"error,omitempty"`
	// Looking is when the look began that goes on; zero: none does.
	Looking        time.Time `json:"looking,omitzero"`
	LookingSeconds float64   `json:"looking_seconds"`
	Next           time.Time `json:"next_look,omitzero"` // zero: one goes on, or none is planned
	// Overdue says that this look takes several times as long as there is between two.
	Overdue bool `json:"overdue,omitempty"`
}

// Zones counts the declared zones, each once, by its outcome.
type Zones struct {
	Declared int             `json:"declared"`
	Outcomes map[Outcome]int `json:"outcomes"` // each outcome is there
	// Here are those of the zones that this process works on, where others work on the rest: of that
	// nothing is known here, so it counts as not read. Nil: this process works on all.
	Here map[Outcome]int `json:"here,omitempty"`
	// Turned is until when an earlier process has read each zone in its turn; zero: not known.
	Turned time.Time `json:"turned,omitzero"`
	// Observed is when a zone was read last; zero: none since the start.
	Observed time.Time `json:"observed,omitzero"`
	// Drift is the oldest that is not healed.
	Drift *Drift `json:"drift,omitempty"`
	// Notable are zones that need attention or wait: the first of them, the most severe first.
	Notable []Notable `json:"notable"`
}

// Drift is a zone that was as declared and is not any more.
type Drift struct {
	Zone       string     `json:"zone"`
	Scope      edge.Scope `json:"zone_id"`
	Since      time.Time  `json:"since"` // when it was seen first
	AgeSeconds float64    `json:"age_seconds"`
}

// Notable is a zone that is not as declared.
type Notable struct {
	Zone    string     `json:"zone"`
	Scope   edge.Scope `json:"zone_id"`
	Account string     `json:"account"`
	Outcome Outcome    `json:"outcome"`
	Reason  string     `json:"reason"`
	Since   time.Time  `json:"since,omitzero"` // zero: not known
}

// Tokens says what stands out about tokens.
type Tokens struct {
	Declared int       `json:"declared"`
	LookedAt time.Time `json:"looked_at,omitzero"` // zero: not since the start
	Findings []Token   `json:"findings"`
	// Expiring are those that end within 30 days, or have ended, and that nothing follows.
	Expiring []diff.Expiry `json:"expiring"`
}

// Token is a token that is not as declared.
type Token struct {
	Token   string    `json:"token"`
	Outcome Outcome   `json:"outcome"`
	Reason  string    `json:"reason"`
	Since   time.Time `json:"since"` // when the outcome was this one first
	Fix     string    `json:"fix,omitempty"`
	// Lasts says that no other try helps, whatever the outcome: a person must act.
	Lasts bool `json:"lasts,omitempty"`
}

// Priority is what the queue has of one priority.
type Priority struct {
	Priority string `json:"priority"` // push, bulk, released, retry, sweep
	Waiting  int    `json:"waiting"`  // due or not, without those at work
	Due      int    `json:"due"`
	AtWork   int    `json:"at_work"`
	// Oldest is since when the first of them is due; zero: none is.
	Oldest        time.Time `json:"oldest_due,omitzero"`
	OldestSeconds float64   `json:"oldest_due_seconds"`
}

// Work is what workers do about zones.
type Work struct {
	Workers       int       `json:"workers"`
	AtWork        int       `json:"at_work"`
	On            string    `json:"on,omitempty"`    // the zone of the oldest
	Oldest        time.Time `json:"oldest,omitzero"` // when it began; zero: nothing is at work
	OldestSeconds float64   `json:"oldest_seconds"`  // since then
	PlatformDown  bool      `json:"platform_down"`   // reads fail one after the other: only probes are sent
	Retried       int       `json:"retried"`         // zones that failed, to be tried again
	// Credentials says how each credential for rulesets is; none where there is only one.
	Credentials []Credential `json:"credentials,omitempty"`
}

// Budget is what is left of the requests that may be sent.
type Budget struct {
	Requests      int     `json:"requests"` // in any span of PerSeconds
	PerSeconds    float64 `json:"per_seconds"`
	Used          int     `json:"used"`           // by this process, of those that count now
	Left          int     `json:"left"`           // that may be sent without waiting
	PausedSeconds float64 `json:"paused_seconds"` // how long the platform has asked to wait; 0: not
	// WaitedSeconds is for how long zones that were due have waited for the budget since
	// the start, and RequestsWaitedSeconds the same of single requests, added up.
	WaitedSeconds         float64 `json:"waited_seconds"`
	RequestsWaitedSeconds float64 `json:"requests_waited_seconds"`
}

// Credential is how the work with one credential for rulesets is. It has a queue and a
// budget of its own.
type Credential struct {
	Name       string   `json:"name"`       // the keys of its accounts, or "default"
	Credential string   `json:"credential"` // its path in the configuration
	Accounts   []string `json:"accounts"`   // that are declared
	Zones      int      `json:"zones"`      // that are declared
	// Down is why only probes are sent with it, since when; empty where that is not so.
	Down  string    `json:"down,omitempty"`
	Since time.Time `json:"down_since,omitzero"`
	// Observed is when a zone was read with it last; zero: none since the start.
	Observed time.Time `json:"observed,omitzero"`
	Due      int       `json:"due"` // zones
	// OldestDue is since when the first of them is due; zero: none is.
	OldestDue time.Time `json:"oldest_due,omitzero"`
	AtWork    int       `json:"at_work"`
	Budget    Budget    `json:"budget"`
	// Replica is another replica that works on its zones; empty: this one does, or none.
	Replica string `json:"replica,omitempty"`
}

// Rollout is how far a commit has come through its waves.
type Rollout struct {
	Waves  int       `json:"waves"`
	Open   int       `json:"open"` // up to which wave zones may be written
	Next   time.Time `json:"next,omitzero"`
	Halted string    `json:"halted,omitempty"` // why it does not go on
}

// Freeze is one that is in force.
type Freeze struct {
	Name  string    `json:"name"`
	Until time.Time `json:"until"`
}

// Outcome is what the last look at a zone has come to.
type Outcome string

// The outcomes. A zone whose deployments differ in theirs has the most severe.
const (
	InSync        Outcome = "in_sync"  // as declared, when it was read last
	NotRead       Outcome = "not_read" // not since the start; an earlier process has proved it
	Observed      Outcome = "observed" // differs, and the configuration allows no write there
	PutBack       Outcome = "put_back" // differs, because a revert has put it back; it stays so until git changes it
	Pending       Outcome = "pending"  // is to be written, or read because of a commit
	Waiting       Outcome = "waiting"  // a guard holds it back, and that ends by itself
	Unknown       Outcome = "unknown"  // could not be read
	Failed        Outcome = "failed"   // could not be written, or not be proved
	NonConvergent Outcome = "non_convergent"
	Undecided     Outcome = "undecided" // live has what nothing declares, and the declaration does not decide on it
	Bypassed      Outcome = "bypassed"  // a skip rule keeps requests from a deployment, and nobody has accepted that
	NotDeployed   Outcome = "not_deployed"
	Blocked       Outcome = "blocked"
	Forbidden     Outcome = "forbidden"
	Refused       Outcome = "refused" // a guard holds it back until a person acts
)

// The outcomes of tokens alone.
const (
	Quarantined Outcome = "quarantined" // it may exist, and its secret is lost
	Undelivered Outcome = "undelivered" // its secret waits for its sink
)

// severity orders the outcomes, the least severe first.
var severity = []Outcome{
	InSync, NotRead, Observed, PutBack, Pending, Waiting, Unknown, Failed, NonConvergent, Undecided, Bypassed, NotDeployed, Blocked, Forbidden, Refused,
}

// Outcomes returns all outcomes, the least severe first.
func Outcomes() []Outcome { return append([]Outcome{}, severity...) }

// Severity is the place of an outcome in [Outcomes].
func (o Outcome) Severity() int {
	for i, other := range severity {
		if o == other {
			return i
		}
	}
	return len(severity)
}

// NeedsPerson reports whether it stays so until a person acts.
func (o Outcome) NeedsPerson() bool {
	return o != Undelivered && o.Severity() >= NonConvergent.Severity()
}

// Age is the time between two moments in seconds, by the monotonic clock where both know
// it. It is 0 where the first is not known, and never negative.
func Age(since, now time.Time) float64 {
	if since.IsZero() {
		return 0
	}
	return max(0, now.Sub(since).Seconds())
}
