package reconcile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Entry is one entry of the history: a write to the platform, what became of one, or a
// decision. Entries are only ever added; reconcile/ledger keeps them as a chain of hashes.
// An entry holds no secret.
type Entry struct {
	Number  int64     `json:"number"` // from 1, without a gap; the store gives it
	At      time.Time `json:"at"`     // UTC; zero: the store fills in its clock
	Kind    EntryKind `json:"kind"`
	Action  string    `json:"action"` // one of the actions below
	Trigger Trigger   `json:"trigger,omitempty"`
	Asked   Asked     `json:"asked,omitzero"`
	Subject Subject   `json:"subject,omitzero"`

	Direction diff.Direction `json:"direction,omitempty"`
	// Members are what a write changes, as they were before it and as they are after it.
	Members []MemberChange `json:"members,omitempty"`
	// Declaration is the fingerprint of the declaration that a zone was written for, or
	// on which a hold depends.
	Declaration string `json:"declaration,omitempty"`
	// Digest is what an approval is of; Until is when a hold ends by itself.
	Digest string    `json:"digest,omitempty"`
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason,omitempty"`

	// Result is what became of a write: in an entry of kind [EntryResult], and in that of
	// the write itself where it was known at once. A reader gets it with the write.
	Result *WriteResult `json:"result,omitempty"`
	// Seen is, of a write that is about to be recorded, the version of the entry point that
	// it was worked out from; empty where there is none. It is not kept.
	Seen string `json:"-"`
	// Undoing is the direction of what was changed without Seawall, of a write that is about
	// to be recorded and corrects it. It is not kept.
	Undoing diff.Direction `json:"-"`
	// Drift says of a write that is about to be recorded that it corrects what was changed
	// without Seawall, though no sweep sends it. It is not kept.
	Drift bool `json:"-"`
	// Heals is the drift that a write which is about to be recorded corrects, where drift counts
	// for limits; nil: it counts for none. It is recorded with the write, and not kept in the entry.
	Heals *Healing `json:"-"`
	// Checkpoint is where the chain begins, in an entry of kind [EntryCheckpoint].
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
	// Gap is what is missing, in an entry of kind [EntryGap]; Accepts are the entries of this
	// kind that a person accepts.
	Gap     *MissingEntries `json:"gap,omitempty"`
	Accepts []int64         `json:"accepts,omitempty"`
}

// CountsForCommit reports whether a write counts for the limits of the commit that it was
// made for: drift does not, and neither does what was approved.
func (e Entry) CountsForCommit() bool {
	asked := e.Trigger == TriggerSync || e.Trigger == TriggerManual && !e.Drift
	return asked && e.Asked.Approver == ""
}

// EntryKind is what an entry is about.
type EntryKind string

// The kinds of entries.
const (
	EntryWrite      EntryKind = "write"      // is about to be sent to the platform, or was
	EntryResult     EntryKind = "result"     // of a write before it
	EntryDecision   EntryKind = "decision"   // of a person
	EntryCommit     EntryKind = "commit"     // was accepted
	EntryFound      EntryKind = "found"      // by a read: nothing that Seawall has done
	EntryCheckpoint EntryKind = "checkpoint" // entries before it were dropped
	EntryGap        EntryKind = "gap"        // entries that were written are missing
)

// The actions of entries, beside those of [diff.Action].
const (
	ActionDeliver    = "deliver"   // of a token's secret, to its sink
	ActionBegin      = "begin"     // of a zone that was found as declared
	ActionChanged    = "changed"   // without Seawall
	ActionPublished  = "published" // of a managed ruleset, in another version than before
	ActionAccept     = "accept"
	ActionHold       = "hold"
	ActionRelease    = "release"
	ActionApprove    = "approve"
	ActionOverride   = "override"
	ActionWithdraw   = "withdraw" // of an approval
	ActionRead       = "read"     // zones, because a person asks for it
	ActionResume     = "resume"
	ActionRevert     = "revert"
	ActionInit       = "init"
	ActionAdopt      = "adopt"
	ActionResolve    = "resolve"
	ActionRevoked    = "revoked"
	ActionConclude   = "conclude" // of results
	ActionCheckpoint = "checkpoint"
	ActionGap        = "gap"
	ActionAcceptGap  = "accept-gap"
)

