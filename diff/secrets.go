package diff

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
)

// SecretOperation is an operation on a token of an owner.
type SecretOperation interface {
	Operation
	// OwnedBy is the account that owns the token; empty: the user of the credential.
	OwnedBy() edge.AccountID
}

// Creation creates a token and takes its secret to its place.
type Creation struct {
	Plain

	Owner    edge.AccountID // the account that is to own it; empty: the user of the credential
	As       Action         // ActionCreate; or ActionReplace or ActionRotate, which leave a token behind
	Key      string
	Spec     edge.TokenSpec // as declared, permission groups by their ids
	Hash     string         // of Spec
	Sink     *desired.Sink  // nil: the declaration names none
	Lifetime time.Duration  // of a token that rotates; zero: its window is the declared one
	Every    time.Duration  // how old a token that rotates is when its successor is due
	Suffix   NameSuffix
	Prune    bool // the token may be deleted once nothing declares it
	Leaves   []LeftSecret
	Follows  *Followed // the token whose place it takes; nil: none
	// Meanwhile says that it is done only while another change of its token is held back.
	Meanwhile bool
}

// OwnedBy implements [SecretOperation].
func (c Creation) OwnedBy() edge.AccountID { return c.Owner }

// Action implements [Operation].
func (c Creation) Action() Action { return c.As }

// Sends implements [Operation].
func (Creation) Sends() bool { return true }

// Request implements [Operation].
func (c Creation) Request(edge.Scope) Request {
	return Request{"POST", edge.OwnedTokensPath(c.Owner), c.Spec}
}

// Agreed implements [Operation]. To whom the secret goes is agreed to as well.
func (c Creation) Agreed(zone edge.Scope) Agreement {
	return Agreement{Request: c.Request(zone), Sink: c.Sink}
}

// About implements [Operation]: the token does not exist yet.
func (Creation) About(edge.Scope) ID { return ID{} }

// Senseless implements [Operation]: without a place for the secret, or with its life already
// over, a token could do no good.
func (c Creation) Senseless(at Conditions) *Refusal {
	const anIntent = "0123456789abcdef"
	if refusal := refuseName(c.Suffix.Behind(c.Spec.Name, anIntent)); refusal != nil {
		return refusal
	}
	if refusal := refuseOver(c.Spec.ExpiresOn, "already be expired when it is created", at); refusal != nil {
		return refusal
	}
	reason := at.sink(c.Sink)
	if reason == "" {
		return nil
	}
	release := "sink: {name: …, key: …} in the declaration"
	if c.Sink != nil {
		release = "a sink that takes this key: see sinks in the daemon's configuration, and the place it names"
	}
	return &Refusal{Guard: GuardSink, Reason: reason, Release: release}
}

// Standby implements [Operation].
func (c Creation) Standby() bool { return c.Meanwhile }

// Renews implements [Operation].
func (Creation) Renews() bool { return true }

// Requests implements [Operation]: what was created is not read back.
func (Creation) Requests() int64 { return 1 }

// Achieved implements [Operation].
func (c Creation) Achieved(change Change) Achievement {
	text := "created, secret delivered"
	switch {
	case c.As == ActionCreate, change.Field("id") != nil: // nothing was before it, or nothing is left of that
	case c.Lifetime > 0 && change.Field("expires_on").Old != nil:
		text += "; the old token works until it expires"
	default:
		text += "; the old token still exists, and seawall plan lists it"
	}
	return Achievement{AchievedCreation, text + leftBehind(c.Leaves)}
}

// Remarks implements [Operation].
func (c Creation) Remarks() (lines []string) {
	if c.Sink != nil {
		lines = append(lines, "the secret goes to "+words.Sink(c.Sink))
	}
	return append(lines, linesOf(c.Leaves)...)
}

// Body is what an attempt sends: the declared specification, the suffix behind
// its name, and for a token that rotates the end of its life. Its beginning is
// left out: the platform's clock may be behind.
func (c Creation) Body(intent string, now time.Time) edge.TokenSpec {
	body := c.Spec
	body.Name = c.Suffix.Behind(body.Name, intent)
	if c.Lifetime > 0 {
		body.ExpiresOn = now.Add(c.Lifetime).UTC().Truncate(time.Second).Format(time.RFC3339)
	}
	return body
}

// NameSuffix goes behind the names of tokens. In it {intent} stands for the
// attempt that makes the token, so that one which was lost can be found by its name.
type NameSuffix string

// Behind returns a name with the suffix behind it, as an attempt sends it.
func (s NameSuffix) Behind(name, intent string) string {
	return name + strings.ReplaceAll(string(s), "{intent}", intent)
}

// LeftSecret is the secret of an earlier token that stays where it was delivered:
// the place is not declared any more, so nothing replaces it there.
type LeftSecret struct {
	Token edge.TokenID
	Sink  desired.Sink
}

// Place names the sink and the key in it.
func (l LeftSecret) Place() string { return words.Sink(&l.Sink) }

func (l LeftSecret) String() string {
	return "the secret of token " + string(l.Token) + " is still in " + l.Place()
}

func linesOf(secrets []LeftSecret) (lines []string) {
	for _, s := range secrets {
		lines = append(lines, s.String())
	}
	return lines
}

// leftBehind names the secrets that stay in their places.
func leftBehind(secrets []LeftSecret) (text string) {
	for _, s := range secrets {
		text += "; " + s.String()
	}
	return text
}

// Amendment updates a token in place.
type Amendment struct {
	Plain

	Owner  edge.AccountID // as that of [Creation]
	Intent string
	ID     edge.TokenID
	Spec   edge.TokenSpec // what the token shall be
	Hash   string         // of what is declared
	Prune  bool
	Body   edge.Token // Spec, with what else the platform knows of the token
}

