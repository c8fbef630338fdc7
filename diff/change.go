package diff

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
)

// Change is one write the plan would make: all of what is to change in one
// deployment, or one call about a token. Refused changes stay in the plan.
type Change struct {
	// What it is about: a deployment in a zone of an account, by their keys, or a token.
	// ByName says that the id of the zone is not declared, but was found by its name.
	// ZoneOrigin is where the zone is declared, which is not in JSON.
	Account    string
	Zone       string
	Scope      edge.Scope
	ByName     bool
	ZoneOrigin desired.Origin
	Deployment string
	Token      string
	Kind       desired.KindName
	// Turn orders the changes of a zone before their names do: rules are placed one after another.
	Turn int

	// Operation is what it does.
	Operation Operation
	Direction Direction
	Origin    desired.Origin
	Fields    []Field
	// Rights are what a token may do more or less once the change is made.
	Rights []Right
	// TurnsOff are the rules of managed rulesets that are on and that the change turns off for
	// some requests, where it names rules.
	TurnsOff []SkippedRule

	// Refused is why it is not sent; nil where nothing refuses it.
	Refused *Refusal
	// Approved says that a person has agreed to it; see diff/guard.
	Approved bool
}

// Do is the operation; one that does nothing where there is none.
func (c Change) Do() Operation {
	if c.Operation == nil {
		return Orphan{}
	}
	return c.Operation
}

// Action is that of the operation, empty for none.
func (c Change) Action() Action {
	if c.Operation == nil {
		return ""
	}
	return c.Operation.Action()
}

// Request is what the change would send; false where it sends nothing.
func (c Change) Request() (Request, bool) {
	if !c.Sends() {
		return Request{}, false
	}
	return c.Operation.Request(c.Scope), true
}

// Sends reports whether the change would send something if nothing refused it.
func (c Change) Sends() bool { return c.Do().Sends() }

// Creates reports whether the change would create a token.
func (c Change) Creates() bool {
	r, sends := c.Request()
	return sends && c.Level() == edge.LevelCredential && r.Method == "POST"
}

// Applies reports whether the change would be sent.
func (c Change) Applies() bool { return c.Refused == nil && c.Sends() }

// Light is the change without what is large, for who keeps many.
func (c Change) Light() Change {
	c.Fields, c.TurnsOff = nil, nil
	return c.Sent()
}

// Sent is the change without what it took to send it: what differs is still said.
func (c Change) Sent() Change {
	if o, large := c.Operation.(interface{ Light() Operation }); large {
		c.Operation = o.Light()
	}
	return c
}

// Name says what a change is about: account, zone and deployment, or a token.
func (c Change) Name() string {
	return NameOf(c.Account, c.Zone, c.Called(), c.Token)
}

// Called is what the change is about in its zone.
func (c Change) Called() string { return c.ID().Called(c.Deployment) }

// Called is the key of what is of a kind, as in [ID], with the kind in front of it where that
// is another than the one of deployments: a zone may declare both by one key.
func Called(kind desired.KindName, key string) string {
	if kind == "" || key == "" {
		return key
	}
	return kind.Word() + " " + key
}

// Called is what a key with this id is called. A skip rule that nothing declares has the key of a
// deployment that it acts on.
func (d ID) Called(key string) string {
	if d.Kind.Skips() && d.Ref != key {
		return skipRule + " of " + key
	}
	return Called(d.Kind, key)
}

// Word is what people call what has the id, beside its key.
func (d ID) Word(key string) string {
	if d.Kind.Skips() && d.Ref != key {
		return skipRule
	}
	return d.Kind.Word()
}

const skipRule = "skip rule"

// Field returns the field of a path, nil where the change has none.
func (c Change) Field(path Member) *Field {
	if i := slices.IndexFunc(c.Fields, func(f Field) bool { return f.Path == path }); i >= 0 {
		return &c.Fields[i]
	}
	return nil
}

// ID names what the change is about on the platform.
func (c Change) ID() ID { return c.Do().About(c.Scope) }

// Fingerprint tells whether two changes would do the same to the same live
// state, whichever commit asks for it.
func (c Change) Fingerprint() string {
	fields := slices.Clone(c.Fields)
	for i := range fields {
		fields[i].Origin = nil
	}
	return words.Digest(struct {
		Request *Request
		Fields  []Field
	}{c.agreedOrNil(), fields})
}

// MarshalJSON writes the form that the schema of plans describes.
func (c Change) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // that is for the caller's encoder to decide
	err := e.Encode(struct {
		Kind       desired.KindName `json:"kind"`
		Account    string           `json:"account"`
		Zone       string           `json:"zone"`
		ZoneID     edge.Scope       `json:"zone_id"`
		Deployment string           `json:"deployment"`
		Token      string           `json:"token,omitempty"`
		Action     Action           `json:"action"`
		Direction  Direction        `json:"direction"`
		Origin     desired.Origin   `json:"origin"`
		Fields     []Field          `json:"fields"`
		Rights     []Right          `json:"rights,omitempty"`
		TurnsOff   []SkippedRule    `json:"turns_off,omitempty"`
		Request    *Request         `json:"request"`
		Refused    *Refusal         `json:"refused"`
	}{
		c.Kind, c.Account, c.Zone, c.Scope, c.Deployment, c.Token, c.Action(), c.Direction, c.Origin,
		c.Fields, c.Rights, c.TurnsOff, c.requestOrNil(), c.Refused,
	})
	return b.Bytes(), err
}

func (c Change) requestOrNil() *Request {
	if r, sends := c.Request(); sends {
		return &r
	}
	return nil
}

func (c Change) agreedOrNil() *Request {
	if !c.Sends() {
		return nil
	}
	r := c.Operation.Agreed(c.Scope).Request
	return &r
}

// NameOf names a deployment by the keys of its account, its zone and itself, or a
// token by its key and that of the account that owns it. Keys that are empty are left out.
func NameOf(account, zone, deployment, token string) string {
	switch {
	case token != "" && account != "":
		return "token " + token + " of account " + account
	case token != "":
		return "token " + token
	}
	said := []string{}
	for _, key := range []string{account, zone, deployment} {
		if key != "" {
			said = append(said, key)
		}
	}
	return strings.Join(said, " / ")
}