// Asked says who asked for something.
type Asked struct {
	Commit   string `json:"commit,omitempty"`
	Author   string `json:"author,omitempty"`   // of the commit, as it says itself
	Approver string `json:"approver,omitempty"` // of a change that needed an approval
	User     string `json:"user,omitempty"`     // who ran a command: USER@HOST; or who a decision is of
	Message  string `json:"message,omitempty"`  // the first line of the commit's message; in the entry that accepts it
}

// Subject is what an entry is about: a deployment or another rule of a zone, or a token.
type Subject struct {
	Kind       desired.KindName `json:"kind,omitempty"`    // as in [diff.ID]
	Account    string           `json:"account,omitempty"` // its key
	Zone       string           `json:"zone,omitempty"`    // its key
	Scope      edge.Scope       `json:"zone_id,omitzero"`
	Deployment string           `json:"deployment,omitempty"`
	Ruleset    edge.RulesetID   `json:"ruleset_id,omitempty"`
	Ref        string           `json:"ref,omitempty"`   // of the execute rule, at account level
	Token      string           `json:"token,omitempty"` // its key
	TokenID    edge.TokenID     `json:"token_id,omitempty"`
	Owner      edge.AccountID   `json:"owner,omitempty"`   // of the token; empty: the user of the credential
	Attempt    string           `json:"attempt,omitempty"` // the attempt to create the token
}

// MemberChange is one member that a write changes. An Old or New that is nil is a member
// that is not there, which is not the same as false.
type MemberChange struct {
	Path diff.Member     `json:"path"`
	Old  json.RawMessage `json:"old,omitempty"`
	New  json.RawMessage `json:"new,omitempty"`
	// Owned says that Seawall had put the old value there.
	Owned bool `json:"owned,omitempty"`
	// Note says which rule a path with an id is about.
	Note string `json:"note,omitempty"`
}

