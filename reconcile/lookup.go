package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Beyond the reference a platform may list its tokens. Then the ledger need not
// be believed: what somebody changed or revoked elsewhere is seen, and a creation
// whose answer was lost is looked for before a person is bothered.

// lookUpTokens adds to what is on record what the platform says. Where it does
// not say, nothing may be concluded; where it has no such calls, the record is
// all there is.
func (r *Reconciler) lookUpTokens(ctx context.Context, live diff.TokensLive, tokens []desired.Token, within scope, write bool) (diff.TokensLive, error) {
	listed, err := r.TokenReader.UserTokens(ctx)
	switch {
	case errors.Is(err, edge.ErrNotOffered):
		r.log().WarnContext(ctx, "the platform does not list its tokens, which platform.profile extended expects; the ledger alone is believed", "error", err.Error())
		return live, nil
	case ctx.Err() != nil:
		return live, context.Cause(ctx)
	case errors.Is(err, edge.ErrUnauthenticated):
		live.Unknown, live.Hint = "the platform does not accept credentials.tokens", hintForTokens(err)
		return live, fmt.Errorf("%w; check credentials.tokens: %w", edge.ErrUnauthenticated, err)
	case err != nil:
		live.Unknown, live.Hint = "the tokens of the platform could not be listed: "+err.Error(), hintForTokens(err)
		return live, nil
	}
	live.Platform = &diff.TokensListed{Tokens: map[edge.TokenID]edge.Token{}}
	for _, token := range listed {
		live.Platform.Tokens[token.ID] = token
	}
	if err := r.confirmGone(ctx, &live); err != nil || live.Unknown != "" {
		return live, err
	}
	live.Platform.Groups = r.permissionGroups(ctx, tokens)
	live.Platform.Credential = r.credential(ctx)
	if !write {
		return live, nil
	}
	if err := r.forgetGone(ctx, live, within); err != nil {
		return live, err
	}
	return live, r.findLost(ctx, &live)
}

func hintForTokens(err error) string {
	switch {
	case errors.Is(err, edge.ErrUnauthenticated):
		return "check credentials.tokens: the platform does not accept it"
	case errors.Is(err, edge.ErrForbidden):
		return `credentials.tokens must be permitted to read tokens; or say platform.profile: "documented"`
	}
	return "the next run tries again"
}

// confirmGone asks once more for each token on record that the list does not
// have: a list may be older than a token. A list that has none of them is of
// another user, or of a platform that has lost them all; nobody but a person
// may say which.
func (r *Reconciler) confirmGone(ctx context.Context, live *diff.TokensLive) error {
	known, missing, now := 0, 0, r.Now()
	for _, record := range live.Records {
		if record.State != diff.TokenConfirmed || live.Over(record, now) {
			continue
		}
		known++
		if _, listed := live.Platform.Tokens[record.ID]; listed {
			continue
		}
		token, err := r.TokenReader.UserToken(ctx, record.ID)
		switch {
		case err == nil:
			live.Platform.Tokens[record.ID] = token
		case errors.Is(err, edge.ErrNotFound) && now.Sub(record.At) < youngFor:
			live.Platform.Tokens[record.ID] = edge.Token{ID: record.ID, TokenSpec: record.Spec} // too young to be missed
		case errors.Is(err, edge.ErrNotFound):
			missing++
		case ctx.Err() != nil:
			return context.Cause(ctx)
		default:
			live.Unknown, live.Hint = fmt.Sprintf("whether token %s still exists could not be read: %v", record.ID, err), hintForTokens(err)
			return nil
		}
	}
	if known > 0 && missing == known {
		live.Unknown = fmt.Sprintf("the platform has none of the tokens on record (%d)", known)
		live.Hint = "is credentials.tokens of the user who made them? If all were revoked: seawall token revoked ID, for each in seawall token list"
	}
	return nil
}

// forgetGone drops what is on record, within the scope of a run, of tokens that
// the platform does not have any more. They stay in live, so that the plan can say
// what is replaced.
func (r *Reconciler) forgetGone(ctx context.Context, live diff.TokensLive, within scope) error {
	for _, record := range live.Records {
		if record.State != diff.TokenConfirmed || live.Has(record) || !within.has(record.Key) {
			continue
		}
		if err := r.Tokens.Gone(ctx, record.Intent); err != nil {
			return err
		}
	}
	return nil
}

