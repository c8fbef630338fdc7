package retry

import "time"

// Away bounds each pause while the platform does not answer at all: after an outage it is asked
// again within seconds, and a probe every ten seconds costs it nothing.
const Away = 10 * time.Second

// GitOften is the shortest bound of the pauses between fetches, however often the schedule looks.
const GitOften = 10 * time.Second

// What is asked of the platform.
var (
	// Request is one call, repeated in place: what passes does so within seconds, and a worker
	// waits meanwhile.
	Request = Policy{First: 500 * time.Millisecond, Most: 8 * time.Second, Jitter: 0.25, Attempts: 5}
	// Throttled is all calls of a credential after a 429 that does not say for how long. The
	// platform counts within five minutes: after those it has forgotten all.
	Throttled = Policy{First: 2 * time.Second, Most: 5 * time.Minute}
	// Count is the file or the table in which processes share the count of their requests. Meanwhile
	// each takes a part of its budget, or sends nothing.
	Count = Policy{First: time.Second, Most: time.Second}
	// Probe is the one request that is let through while the platform is down.
	Probe = Policy{First: 2 * time.Second, Most: Away}
	// Credential is the same while it takes the credential for a wrong one: that needs a person.
	Credential = Policy{First: 2 * time.Second, Most: time.Minute}
)

// What the daemon looks at again later.
var (
	// Zone is a zone that failed. It is never given up, and costs little every 15 minutes.
	Zone = Policy{First: 5 * time.Second, Most: 15 * time.Minute, Jitter: 0.1}
	// Account is what its zones share. All of them wait for it, so it is asked again sooner.
	Account = Policy{First: time.Second, Most: 5 * time.Minute}
	// Unkept is a change that the platform took and did not keep. Each try is a write: the
	// platform may have had a bad hour, and is not written to all the time.
	Unkept = Policy{First: 15 * time.Minute, Most: 6 * time.Hour}
	// Names is a list of names and ids that could not be read.
	Names = Policy{First: 5 * time.Second, Most: 5 * time.Minute}
	// Unfound is a name that has no id, or that of another zone: someone may be about to create
	// it.
	Unfound = Policy{First: 30 * time.Second, Most: 15 * time.Minute}
	// Tokens is the work on all tokens of a credential.
	Tokens = Policy{First: 5 * time.Second, Most: 15 * time.Minute}
	// Delivery is the same while a sink does not take a secret: programs wait for it, and a sink
	// that works again does not say so.
	Delivery = Tokens.Within(time.Minute)
	// Ledger is everything that failed of the state folder while the ledger itself can be written:
	// not every zone is to be asked again and again.
	Ledger = Policy{First: 2 * time.Second, Most: 15 * time.Minute}
)

// What others keep.
var (
	// Lease is what keeps this process's leases in the database: they last for twelve seconds.
	Lease = Policy{First: time.Second, Most: 2 * time.Second, Jitter: 0.25}
	// Git is a fetch. Where the schedule looks more often than every 30 seconds, its interval
	// bounds the pauses, but for [GitOften]: after an outage git is looked at as soon as without.
	Git = Policy{First: time.Second, Most: 30 * time.Second}
	// Unlooked is a look at git while nothing is written before that. A fetch that failed comes again by [Git],
	// so this is for a look that came too early; a commit that is held would be evaluated with each.
	Unlooked = Policy{First: 10 * time.Second, Most: 15 * time.Minute}
	// Head is a pull request's commit that has ended its worker, or has taken all of its time: it
	// will most likely do so again.
	Head = Policy{First: time.Hour, Most: time.Hour}
	// Database is a transaction of the database that several processes share. A server that is started
	// again is back within seconds; whoever looks again later does so by itself.
	Database = Policy{First: 50 * time.Millisecond, Most: 2 * time.Second, Jitter: 0.25, Attempts: 7}
	// Begin is what a process, or a part of it, needs before it can begin. It does nothing meanwhile.
	Begin = Policy{First: 2 * time.Second, Most: 2 * time.Second}
	// Status is a commit status that a forge did not accept.
	Status = Policy{First: 30 * time.Second, Most: 30 * time.Second}
	// Review is the plan of a pull request, where any replica may make it. After these attempts it
	// is asked for anew with the next look at pull requests.
	Review = Policy{First: 5 * time.Second, Most: time.Minute, Jitter: 0.1, Attempts: 5}
	// GitLab is a request to it that may be repeated; the others' libraries repeat none.
	GitLab = Policy{First: 100 * time.Millisecond, Most: time.Second, Attempts: 2}
	// Vault is a request to it; all attempts are within the timeout of the delivery.
	Vault = Policy{First: 100 * time.Millisecond, Most: 500 * time.Millisecond, Attempts: 3}
	// Notification is a message to a route: people wait for it, and a chat server that is away
	// does not say when it is back.
	Notification = Policy{First: time.Second, Most: 5 * time.Minute, Jitter: 0.1}
)
