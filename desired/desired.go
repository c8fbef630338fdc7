// Package desired says what should be: the state a git repository declares,
// as plain Go values. It knows neither CUE nor git; desired/compile makes a
// [State] from a commit's tree.
//
// Every value a person wrote carries the [Origin] of its declaration, so that
// a change on the platform can always be led back to a line of a file.
package desired

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

// State is everything one commit declares, sorted by key at every level.
type State struct {
	Commit   string // the commit's hash; empty for a folder that is not git
	Accounts []Account
	Tokens   []Token
	// LeftOut are the accounts that the configuration leaves out: they are not in Accounts.
	LeftOut []LeftOut         `json:",omitempty"`
	User    *Declared[string] // the calling user's tag, where a repository names it

	Integrations []Integration
	Calendar     []CalendarEntry // additions to the deprecation calendar, and corrections of it
}

// Account is one account of the platform with the managed rulesets its zones
// may deploy.
type Account struct {
	Key string
	// Name is that on the platform: the declared one, or the key where no id is declared;
	// empty where it is not compared.
	Name string
	// ID is empty or a stand-in ([Sought]) until it is found. ByName says that it is not
	// declared: it is what the name was found to have.
	ID       edge.AccountID
	ByName   bool
	Origin   Origin
	Rulesets []RulesetRef
	Zones    []Zone
}

// LeftOut is an account that the configuration leaves out, with the zones that it declares.
type LeftOut struct {
	Key   string
	ID    edge.AccountID
	Zones []edge.Scope
}

// RulesetRef names a managed ruleset of an account by exactly one of Name and ID.
type RulesetRef struct {
	Key    string
	Name   string
	ID     edge.RulesetID
	Origin Origin
}

// Zone is one zone and the deployments declared for it. The deployments of an account
// itself take the place of a zone, too: the level of its scope says so, and its key is that
// of [AccountKey].
type Zone struct {
	Key string
	// Name is that on the platform: the declared one, or the key where that can be one;
	// empty where the key is only a label.
	Name string
	// The id of Scope and ByName are as those of [Account]. Its level is always known.
	Scope       edge.Scope
	ByName      bool
	Origin      Origin
	Labels      map[string]string
	Deployments []Deployment
	// Others are what other kinds declare, sorted by kind and key.
	Others []Other `json:",omitempty"`
	// Unmanaged are the decisions on rules of others in whole phases, sorted by kind.
	Unmanaged []OfOthers `json:",omitempty"`
}

// KindName names a kind of what is declared: "deployment", "token". Everything on record has
// an empty one for deployments.
type KindName string

// Word is what people call something of a kind.
func (k KindName) Word() string {
	for _, d := range Declarations {
		if d.Kind == k && d.Word != "" {
			return d.Word
		}
	}
	return string(cmp.Or(k, "deployment"))
}

// Other is what a kind declares in a zone that is no deployment. Only the kind looks into it.
type Other struct {
	Kind   KindName
	Key    string // in the zone, among those of the kind
	Of     string `json:",omitempty"` // the name of the deployment that it is of; empty where it is of none
	Origin Origin
	Prune  bool   `json:",omitempty"` // as that of a deployment
	Value  string // its members as JSON; see [NewOther]
	// Places are where the members are declared, by their paths. One that is a default of the
	// schema has none.
	Places map[string]Origin `json:",omitempty"`
}

// OfOthers decides on the rules in the phase of a kind that nothing declares.
type OfOthers struct {
	Kind   KindName
	Do     Unmanaged
	Origin Origin
}

// Count is how much a zone declares.
func (z Zone) Count() int { return len(z.Deployments) + len(z.Others) + len(z.Unmanaged) }

// Guarded is how much of [Zone.Others] it would be a loss to lose.
func (z Zone) Guarded() (n int) {
	for _, o := range z.Others {
		if !o.Kind.Skips() {
			n++
		}
	}
	return n
}

// Deployment is what a person intends for one managed ruleset in one zone.
// A nil field is not declared and therefore not managed. Paranoia, Threshold and
// Disable are short forms of overrides; no member of an override is declared in
// both ways.
type Deployment struct {
	Ruleset    string // key of the account's RulesetRef
	Key        string `json:",omitempty"` // its own, of one at account level; see Name
	Ref        string `json:",omitempty"` // that of its execute rule, of one at account level
	Origin     Origin
	Deploy     bool           // create the deployment where the zone has none
	Prune      bool           // remove it once it was proved and nothing declares it any more
	Enabled    Declared[bool] // true unless declared; always managed
	Expression *Declared[string]
	Version    *Declared[string] // of the managed ruleset: latest, or a number
	Paranoia   *Declared[int]
	Threshold  *Threshold
	Disable    Disable
	All        Override      // on the ruleset as a whole
	Tags       []TagOverride // in order: of two that hit one rule the later wins
	Rules      []RuleOverride
	Unmanaged  *Declared[Unmanaged]
	Decisions  []Decision // on single overrides, before Unmanaged

	Bypass   *Declared[Bypass] // on skip rules that came after the deployment was proved; nil reports them
	Accepted []Accepted        // skip rules that may act on the deployment, sorted by Rule

	ExpressionDrift *Declared[ExpressionDrift] // of an expression that is not declared; nil reports it
}