// permissionGroups reads the groups where tokens are declared, and once an hour:
// they change with releases of the platform.
func (r *Reconciler) permissionGroups(ctx context.Context, tokens []desired.Token) diff.Observed[[]edge.PermissionGroup] {
	if len(tokens) == 0 {
		return diff.Observed[[]edge.PermissionGroup]{}
	}
	if age := r.Now().Sub(r.groupsAt); r.groups != nil && age >= 0 && age < groupsFor {
		return diff.Observed[[]edge.PermissionGroup]{Value: r.groups}
	}
	groups, err := r.TokenReader.PermissionGroups(ctx)
	if err == nil {
		r.groups, r.groupsAt = groups, r.Now()
	}
	return diff.Observed[[]edge.PermissionGroup]{Value: groups, Err: err}
}

// credential asks what the platform says of credentials.tokens itself: when that
// ends, so does everything here. It is only told; a platform that does not say is
// no failure.
func (r *Reconciler) credential(ctx context.Context) edge.Token {
	if age := r.Now().Sub(r.ownAt); !r.ownAt.IsZero() && age >= 0 && age < groupsFor {
		return r.own
	}
	own, err := r.TokenReader.VerifyToken(ctx)
	if err != nil {
		r.log().DebugContext(ctx, "the platform does not tell of credentials.tokens", "error", err.Error())
		return edge.Token{}
	}
	r.own, r.ownAt = own, r.Now()
	return own
}

// groupsFor is how long a list of permission groups is believed, and the word on the
// credential.
const groupsFor = time.Hour

// lateAfter is how long after its intent a creation whose answer was lost may still
// take effect: the request may have waited for the budget, through a throttling
// or two, before it was sent.
const lateAfter = 30 * time.Minute

// youngFor is how long a platform may not yet know of a token that it has made.
const youngFor = 5 * time.Minute

// findLost looks for creations whose outcome is unknown by the attempt in the
// token's name. A token that is there gets another secret, since nobody has the
// first; an attempt that left none is over.
func (r *Reconciler) findLost(ctx context.Context, live *diff.TokensLive) error {
	for i, record := range slices.Backward(slices.Clone(live.Records)) {
		if record.State != diff.TokenQuarantined || !record.Named() {
			continue
		}
		found := named(record.Intent, *live.Platform)
		switch {
		case len(found) == 1:
			secret, err := r.roll(ctx, found[0])
			if err != nil {
				r.log().WarnContext(ctx, "a token whose secret was lost did not get another", "token", record.Key, "id", string(found[0]), "error", err.Error())
				continue
			}
			if err := r.Tokens.Confirm(ctx, record.Intent, found[0], secret); err != nil {
				return err
			}
			live.Records[i].State, live.Records[i].ID = diff.TokenConfirmed, found[0]
			r.log().InfoContext(ctx, "a token whose secret was lost was found, and has another", "token", record.Key, "id", string(found[0]))
		case len(found) == 0 && r.Now().Sub(record.At) > lateAfter:
			if err := r.Tokens.NotCreated(ctx, record.Intent); err != nil {
				return err
			}
			live.Records = without(live.Records, record.Intent)
			r.log().InfoContext(ctx, "a creation whose answer was lost had created nothing", "token", record.Key, "attempt", record.Intent)
		}
	}
	return nil
}

func (r *Reconciler) roll(ctx context.Context, id edge.TokenID) (edge.Secret, error) {
	if r.TokenWriter == nil {
		return edge.Secret{}, errNoCredential
	}
	return r.TokenWriter.RollToken(ctx, id)
}

// named returns the tokens whose names carry an attempt. What else the name says
// may have been changed since, by a person.
func named(attempt string, listed diff.TokensListed) (ids []edge.TokenID) {
	for id, token := range listed.Tokens {
		if strings.Contains(token.Name, attempt) {
			ids = append(ids, id)
		}
	}
	return ids
}
