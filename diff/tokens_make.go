package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
)

// planTokens compares declared tokens with the attempts on record and, where the
// platform lists its tokens, with those.
func (p *planner) planTokens() {
	p.takers = p.in.Live.Tokens.takers()
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
				p.leave(r, desired.Origin{}, "no longer declared")
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
		p.quarantined(token, records[i])
		return
	}
	spec, problems := p.resolveGroups(token)
	if len(problems) > 0 {
		p.plan.Problems = append(p.plan.Problems, problems...)
		return
	}
	want := creationOf(token, spec, p.in.NameSuffix)
	current := p.in.Live.Tokens.current(records, want, p.takers)
	switch {
	case current == nil:
		p.createToken(token, want, records)
		return
	case !current.Delivered && !p.in.Live.Tokens.Over(*current, p.in.Now):
		p.tokenProblem(token, Undelivered, "the token exists; its sealed secret waits for delivery to "+sinkName(current.Sink),
			"the next run tries again; seawall apply shows why the sink did not accept it")
		if p.in.Live.Tokens.Platform != nil {
			p.keepToken(token, want, *current) // a token that is to be narrowed does not wait for a sink
		}
	case p.in.Live.Tokens.due(token.Rotate, *current, p.in.Now):
		p.rotateToken(token, want, *current)
	default:
		p.keepToken(token, want, *current)
	}
	p.planOthers(token, records, *current)
}

// planOthers says what becomes of a declaration's earlier tokens. While the secret
// of the one that counts is still on its way they are in use, and nothing is said
// of them.
func (p *planner) planOthers(token desired.Token, records []TokenRecord, current TokenRecord) {
	for _, r := range records {
		if r.Intent == current.Intent || !p.in.Live.Tokens.Has(r) {
			continue
		}
		// By itself, after the overlap; one without an end is left alone for as long.
		runsOut := token.Rotate != nil && !p.in.Live.Tokens.Over(r, p.in.Now) &&
			(p.runsOut(r) || p.in.Now.Before(current.At.Add(token.Rotate.Overlap)))
		if r.Prune != token.Prune && (runsOut || r.Prune) {
			p.plan.SettledTokens = append(p.plan.SettledTokens, SettledToken{r.Intent, r.Spec, r.Hash, token.Prune})
		}
		if !runsOut && current.Delivered {
			r.Prune = token.Prune
			p.leave(r, token.Origin, "superseded by "+string(current.ID))
		}
	}
}

// runsOut reports whether a token of a rotation ends when it was to end. One whose
// end somebody moved does not.
func (p *planner) runsOut(r TokenRecord) bool {
	end, ends := p.in.Live.Tokens.end(r)
	meant, said := expiry(r)
	return ends && said && !end.After(meant)
}

func (p *planner) quarantined(token desired.Token, r TokenRecord) {
	reason := fmt.Sprintf("the outcome of a creation is unknown (attempt %s): %s", r.Intent, orElse(r.Reason, "it was interrupted"))
	hint := fmt.Sprintf("search for a token named %q in the dashboard, then: seawall token resolve %s --adopt ID | --abandon | --retry", r.Spec.Name, token.Key)
	if p.in.Live.Tokens.Platform != nil && r.Named() {
		hint = "the next run searches for it by the attempt in its name; or " + hint
	}
	p.tokenProblem(token, Quarantined, reason, hint)
}

// current returns the newest token on record that the declaration is about, and
// whose secret is, or will be, where it wants it. Where tokens cannot be updated
// it must be as declared; one that returns to an earlier form reuses the token
// of that form while it lives. But none is current where a later one's secret
// has taken its place, of this declaration or another, or the place is another
// one: the secret is not kept, so only a new token can fill it.
func (l TokensLive) current(records []TokenRecord, want *Creation, takers map[desired.Sink]string) *TokenRecord {
	for i := len(records) - 1; i >= 0; i-- {
		r := &records[i]
		switch {
		case !l.Has(*r), l.Platform == nil && !want.made(*r):
		case want.Sink == nil:
			return r
		case r.Sink != nil && takers[*r.Sink] == r.Intent && (!r.Delivered || sameSink(r.Sink, want.Sink)):
			return r
		}
	}
	return nil
}

// leave says what becomes of a token that nothing declares any more. Where the
// reference's calls are all there is, a person has to revoke it.
func (p *planner) leave(r TokenRecord, origin desired.Origin, why string) {
	live := p.in.Live.Tokens
	switch {
	case live.Unknown != "":
	case r.State != TokenConfirmed:
		p.quarantined(desired.Token{Key: r.Key}, r)
	case !live.Has(r):
	case live.Platform != nil && r.Prune:
		p.deleteToken(r, origin, why)
	case live.Over(r, p.in.Now): // it works for nobody
	default:
		p.orphan(r, origin, why)
	}
}

func (p *planner) tokenProblem(token desired.Token, state ProblemState, reason, hint string) {
	p.plan.Problems = append(p.plan.Problems, Problem{
		Token: token.Key, State: state, Reason: reason, Hint: hint, Origin: token.Origin,
	})
}

func sinkName(sink *desired.Sink) string {
	if sink == nil {
		return "a sink"
	}
	return fmt.Sprintf("sink %s, key %s", sink.Name, sink.Key)
}

func sameSink(a, b *desired.Sink) bool { return a != nil && b != nil && *a == *b }

func orElse(s, other string) string {
	if strings.TrimSpace(s) == "" {
		return other
	}
	return s
}
