// Package token plans the tokens: what is declared, what is on record and what the
// platform lists go in ([Input]); changes, problems, recommendations and the ends of
// tokens come out ([Outcome]). The reference has a call that creates tokens, and none
// that reads, changes or deletes them: see [diff.TokenRecord].
//
//	plan        which token counts for a declaration   (plan.go)
//	groups      names of permission groups → ids       (groups.go)
//	change      creation, deletion, orphan             (change.go)
//	earlier     what stays of earlier tokens           (earlier.go)
//	drift       what the platform has → update         (drift.go)
//	rotate      when a successor is due                (rotate.go)
//	succeed     what the successor is                  (succeed.go)
//	findings    recommendations                        (findings.go)
//	expiries    when tokens end                        (expiries.go)
//
// The laws: a token that was created as planned is planned no more, an order of
// policies or records changes no plan, and a rotation's plan holds no point in time.
// It must not import diff/deployment, nor what is done with plans.
package token

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
)

// Name is that of the kind.
const Name desired.KindName = "token"

// Kind is that of tokens; see [diff.Kind].
type Kind struct{}

// Name implements [diff.Kind].
func (Kind) Name() desired.KindName { return Name }

// Phases implements [diff.Kind]: tokens are in no entry point.
func (Kind) Phases(desired.Zone, diff.Pruning) []edge.Phase { return nil }

// Declared implements [diff.Kind]: it declares nothing in zones.
func (Kind) Declared(desired.Account, diff.AccountLive) iter.Seq2[diff.ID, bool] {
	return func(func(diff.ID, bool) bool) {}
}

// Restore implements [diff.Kind]: no revert gives a secret back.
func (Kind) Restore(diff.Restoration, diff.Input) (*diff.Change, *diff.Problem) {
	return nil, &diff.Problem{State: diff.Blocked, Reason: "a token is not put back"}
}

// Plan implements [diff.Kind]: it compares declared tokens with the attempts on record and, where the
// platform lists its tokens, with those.
func (Kind) Plan(in diff.Input) diff.Part {
	p := planner{in: in, groups: groupNames(in), takers: takersOf(in.Live.Tokens)}
	p.planAll()
	p.leaveToOther()
	p.out.Findings = sortFindings(append(p.out.Findings, Findings(withGroupNames(in.State.Tokens, p.groups), in.CreatingGroups)...))
	p.out.Expiries = Expiries(in.Live.Tokens, in.State.Tokens)
	return p.out
}

type planner struct {
	in     diff.Input
	out    diff.Part
	groups map[string]string       // names of permission groups, by id
	takers map[desired.Sink]string // see takersOf
}

func (p *planner) planAll() {
	byKey := map[string][]diff.TokenRecord{}
	for _, r := range p.in.Live.Tokens.Records {
		byKey[r.Key] = append(byKey[r.Key], r)
	}
	declared := map[string]bool{}
	for _, token := range p.in.State.Tokens {
		declared[token.Key] = true
		p.planToken(token, byKey[token.Key])
	}
	if p.in.Part {
		return // what is not in this part may be declared all the same
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		if !declared[key] {
			for _, r := range byKey[key] {
				p.leave(r, desired.Origin{}, diff.Neutral, "no longer declared")
				p.undeclare(r)
			}
		}
	}
}

func (p *planner) planToken(token desired.Token, records []diff.TokenRecord) {
	live := p.in.Live.Tokens.Of(token.Owner)
	switch {
	case live.LeftOut:
		return
	case live.Unknown != "":
		p.tokenProblem(token, diff.Unknown, live.Unknown, live.Hint)
		p.out.Problems[len(p.out.Problems)-1].Lasts = p.in.Live.Tokens.Unknown != "" // a doubt about the ledger
		return
	}
	if i := slices.IndexFunc(records, func(r diff.TokenRecord) bool { return r.State != diff.TokenConfirmed }); i >= 0 {
		p.quarantined(token, records[i])
		return
	}
	spec, problems := p.resolveGroups(token)
	if len(problems) > 0 {
		p.out.Problems = append(p.out.Problems, problems...)
		return
	}
	want := creationOf(token, spec, p.in.NameSuffix)
	newest := current(p.in.Live.Tokens, records, want, p.takers)
	switch {
	case newest == nil:
		p.createToken(token, want, records)
		return
	case !newest.Delivered && !p.in.Live.Tokens.Over(*newest, p.in.Now):
		p.tokenProblem(token, diff.Undelivered, "the token exists; its sealed secret waits for delivery to "+words.Sink(newest.Sink),
			"the next run tries again; seawall apply shows why the sink did not accept it")
		if live.Listed != nil {
			p.keepToken(token, want, *newest) // a token that is to be narrowed does not wait for a sink
		}
	case token.Rotate != nil && p.asked(*newest), due(p.in.Live.Tokens, token.Rotate, *newest, p.in.Now), token.Rotate != nil && p.dueOnRecord(*newest, want):
		p.succeed(token, want, *newest)
	default:
		p.keepToken(token, want, *newest)
	}
	p.planOthers(token, want, records, *newest)
}