// OwnedBy implements [SecretOperation].
func (a Amendment) OwnedBy() edge.AccountID { return a.Owner }

// Action implements [Operation].
func (Amendment) Action() Action { return ActionUpdate }

// Sends implements [Operation].
func (Amendment) Sends() bool { return true }

// Request implements [Operation].
func (a Amendment) Request(edge.Scope) Request {
	return Request{"PUT", edge.OwnedTokenPath(a.Owner, a.ID), a.Body}
}

// Agreed implements [Operation].
func (a Amendment) Agreed(zone edge.Scope) Agreement {
	return Agreement{Request: a.Request(zone)}
}

// About implements [Operation].
func (a Amendment) About(edge.Scope) ID { return ID{Scope: edge.CredentialScope(a.Owner), Token: a.ID} }

// Senseless implements [Operation]: the platform would refuse the name, or a date would end a
// token that is in use. To take it out of the repository says that better.
func (a Amendment) Senseless(at Conditions) *Refusal {
	if refusal := refuseName(a.Spec.Name); refusal != nil {
		return refusal
	}
	return refuseOver(a.Spec.ExpiresOn, "end at once", at)
}

// Timely implements [Operation].
func (Amendment) Timely() bool { return false }

// Renews implements [Operation].
func (Amendment) Renews() bool { return true }

// Deletion deletes a token.
type Deletion struct {
	Plain

	Owner  edge.AccountID // as that of [Creation]
	Intent string
	ID     edge.TokenID
	Sink   *desired.Sink // where its secret is; nil where another has taken the place
	Leaves []LeftSecret  // the same, unless another is to take the place
}

// OwnedBy implements [SecretOperation].
func (d Deletion) OwnedBy() edge.AccountID { return d.Owner }

// Action implements [Operation].
func (Deletion) Action() Action { return ActionDelete }

// Sends implements [Operation].
func (Deletion) Sends() bool { return true }

// Request implements [Operation].
func (d Deletion) Request(edge.Scope) Request {
	return Request{"DELETE", edge.OwnedTokenPath(d.Owner, d.ID), nil}
}

// Agreed implements [Operation].
func (d Deletion) Agreed(zone edge.Scope) Agreement {
	return Agreement{Request: d.Request(zone)}
}

// About implements [Operation].
func (d Deletion) About(edge.Scope) ID { return ID{Scope: edge.CredentialScope(d.Owner), Token: d.ID} }

// Senseless implements [Operation].
func (Deletion) Senseless(Conditions) *Refusal { return nil }

// Timely implements [Operation].
func (Deletion) Timely() bool { return false }

// Requests implements [Operation]: what was deleted is not read back.
func (Deletion) Requests() int64 { return 1 }

// Achieved implements [Operation].
func (d Deletion) Achieved(Change) Achievement {
	return Achievement{AchievedDeletion, "deleted" + leftBehind(d.Leaves)}
}

// Remarks implements [Operation].
func (d Deletion) Remarks() []string { return linesOf(d.Leaves) }

// unsent is what of an operation that sends nothing is the same for all.
type unsent struct{ Plain }

// Sends implements [Operation].
func (unsent) Sends() bool { return false }

// Request implements [Operation].
func (unsent) Request(edge.Scope) Request { return Request{} }

// Agreed implements [Operation].
func (unsent) Agreed(edge.Scope) Agreement { return Agreement{} }

// About implements [Operation].
func (unsent) About(edge.Scope) ID { return ID{} }

// Senseless implements [Operation].
func (unsent) Senseless(Conditions) *Refusal { return nil }

// Timely implements [Operation].
func (unsent) Timely() bool { return false }

// Orphan is a token that works and that nothing declares any more. Nothing is
// sent: a person has to revoke it.
type Orphan struct{ unsent }

// Action implements [Operation].
func (Orphan) Action() Action { return ActionOrphan }

// Delivery takes the secret of a token that exists already to its place. No plan
// has it: it is what a run did beside its plan.
type Delivery struct{ unsent }

// Action implements [Operation].
func (Delivery) Action() Action { return ActionCreate }

// Achieved implements [Operation].
func (Delivery) Achieved(Change) Achievement {
	return Achievement{AchievedDelivery, "secret delivered"}
}

// maxTokenName is how many characters a name has at most, as known beyond the
// reference.
const maxTokenName = 120

func refuseName(name string) *Refusal {
	characters := utf8.RuneCountInString(name)
	if characters <= maxTokenName {
		return nil
	}
	return &Refusal{
		Guard:   GuardName,
		Reason:  fmt.Sprintf("with tokens.name_suffix the name would have %d characters, but the platform allows %d", characters, maxTokenName),
		Release: "a shorter name in the declaration, or a shorter suffix in the daemon's configuration",
	}
}

func refuseOver(expiresOn, would string, at Conditions) *Refusal {
	if expires, err := time.Parse(time.RFC3339, expiresOn); err != nil || at.Now.Before(expires) {
		return nil
	}
	return &Refusal{
		Guard:   GuardExpired,
		Reason:  fmt.Sprintf("the token would %s: expires_on is %s", would, expiresOn),
		Release: "a later expires_on",
	}
}

// sink is why a token's secret could not be delivered, empty where it could.
func (at Conditions) sink(sink *desired.Sink) string {
	if sink == nil {
		return "the token declares no sink for its secret"
	}
	if at.CheckSink == nil {
		return ""
	}
	if err := at.CheckSink(*sink); err != nil {
		return err.Error()
	}
	return ""
}
