package diff

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

// Creation is a token to be created, and where its secret goes.
type Creation struct {
	Key  string
	Spec edge.TokenSpec
	Hash string
	Sink *desired.Sink

	// Rotate says that the declaration asks for successors, which this version
	// cannot make.
	Rotate bool
}

// planTokens compares declared tokens with the attempts on record.
func (p *planner) planTokens() {
	byKey := map[string][]TokenRecord{}
	for _, r := range p.in.Live.Tokens.Records {
		byKey[r.Key] = append(byKey[r.Key], r)
	}
	declared := map[string]bool{}
	p.plan.Summary.Tokens = len(p.in.State.Tokens)
	for _, token := range p.in.State.Tokens {
		declared[token.Key] = true
		p.planToken(token, byKey[token.Key])
	}
	if p.in.Part {
		return // what is not in this part may be declared all the same
	}
	for _, key := range sortedKeys(byKey) {
		if !declared[key] {
			for _, r := range byKey[key] {
				p.orphan(r, desired.Origin{}, "no longer declared")
			}
		}
	}
}

func (p *planner) planToken(token desired.Token, records []TokenRecord) {
	if live := p.in.Live.Tokens; live.Unknown != "" {
		p.tokenProblem(token, Unknown, live.Unknown, live.Hint)
		return
	}
	if i := slices.IndexFunc(records, func(r TokenRecord) bool { return r.State != TokenConfirmed }); i >= 0 {
		r := records[i]
		reason := fmt.Sprintf("the outcome of a creation is unknown (attempt %s): %s", r.Intent, orElse(r.Reason, "it was cut short"))
		p.tokenProblem(token, Quarantined, reason, fmt.Sprintf(
			"look for a token named %q in the dashboard, then: seawall token resolve %s --adopt ID | --abandon | --retry", r.Spec.Name, token.Key))
		return
	}
	creation := &Creation{Key: token.Key, Spec: token.Spec(), Sink: token.Sink, Rotate: token.Rotate != nil}
	creation.Hash = access.Hash(creation.Spec)
	current := reusable(records, creation)
	switch {
	case current == nil:
		p.createToken(token, creation, records)
	case !current.Delivered:
		p.tokenProblem(token, Undelivered, "the token exists and its secret waits, sealed, for "+sinkName(current.Sink),
			"the next run tries again; seawall apply says why the sink did not take it")
	}
	for _, r := range records {
		if current != nil && r.Intent != current.Intent {
			p.orphan(r, token.Origin, "superseded by "+string(current.ID))
		}
	}
}

func sinkName(sink *desired.Sink) string {
	if sink == nil {
		return "a sink"
	}
	return fmt.Sprintf("sink %s, key %s", sink.Name, sink.Key)
}

// reusable returns the newest token on record that is as declared and whose
// secret is, or will be, where the declaration wants it. One that returns to an
// earlier form reuses the token of that form while it lives; but not where a
// later one's secret has taken its place, or the place is another one: the
// secret is not kept, so only a new token can fill it.
func reusable(records []TokenRecord, c *Creation) *TokenRecord {
	for i := len(records) - 1; i >= 0; i-- {
		r := &records[i]
		switch {
		case r.Hash != c.Hash:
		case !r.Delivered, c.Sink == nil:
			return r
		case sameSink(r.Sink, c.Sink) && !slices.ContainsFunc(records[i+1:], func(later TokenRecord) bool { return sameSink(later.Sink, c.Sink) }):
			return r
		}
	}
	return nil
}

func sameSink(a, b *desired.Sink) bool { return a != nil && b != nil && *a == *b }

func (p *planner) createToken(token desired.Token, creation *Creation, records []TokenRecord) {
	c := Change{
		Kind: KindToken, Token: token.Key, Action: ActionCreate, Origin: token.Origin, Creation: creation,
		Request: &Request{Method: "POST", Path: edge.TokensPath(), Token: &creation.Spec},
	}
	var before edge.TokenSpec
	var sink *desired.Sink
	if len(records) > 0 {
		last := records[len(records)-1]
		c.Action, before, sink = ActionReplace, last.Spec, last.Sink
	}
	c.Fields = tokenFields(before, creation.Spec, token.Origin)
	if c.Action == ActionReplace && creation.Sink != nil && !sameSink(sink, creation.Sink) {
		c.Fields = append(c.Fields, Field{
			Path: "sink", Old: sinkName(sink), New: sinkName(creation.Sink), Direction: Neutral, Origin: &token.Origin,
		})
	}
	c.Direction = Neutral
	for _, change := range access.Diff(before, creation.Spec) {
		right := Right{change.String(), Direction(change.Direction)}
		c.Rights = append(c.Rights, right)
		c.Direction = combine(c.Direction, right.Direction)
		for i := range c.Fields {
			if c.Fields[i].Path == memberOfRight[change.Kind] {
				c.Fields[i].Direction = combine(c.Fields[i].Direction, right.Direction)
			}
		}
	}
	p.plan.Changes = append(p.plan.Changes, c)
}

// orphan names a token that lives and that nothing declares any more. Nothing
// is sent: the reference shows no call that revokes one.
func (p *planner) orphan(r TokenRecord, origin desired.Origin, why string) {
	p.plan.Changes = append(p.plan.Changes, Change{
		Kind: KindToken, Token: r.Key, Action: ActionOrphan, Direction: Neutral, Origin: origin,
		Fields: []Field{{
			Path: "id", Old: string(r.ID), Direction: Neutral,
			Note: why + "; revoke it in the dashboard, then: seawall token revoked " + string(r.ID),
		}},
	})
}

func (p *planner) tokenProblem(token desired.Token, state ProblemState, reason, hint string) {
	p.plan.Problems = append(p.plan.Problems, Problem{
		Token: token.Key, State: state, Reason: reason, Hint: hint, Origin: token.Origin,
	})
}

// memberOfRight says which member of a token a difference in rights comes from.
var memberOfRight = map[access.Kind]Member{
	access.KindRight: "policies", access.KindNotBefore: "not_before",
	access.KindExpiresOn: "expires_on", access.KindAddresses: "condition",
}

// tokenFields lists the members in which two specifications differ, in
// canonical form.
func tokenFields(before, after edge.TokenSpec, origin desired.Origin) []Field {
	a, b := tokenMembers(access.Canonical(before)), tokenMembers(access.Canonical(after))
	fields := []Field{}
	for _, path := range []Member{"name", "policies", "not_before", "expires_on", "condition"} {
		if old, now := a[path], b[path]; !sameJSON(old, now) {
			fields = append(fields, Field{Path: path, Old: old, New: now, Direction: Neutral, Origin: &origin})
		}
	}
	return fields
}

func tokenMembers(s edge.TokenSpec) map[Member]any {
	members := map[Member]any{}
	put := func(path Member, said bool, v any) {
		if said {
			members[path] = v
		}
	}
	put("name", s.Name != "", s.Name)
	put("policies", len(s.Policies) > 0, s.Policies)
	put("not_before", s.NotBefore != "", s.NotBefore)
	put("expires_on", s.ExpiresOn != "", s.ExpiresOn)
	put("condition", s.Condition != nil, s.Condition)
	return members
}

func sameJSON(a, b any) bool {
	left, err := json.Marshal(a)
	right, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(left) == string(right)
}

func orElse(s, other string) string {
	if strings.TrimSpace(s) == "" {
		return other
	}
	return s
}