// planOthers says what becomes of a declaration's earlier tokens. While the secret
// of the one that counts is still on its way they are in use, and nothing is said
// of them; nor of one that ends by itself, unless it may do more than is declared.
func (p *planner) planOthers(token desired.Token, want diff.Creation, records []diff.TokenRecord, current diff.TokenRecord) {
	for _, r := range records {
		if r.Intent == current.Intent || !p.in.Live.Tokens.Has(r) {
			continue
		}
		// By itself, after the overlap; one without an end is left alone for as long.
		runsOut := token.Rotate != nil && !p.in.Live.Tokens.Over(r, p.in.Now) &&
			(p.runsOut(r) || p.in.Now.Before(current.At.Add(token.Rotate.Overlap)))
		if r.Prune != token.Prune && (runsOut || r.Prune) {
			p.settle(r, diff.SettledToken{Intent: r.Intent, Spec: r.Spec, Hash: r.Hash, Prune: token.Prune})
		}
		why, direction := "superseded by "+string(current.ID), diff.Neutral
		if p.wider(r, want) {
			why, direction = why+"; it may do more than that, and "+p.staysValid(r), diff.Weakens
		}
		switch {
		case !current.Delivered:
		case !runsOut:
			r.Prune = token.Prune
			p.leave(r, token.Origin, direction, why)
		case direction == diff.Weakens:
			p.orphan(r, token.Origin, direction, why)
		}
	}
}

// runsOut reports whether a token of a rotation ends when it was to end. One whose
// end somebody moved does not.
func (p *planner) runsOut(r diff.TokenRecord) bool {
	end, ends := p.in.Live.Tokens.End(r)
	meant, said := expiry(r)
	return ends && said && !end.After(meant)
}

func (p *planner) quarantined(token desired.Token, r diff.TokenRecord) {
	if p.in.Live.Tokens.Elsewhere != "" && r.State == diff.TokenIntended {
		p.othersProblem(token, "its creation is under way")
		return
	}
	reason := fmt.Sprintf("the outcome of a creation is unknown (attempt %s): %s", r.Intent, orElse(r.Reason, "it was interrupted"))
	hint := fmt.Sprintf("search for a token named %q in the dashboard, then: seawall token resolve %s --adopt ID | --abandon | --retry", r.Spec.Name, token.Key)
	if p.in.Live.Tokens.Of(r.Owner).Listed != nil && r.Named() {
		hint = "the next run searches for it by the attempt in its name; or " + hint
	}
	p.tokenProblem(token, diff.Quarantined, reason, hint)
}

// current returns the newest token on record that the declaration is about, and
// whose secret is, or will be, where it wants it. Where tokens cannot be updated
// it must be as declared; one that returns to an earlier form reuses the token
// of that form while it lives. But none is current where a later one's secret
// has taken its place, of this declaration or another, or the place is another
// one: the secret is not kept, so only a new token can fill it. Nor is one of another
// owner: it stays with that owner.
func current(live diff.TokensLive, records []diff.TokenRecord, want diff.Creation, takers map[desired.Sink]string) *diff.TokenRecord {
	for i := len(records) - 1; i >= 0; i-- {
		r := &records[i]
		switch {
		case r.Owner != want.Owner, !live.Has(*r), live.Of(r.Owner).Listed == nil && !made(want, *r):
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
func (p *planner) leave(r diff.TokenRecord, origin desired.Origin, direction diff.Direction, why string) {
	live, of := p.in.Live.Tokens, p.in.Live.Tokens.Of(r.Owner)
	switch {
	case live.Unknown != "":
	case of.Unknown != "":
		p.tokenProblem(p.declared(r, origin), diff.Unknown, fmt.Sprintf("token %s is %s; %s", r.ID, why, of.Unknown), of.Hint)
	case r.State != diff.TokenConfirmed:
		p.quarantined(p.declared(r, origin), r)
	case !live.Has(r):
	case of.Listed != nil && r.Prune:
		p.deleteToken(r, origin, why)
	case live.Over(r, p.in.Now): // it works for nobody
	default:
		p.orphan(r, origin, direction, why)
	}
}

// declared stands for the declaration of a token that only the record has.
func (p *planner) declared(r diff.TokenRecord, origin desired.Origin) desired.Token {
	return desired.Token{Key: r.Key, Owner: r.Owner, Account: p.account(r.Owner), Origin: origin}
}

// account is the key of the account that owns a token; empty for the user, and for an
// account that is not declared.
func (p *planner) account(owner edge.AccountID) string { return p.in.Live.Tokens.Of(owner).Account }

func (p *planner) tokenProblem(token desired.Token, state diff.ProblemState, reason, hint string) {
	p.out.Problems = append(p.out.Problems, diff.Problem{
		Scope: edge.CredentialScope(token.Owner), Account: token.Account, Token: token.Key, State: state, Reason: reason, Hint: hint, Origin: token.Origin,
	})
}

// takersOf says of each place which attempt's secret was the last to be sent there,
// whichever declaration asked for it.
func takersOf(live diff.TokensLive) map[desired.Sink]string {
	takers := map[desired.Sink]string{}
	for _, r := range live.Records {
		if r.State == diff.TokenConfirmed && r.Sink != nil {
			takers[*r.Sink] = r.Intent
		}
	}
	return takers
}

func sameSink(a, b *desired.Sink) bool { return a != nil && b != nil && *a == *b }

func orElse(s, other string) string {
	if strings.TrimSpace(s) == "" {
		return other
	}
	return s
}
