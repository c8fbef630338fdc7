package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// Dialect is how one platform spells what the nouns of package edge spell in
// one way only. The zero value is the reference's own spelling.
type Dialect struct {
	// Vendor stands in resource keys where the nouns say "vendor"; empty is
	// "vendor" (reference, "Conventions").
	Vendor string
	// ConditionKey is how a condition's key is sent: [ConditionReference], also
	// when empty, or [ConditionNewer]. Both are read.
	ConditionKey string
}

// The two spellings of a condition's only key. The reference has the first; the
// vendor's own, newer documentation has the second.
const (
	ConditionReference = "request.ip"
	ConditionNewer     = "request_ip"
)

const neutralVendor = "vendor"

var vendorForm = lazyregexp.New(`^[a-z0-9-]{1,64}$`)

// Check reports a vendor that cannot be a segment of a resource key, and a
// condition key that is none.
func (d Dialect) Check() error {
	if !vendorForm().MatchString(d.vendor()) {
		return fmt.Errorf("vendor %q is not a segment of a resource key: 1 to 64 of a-z, 0-9 and -", d.Vendor)
	}
	if key := d.conditionKey(); key != ConditionReference && key != ConditionNewer {
		return fmt.Errorf("condition key %q is neither %s nor %s", key, ConditionReference, ConditionNewer)
	}
	return nil
}

func (d Dialect) vendor() string {
	if d.Vendor == "" {
		return neutralVendor
	}
	return d.Vendor
}

func (d Dialect) conditionKey() string {
	if d.ConditionKey == "" {
		return ConditionReference
	}
	return d.ConditionKey
}

// EncodeSpec returns the body that creates a token (reference, "Create token").
func (d Dialect) EncodeSpec(spec edge.TokenSpec) (json.RawMessage, error) { return d.encode(spec) }

// encode spells a token, or what one shall be.
func (d Dialect) encode(token any) (json.RawMessage, error) {
	data, err := json.Marshal(token)
	if err != nil {
		return nil, fmt.Errorf("encoding the token: %w", err)
	}
	if d.conditionKey() == ConditionReference {
		return d.Translate(data), nil
	}
	// A condition has no other key.
	data = changeMember(data, "condition", func(condition []byte) []byte {
		return changeKeys(condition, func(string) string { return d.conditionKey() }, nil)
	})
	return d.Translate(data), nil
}

// EncodeCreated returns the result that tells of a new token, its secret with
// it. Beside [EncodeSecret] nothing in this package writes a secret.
func (d Dialect) EncodeCreated(created edge.CreatedToken) (json.RawMessage, error) {
	data, err := d.encode(created.Token)
	if err != nil {
		return nil, err
	}
	value, err := json.Marshal(created.Value.Reveal())
	if err != nil {
		return nil, err
	}
	data = append(data[:len(data)-1], `,"value":`...) // a token has at least an id
	return append(append(data, value...), '}'), nil
}

// DecodeCreated reads the answer to a creation. The reference does not show it,
// and its id and secret cannot be had again, so these two are all that must be
// there: what else of the record cannot be read is left empty.
//
// Errors are those of [Response.Decode], and [edge.ErrUnreadable] for an answer
// without id or value. None of them quotes the answer.
func (d Dialect) DecodeCreated(r Response) (edge.CreatedToken, error) {
	r.Confidential = true
	var members map[string]json.RawMessage
	if _, err := r.Decode(&members); err != nil {
		rememberSecrets(r.Body)
		return edge.CreatedToken{}, err
	}
	id, value := text(members["id"]), text(members["value"])
	if id == "" || value == "" {
		return edge.CreatedToken{}, r.unreadable("the answer holds a token without its id or its value")
	}
	created := edge.CreatedToken{Token: edge.Token{ID: edge.TokenID(id)}, Value: edge.NewSecret(value)}
	delete(members, "value")
	record, err := json.Marshal(members)
	if err != nil {
		return created, nil //nolint:nilerr // the token was created: id and value are what counts
	}
	var token edge.Token
	if json.Unmarshal(d.Translate(record), &token) == nil {
		created.Token = token
	}
	return created, nil
}

// secretForm finds what may be the secret of a token in an answer that is cut short, or
// says that it is a failure.
var secretForm = lazyregexp.New(`"(?:value|result)"\s*:\s*"([^"\\]{20,200})`)

// rememberSecrets has what may be a new secret redacted from now on, though it is lost: the
// platform may repeat it in another answer.
func rememberSecrets(body []byte) {
	for _, found := range secretForm().FindAllSubmatch(body, mostSecrets) {
		_ = edge.NewSecret(string(found[1]))
	}
}

// mostSecrets bounds how many an answer may have remembered.
const mostSecrets = 4

// text is a JSON string, empty for anything else.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// Translate takes a token's JSON from the spelling of the nouns to that of the
// wire, and the other way round: it is its own inverse. Only the keys of
// resources, the nested ones too, and the scopes of groups are touched. What is
// not such JSON comes back as it is, for the receiver to refuse.
func (d Dialect) Translate(token []byte) []byte {
	if d.vendor() == neutralVendor {
		return token
	}
	return changeMember(token, "policies", func(policies []byte) []byte {
		return changeElements(policies, func(policy []byte) []byte {
			policy = changeMember(policy, "resources", func(resources []byte) []byte {
				return changeKeys(resources, d.SwapKey, func(breadth []byte) []byte {
					return changeKeys(breadth, d.SwapKey, nil)
				})
			})
			return changeMember(policy, "permission_groups", d.TranslateGroups)
		})
	})
}

// TranslateGroups is [Dialect.Translate] for a list of permission groups, of
// which the scopes carry the vendor's segment.
func (d Dialect) TranslateGroups(groups []byte) []byte {
	if d.vendor() == neutralVendor {
		return groups
	}
	return changeElements(groups, func(group []byte) []byte {
		return changeMember(group, "scopes", func(scopes []byte) []byte {
			return changeElements(scopes, d.swapText)
		})
	})
}

// swapText is [Dialect.SwapKey] for a JSON string; anything else stays.
func (d Dialect) swapText(raw []byte) []byte {
	key := text(raw)
	if swapped := d.SwapKey(key); swapped != key {
		return encoded(swapped, raw)
	}
	return raw
}

// SwapKey exchanges the segments "vendor" and d.Vendor at the beginning of a
// resource key; other keys stay. To exchange, instead of replacing one by the
// other, makes two keys different on both sides exactly when they are on one.
func (d Dialect) SwapKey(key string) string {
	neutral, own := "com."+neutralVendor+".", "com."+d.vendor()+"."
	if rest, ok := strings.CutPrefix(key, neutral); ok {
		return own + rest
	}
	if rest, ok := strings.CutPrefix(key, own); ok {
		return neutral + rest
	}
	return key
}

// TranslateError is [Dialect.Translate] for what a platform says is wrong with
// a token: resource keys in messages and pointers. It returns a copy.
func (d Dialect) TranslateError(err error) error {
	var e *edge.Error
	if !errors.As(err, &e) || d.vendor() == neutralVendor {
		return err
	}
	neutral, own := "com."+neutralVendor+".", "com."+d.vendor()+"."
	swap := strings.NewReplacer(neutral, own, own, neutral)
	return e.WithDetails(func(d edge.ErrorDetail) edge.ErrorDetail {
		d.Message, d.Source.Pointer = swap.Replace(d.Message), swap.Replace(d.Source.Pointer)
		return d
	})
}
