package setup

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/directory"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/lease"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/postgres"
	"github.com/seawall-dev/seawall/reconcile/source"
)

// OnRecord answers from the ledger in PostgreSQL, where no daemon does. Make it with
// [Settings.ReadOnRecord], and close it.
type OnRecord struct {
	settings Settings
	memory   *ledger.Ledger
	records  *controller.Controller
	replicas inspect.Replicas
	about    inspect.OnRecord
	tokens   diff.TokensLive
	proofs   map[edge.Scope]string
}

// ReadOnRecord reads all that the ledger has. failed is why no daemon has answered on the socket.
func (s Settings) ReadOnRecord(ctx context.Context, failed error) (r *OnRecord, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	if err := s.hasRecords(ctx); err != nil {
		return nil, err
	}
	memory, err := s.OpenLedgerReadOnly(ctx)
	if err != nil {
		return nil, err
	}
	r = &OnRecord{settings: s, memory: memory, about: inspect.OnRecord{Database: s.Postgres.Place(), Cause: failed.Error(), Unfinished: []inspect.Unfinished{}}}
	if errors.Is(failed, syscall.ECONNREFUSED) { // no process listens on a socket that is there
		r.about.Left = inspect.SocketPath(s.StateDir)
	}
	if err = r.read(ctx); err != nil {
		r.Close()
		return nil, s.DatabaseError(err)
	}
	return r, nil
}

// hasRecords fails where no daemon has put anything into the database yet.
func (s Settings) hasRecords(ctx context.Context) error {
	db, err := s.Database()
	if err != nil {
		return err
	}
	tables, _, err := postgres.Version(ctx, db)
	if err == nil && tables == 0 {
		return fmt.Errorf("no replica has run on %s yet", s.Postgres.Place())
	}
	return s.DatabaseError(err)
}

// Close closes the ledger.
func (r *OnRecord) Close() { _ = r.memory.Close() } // it was only read

func (r *OnRecord) read(ctx context.Context) (err error) {
	lanes := r.settings.lanesOnRecord()
	look, err := lease.LookAt(ctx, r.memory.Database())
	if err != nil {
		return err
	}
	r.replicas = ReplicasIn(look, "", LeaseNames(lanes))
	r.replicas.Database, r.replicas.Known = r.about.Database, time.Now()
	limits, err := guards(r.settings.Config)
	if err != nil {
		return err
	}
	limits.Accounts = r.settings.accountSettings()
	r.records, err = controller.OnRecord(ctx, controller.Config{
		Source: source.New(source.Config{Now: time.Now}), Records: r.memory, Guards: limits, Lanes: lanes,
		Names:    directory.New(directory.Config{Now: time.Now, Memory: r.memory, ReadOnly: true}),
		Replicas: func() *inspect.Replicas { return &r.replicas },
	}, func(commit string) time.Time { return r.accepted(ctx, commit) })
	if err != nil {
		return err
	}
	if r.tokens, err = r.memory.Tokens(ctx); err != nil {
		return err
	}
	return r.readAbout(ctx)
}

// accepted is when a commit was accepted last; zero where the history does not have it any more.
func (r *OnRecord) accepted(ctx context.Context, commit string) time.Time {
	last, _, err := r.memory.Accepted(ctx, 0, 1)
	if err != nil || len(last) == 0 || last[0].Asked.Commit != commit {
		return time.Time{}
	}
	return last[0].At
}

// lanesOnRecord are the credentials for rulesets, with which nothing is asked.
func (s Settings) lanesOnRecord() reconcile.Lanes {
	list, lanes := s.lanes()
	for _, c := range list {
		lanes.All = append(lanes.All, reconcile.Lane{Name: c.Name, Credential: c.Path})
	}
	return lanes
}