// Threshold is the anomaly score at which the ruleset's last rule acts, and
// what it then does (reference, "Procedure: set score threshold and action").
type Threshold struct {
	Score  Declared[int]
	Action Declared[edge.Action]
}

// Disable lists rules and tags to switch off.
type Disable struct {
	Rules []Declared[RuleRef]
	Tags  []Declared[string]
}

// RuleRef names a rule of a managed ruleset by exactly one of its members.
type RuleRef struct {
	ID          edge.RuleID
	Ref         string
	Description string `json:",omitempty"` // which no other rule of the ruleset has
}

// ByID reports whether the rule is named by its id, which need not be looked up.
func (r RuleRef) ByID() bool { return r.Ref == "" && r.Description == "" }

func (r RuleRef) String() string {
	switch {
	case r.Ref != "":
		return fmt.Sprintf("ref %q", r.Ref)
	case r.Description != "":
		return fmt.Sprintf("description %q", r.Description)
	}
	return string(r.ID)
}

// Token is an API token to exist, in the shape of the documented request body
// (reference, "API token").
type Token struct {
	Key    string
	Origin Origin
	// Account is the key of the account that owns the token; empty: the user of the
	// credential does. Owner is the id of that account, as [Account.ID] has it.
	Account   string         `json:",omitempty"`
	Owner     edge.AccountID `json:",omitempty"`
	Name      string
	Policies  []Policy
	NotBefore string // YYYY-MM-DDThh:mm:ssZ, empty when not declared
	ExpiresOn string
	Condition *Condition
	Sink      *Sink
	Rotate    *Rotate
	Prune     bool
	// Places are where the members outside of policies are declared, by their paths:
	// expires_on, condition.request.ip.in. One that is a default of the schema has none.
	Places map[string]Origin `json:",omitempty"`
}

// Policy is one access policy of a token (reference, "Policy").
type Policy struct {
	Origin           Origin
	Effect           string     // allow or deny
	Resources        []Resource // sorted by key
	PermissionGroups []PermissionGroup
}

// Resource is one entry of a policy's resources. Its key carries the segment
// "vendor". AllZones tells the nested form {"com.vendor.api.account.zone.*": "*"}
// from the plain "*".
type Resource struct {
	Key      string
	AllZones bool
}

// Type is the type of resource it names: account, zone, user or bucket.
func (r Resource) Type() string {
	switch {
	case strings.HasPrefix(r.Key, edge.ResourceUser):
		return "user"
	case strings.HasPrefix(r.Key, edge.ResourceBucket):
		return "bucket"
	case r.AllZones, strings.HasPrefix(r.Key, edge.ResourceZone):
		return "zone"
	}
	return "account"
}

// PermissionGroup is a group a policy grants: by ID, or where that is empty by
// Name and Scope, which only a platform that lists its groups can tell.
type PermissionGroup struct {
	ID     string
	Name   string
	Scope  string // the resource type it is for: account, zone, user or bucket; empty when not declared
	Origin Origin
}

// String is the group as its declaration names it.
func (g PermissionGroup) String() string {
	if g.ID != "" {
		return g.ID
	}
	return fmt.Sprintf("%q (%s)", g.Name, g.Scope)
}

// Condition restricts the client addresses a token works from; CIDRs are masked.
type Condition struct {
	In    []string
	NotIn []string
}

// Sink says where a token's secret goes: a sink the daemon's configuration
// defines, and a key relative to it.
type Sink struct {
	Name string
	Key  string
}

// Rotate asks for a successor every so often, both living for Overlap, which is
// shorter than Every.
type Rotate struct {
	Every   time.Duration
	Overlap time.Duration
}

// Lifetime is how long each token of a rotation lives.
func (r Rotate) Lifetime() time.Duration { return r.Every + r.Overlap }

// Declared is a value and where it was declared.
type Declared[T any] struct {
	Value  T
	Origin Origin
}

// Origin is where a value was declared. The zero Origin is "nowhere": a
// default of the schema.
type Origin struct {
	Commit string `json:"commit,omitempty"`
	File   string `json:"file,omitempty"` // relative to the folder or repository root, with "/"
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// IsZero reports whether the value was not declared by anyone.
func (o Origin) IsZero() bool { return o.File == "" }

// At is the place in a commit; nowhere stays nowhere.
func (o Origin) At(commit string) Origin {
	if !o.IsZero() && commit != "" {
		o.Commit = commit
	}
	return o
}

// String is "file:line:col", or empty for the zero Origin.
func (o Origin) String() string {
	if o.IsZero() {
		return ""
	}
	if o.Line == 0 {
		return o.File
	}
	return fmt.Sprintf("%s:%d:%d", o.File, o.Line, o.Column)
}

// Zones counts the zones of all accounts.
func (s State) Zones() int {
	n := 0
	for _, a := range s.Accounts {
		n += len(a.Zones)
	}
	return n
}

// Deployments counts the deployments of all zones.
func (s State) Deployments() (n int) {
	for _, z := range s.EachZone() {
		n += len(z.Deployments)
	}
	return n
}

// Others counts what other kinds declare in all zones.
func (s State) Others() (n int) {
	for _, z := range s.EachZone() {
		n += len(z.Others)
	}
	return n
}

// Guarded counts what of other kinds it would be a loss to lose.
func (s State) Guarded() (n int) {
	for _, z := range s.EachZone() {
		n += z.Guarded()
	}
	return n
}
