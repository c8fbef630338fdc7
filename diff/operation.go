package diff

import (
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
)

// Operation is what a change does, and all that doing it needs. It is one of
// [DeploymentUpdate], [DeploymentCreation], [DeploymentRemoval], [Creation], [Amendment],
// [Deletion], [Orphan] and [Delivery].
type Operation interface {
	kind() Kind
	action() Action
}

// TokenOperation is an operation on a token of an owner.
type TokenOperation interface {
	Operation
	OwnedBy() edge.AccountID
}

// OwnedBy is the account that is to own the token; empty: the user of the credential.
func (c Creation) OwnedBy() edge.AccountID { return c.Owner }

// OwnedBy is the owner of the token.
func (a Amendment) OwnedBy() edge.AccountID { return a.Owner }

// OwnedBy is the owner of the token.
func (d Deletion) OwnedBy() edge.AccountID { return d.Owner }

// sender is an operation that sends a request.
type sender interface {
	Operation
	request(zone edge.Scope) Request
}

// Action is what a change does, as users read it.
type Action string

// The actions. The reference shows no call that changes or deletes a token: there
// one whose declaration changed is replaced by a new one, and an orphan is only
// named, for a person to revoke. Where a platform has these calls a token is
// updated in place, and deleted where its declaration allowed that.
const (
	ActionUpdate  Action = "update"
	ActionCreate  Action = "create"
	ActionReplace Action = "replace"
	ActionRotate  Action = "rotate"
	ActionDelete  Action = "delete"
	ActionOrphan  Action = "orphan"

	// Those of deployments, beside ActionUpdate.
	ActionDeploy Action = "deploy"
	ActionRemove Action = "remove"
)

// Request is one call: "Update a zone ruleset rule" or "Create token" of the
// reference, or a call on a token or a deployment that is known beyond it.
type Request struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Body   any    `json:"body"` // an edge.Rule, edge.Ruleset, edge.TokenSpec or edge.Token; nil for none
}

// Target addresses the execute rule of a deployment, as observed.
type Target struct {
	Ruleset    edge.RulesetID // the managed ruleset
	Ref        string         // of the execute rule, at account level; empty in a zone
	EntryPoint edge.RulesetID
	Version    string // of the entry point when it was read
	Rule       edge.RuleID
	Owned      []Member // what the declaration owns, to remember once applied
}

// DeploymentUpdate writes the execute rule of a deployment.
type DeploymentUpdate struct {
	Target Target
	Body   edge.Rule // the complete rule
}

func (DeploymentUpdate) kind() Kind     { return KindDeployment }
func (DeploymentUpdate) action() Action { return ActionUpdate }

func (u DeploymentUpdate) request(zone edge.Scope) Request {
	return Request{"PATCH", edge.RulePath(zone, u.Target.EntryPoint, u.Target.Rule), u.Body}
}

// Creation creates a token and takes its secret to its place.
type Creation struct {
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

func (Creation) kind() Kind       { return KindToken }
func (c Creation) action() Action { return c.As }

func (c Creation) request(edge.Scope) Request {
	return Request{"POST", edge.OwnedTokensPath(c.Owner), c.Spec}
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

// NameSuffix goes behind the name of a token. In it {intent} stands for the
// attempt that makes the token, so that one which was lost can be found by its name.
type NameSuffix string

// Behind returns a name with the suffix behind it, as an attempt sends it.
func (s NameSuffix) Behind(name, intent string) string {
	return name + strings.ReplaceAll(string(s), "{intent}", intent)
}

// Amendment updates a token in place.
type Amendment struct {
	Owner  edge.AccountID // as that of [Creation]
	Intent string
	ID     edge.TokenID
	Spec   edge.TokenSpec // what the token shall be
	Hash   string         // of what is declared
	Prune  bool
	Body   edge.Token // Spec, with what else the platform knows of the token
}

func (Amendment) kind() Kind     { return KindToken }
func (Amendment) action() Action { return ActionUpdate }

func (a Amendment) request(edge.Scope) Request {
	return Request{"PUT", edge.OwnedTokenPath(a.Owner, a.ID), a.Body}
}

// Deletion deletes a token.
type Deletion struct {
	Owner  edge.AccountID // as that of [Creation]
	Intent string
	ID     edge.TokenID
	Sink   *desired.Sink // where its secret is; nil where another has taken the place
	Leaves []LeftSecret  // the same, unless another is to take the place
}

func (Deletion) kind() Kind     { return KindToken }
func (Deletion) action() Action { return ActionDelete }

func (d Deletion) request(edge.Scope) Request {
	return Request{"DELETE", edge.OwnedTokenPath(d.Owner, d.ID), nil}
}

// Orphan is a token that works and that nothing declares any more. Nothing is
// sent: a person has to revoke it.
type Orphan struct{}

func (Orphan) kind() Kind     { return KindToken }
func (Orphan) action() Action { return ActionOrphan }

// Delivery takes the secret of a token that exists already to its place. No plan
// has it: it is what a run did beside its plan.
type Delivery struct{}

func (Delivery) kind() Kind     { return KindToken }
func (Delivery) action() Action { return ActionCreate }