// readAbout reads what is not of one zone.
func (r *OnRecord) readAbout(ctx context.Context) error {
	newest, _, err := r.memory.Page(ctx, reconcile.HistoryFilter{Last: 1})
	if err != nil {
		return err
	}
	for _, e := range newest {
		r.about.Newest = e.At
	}
	standing, err := r.memory.Standing(ctx)
	if err != nil {
		return err
	}
	r.about.Approvals = len(standing.Approvals)
	if r.proofs, err = r.memory.Fingerprints(ctx); err != nil {
		return err
	}
	unfinished, err := r.memory.Unfinished(ctx)
	for _, e := range unfinished {
		r.about.Unfinished = append(r.about.Unfinished, inspect.Unfinished{What: inspect.EntryWhat(e), Since: e.At})
	}
	return err
}

// Status says how everything is, as far as that is on record.
func (r *OnRecord) Status() inspect.Status {
	s := r.records.Status()
	s.Program, s.Mode, s.Records, s.Started = cli.ThisVersion().Version, r.settings.StartMode(), &r.about, s.At
	s.Commit.Wanted, s.Source = s.Commit.InForce, inspect.Source{}
	s.Tokens.Findings = append(s.Tokens.Findings, r.tokensFound()...)
	if s.Replicas != nil {
		r.records.Proved(s.Replicas.Leases, r.proofs)
	}
	return s.Judged()
}

// StartMode says whether changes are written, as far as the configuration tells.
func (s Settings) StartMode() inspect.Mode {
	if s.Observing() {
		return inspect.ModeObserve
	}
	return inspect.ModeApply
}

// tokensFound are the tokens that a person must see to, or whose secret waits.
func (r *OnRecord) tokensFound() (found []inspect.Token) {
	state, _ := r.records.InForce()
	used := planner.Secrets.InUse(state.Tokens, r.tokens)
	for _, t := range r.tokens.Records {
		one := inspect.Token{Token: t.Key, Since: t.At}
		switch {
		case t.State == diff.TokenQuarantined:
			one.Outcome, one.Reason, one.Fix = inspect.Quarantined, "what became of an attempt to create it is not known", "seawall token list says more, and which command resolves it"
		case t.State == diff.TokenConfirmed && !t.Delivered && used[t.Key].ID == t.ID:
			one.Outcome, one.Reason = inspect.Undelivered, "its secret waits for its sink"
		default:
			continue
		}
		found = append(found, one)
	}
	return found
}

// Zones says what is on record of the zones that a word means; the error is an
// [inspect.NoZoneError] where no such zone is declared.
func (r *OnRecord) Zones(ctx context.Context, word string) (inspect.ZoneList, error) {
	list, near := r.records.Zones(word)
	if len(list.Zones) == 0 {
		return list, &inspect.NoZoneError{Zone: word, Near: near}
	}
	list.Records = &r.about
	for i := range list.Zones {
		z := &list.Zones[i]
		z.OnRecord, z.Unread, z.Replica = true, "the records do not have them", r.worksOn(z.Account)
		if err := Recall(ctx, r.memory, z, list.At); err != nil {
			return list, err
		}
	}
	return list, nil
}

// worksOn is the replica that works on the zones of an account; empty for none.
func (r *OnRecord) worksOn(account string) string {
	lane, ok := r.settings.LaneOf(account)
	if !ok {
		return ""
	}
	return r.replicas.Other(reconcile.LeaseOf(reconcile.Lane{Credential: lane.Path}))
}

// newestOnRecord is how many entries of the history say how a zone was that was not read.
const newestOnRecord = 3

// Recall adds to what is known of a zone what is on record of it.
func Recall(ctx context.Context, memory *ledger.Ledger, z *inspect.Zone, now time.Time) error {
	proved, err := memory.Proved(ctx, z.Scope)
	if err != nil {
		return err
	}
	if proved.Fingerprint != "" {
		z.Proved = &inspect.Proved{Commit: proved.Commit, At: proved.At, Now: proved.Fingerprint == z.Fingerprint}
	}
	entries, _, err := memory.Page(ctx, reconcile.HistoryFilter{Scope: z.Scope, Last: newestOnRecord})
	for _, e := range entries {
		z.Past = append(z.Past, inspect.PastOf(e))
	}
	z.Why = z.Sentences(now)
	return err
}