// WriteResult is what became of a write.
type WriteResult struct {
	Write   int64   `json:"write,omitempty"` // the number of its entry
	Outcome Outcome `json:"outcome"`
	// Version is that of the entry point that was read as proof; empty where none was.
	Version string    `json:"version,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	At      time.Time `json:"at,omitzero"` // only for readers: when the result was recorded
}

// Checkpoint says which entry was the last that was dropped.
type Checkpoint struct {
	Number int64  `json:"number"`
	Hash   string `json:"hash"` // hexadecimal
}

// MissingEntries are entries by their numbers.
type MissingEntries struct {
	From int64 `json:"from"`
	To   int64 `json:"to"` // 0: it is not known
}

// HistoryFilter selects entries. The zero value selects all.
type HistoryFilter struct {
	Zone, Token string     // keys
	Scope       edge.Scope // of a zone, whatever its key
	Commit      string     // or how one begins
	Since       time.Time
	Before      int64 // only entries with a lower number; 0: all
	Last        int   // only the last so many; 0: all
}

// History is what was written and decided.
type History interface {
	// History hands over the entries that a filter selects, oldest first, each write with
	// its result, until yield returns an error, which it returns. earlier is how many more
	// the filter selects before those.
	History(ctx context.Context, filter HistoryFilter, yield func(Entry) error) (earlier int64, err error)
}

// HistoryPages is the history from its end, a page at a time. What a page costs does not grow
// with the history, and it waits for no write.
type HistoryPages interface {
	// Page returns what [History] hands over for a filter with Last, the newest entry first,
	// and whether there are earlier ones. It returns [ErrManyCommits] for the beginning of
	// more than [MostCommits] commits.
	Page(ctx context.Context, filter HistoryFilter) (entries []Entry, earlier bool, err error)
	// Accepted returns the last commits that were accepted before an entry, 0 for the newest,
	// the newest first, and whether there are earlier ones.
	Accepted(ctx context.Context, before int64, last int) (commits []AcceptedCommit, earlier bool, err error)
}

// AcceptedCommit is the entry by which a commit was accepted, and what was written for it:
// neither what corrects drift nor what a revert puts back.
type AcceptedCommit struct {
	Entry
	Writes, Zones, Failed int // Failed are writes that are known not to have converged
}

// MostCommits is how many commits the beginning of one may select for a page.
const MostCommits = 10

// ErrManyCommits is of the beginning of a commit that says too little.
var ErrManyCommits = errors.New("too many commits begin so")

// Given says which commit gave a zone the declaration that it has, by its fingerprint.
type Given struct{ Commit, Declaration string }

// Reverts records what a revert puts back.
type Reverts interface {
	// Given returns which commit gave zones the declaration that they have; zones whose
	// declaration is older than the record are not in it.
	Given(ctx context.Context) (map[edge.Scope]Given, error)
	// Stop takes declarations out of force before they are written: in one step it sets
	// holds, has their zones leave the waves, withdraws the approvals that ends reports, and
	// enters the order into the history, unless that is the zero value. From then on
	// [Records.RecordWrite] refuses to write these declarations there. It returns
	// [ErrSuperseded], and records nothing, where the accepted commit is not the one that
	// the holds depend on.
	Stop(ctx context.Context, commit string, holds []diff.Hold, ends func(Approval) bool, order Entry) error
	// RecordRevert records, in one step, a write that puts a zone back, as
	// [Records.RecordWrite] does, and the hold that keeps the zone so; holds of reverts are
	// not in its way. It returns [ErrSuperseded], and records nothing, where the accepted commit is not the one that
	// the hold depends on.
	RecordRevert(ctx context.Context, hold diff.Hold, write Entry, owned []diff.Settled) (number int64, err error)
	// DropRevert ends such holds on zones in which nothing was put back.
	DropRevert(ctx context.Context, zones []edge.Scope) error
}

// WriteEntry is the entry of a change of a deployment that is about to be sent. owned are
// the members that Seawall has put there before.
func WriteEntry(c diff.Change, trigger Trigger, asked Asked, declaration string, owned []diff.Member) Entry {
	mine := make(map[diff.Member]bool, len(owned))
	for _, member := range owned {
		mine[member] = true
	}
	e := Entry{
		Kind: EntryWrite, Action: string(c.Action()), Trigger: trigger, Asked: asked, Subject: SubjectOf(c), Direction: c.Direction,
		Declaration: declaration, Members: make([]MemberChange, len(c.Fields)), Seen: c.Do().Seen(),
	}
	undone := make([]diff.Direction, len(c.Fields))
	for i, f := range c.Fields {
		undone[i] = opposite[f.Direction]
		e.Members[i] = MemberChange{Path: f.Path, Old: rawValue(f.Old), New: rawValue(f.New), Owned: mine[f.Path], Note: f.NoteText()}
	}
	e.Undoing = diff.Combine(undone...)
	return e
}

// SubjectOf is what a change is about.
func SubjectOf(c diff.Change) Subject {
	id := c.ID()
	return Subject{
		Kind: id.Kind, Account: c.Account, Zone: c.Zone, Scope: c.Scope, Deployment: c.Deployment, Ruleset: id.Ruleset, Ref: id.Ref, Token: c.Token,
	}
}

// ID names the rule that an entry is about.
func (s Subject) ID() diff.ID {
	return diff.ID{Kind: s.Kind, Scope: s.Scope, Ruleset: s.Ruleset, Ref: s.Ref}
}

// SpecChanges are the members in which two forms of a token differ, sorted by path; nil is
// a token that is not there. A specification holds no secret.
func SpecChanges(before, after *edge.TokenSpec) ([]MemberChange, error) {
	old, err := specMembers(before)
	if err != nil {
		return nil, err
	}
	now, err := specMembers(after)
	if err != nil {
		return nil, err
	}
	var changes []MemberChange
	for name := range old {
		if _, stays := now[name]; !stays {
			now[name] = nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if !bytes.Equal(old[name], now[name]) {
			changes = append(changes, MemberChange{Path: diff.Member(name), Old: old[name], New: now[name]})
		}
	}
	return changes, nil
}

func specMembers(spec *edge.TokenSpec) (members map[string]json.RawMessage, err error) {
	members = map[string]json.RawMessage{}
	if spec == nil {
		return members, nil
	}
	data, err := json.Marshal(spec)
	if err == nil {
		err = json.Unmarshal(data, &members)
	}
	if err != nil {
		return nil, fmt.Errorf("encoding a token: %w", err)
	}
	return members, nil
}

// rawValue is a value of a field as JSON; nil for a member that is not there.
func rawValue(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	data, err := json.Marshal(v)
	if err != nil { // a value of a plan always can be
		data, _ = json.Marshal(err.Error())
	}
	return data
}
