package token

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Prepare returns what is known of tokens, for work that may write: it settles
// what earlier work left behind. Where the platform does not accept a credential, the
// tokens of its owner are unknown, beside the error.
func (w *Worker) Prepare(ctx context.Context, scope Scope) (diff.TokensLive, error) {
	if err := w.quarantineUnfinished(ctx); err != nil {
		return diff.TokensLive{}, err
	}
	live, lookErr := w.Look(ctx, scope)
	if lookErr != nil && !rejected(lookErr) || live.Unknown != "" || live.Elsewhere != "" {
		return live, lookErr
	}
	if err := w.forgetGone(ctx, live, scope); err != nil {
		return live, err
	}
	live, err := w.findLost(ctx, live)
	if err == nil {
		live, err = w.forgetEnded(ctx, live)
	}
	if err != nil {
		return live, err
	}
	return live, lookErr
}

// Look returns what is known of tokens, and changes nothing. An owner whose tokens
// cannot be read is unknown, and the others are not. Where the platform does not accept
// a credential the error says so, beside what is known of the other owners.
func (w *Worker) Look(ctx context.Context, scope Scope) (diff.TokensLive, error) {
	live, err := w.Memory.Tokens(ctx)
	if err != nil || live.Unknown != "" {
		return live, err
	}
	live.Owners = map[edge.AccountID]diff.OwnerLive{}
	var rejections []error
	for _, id := range owners(live.Records, scope) {
		of, err := w.lookAt(ctx, id, live.Records, scope)
		if err != nil && !rejected(err) {
			return live, err
		}
		live.Owners[id] = of
		rejections = append(rejections, err)
	}
	return live, errors.Join(rejections...)
}

// list adds to what is known of an owner what the platform says. Where it does not say,
// nothing may be concluded; where it has no such calls, the record is all there is.
func (w *Worker) list(ctx context.Context, o owner, live diff.OwnerLive, records []diff.TokenRecord, declared []desired.Token) (diff.OwnerLive, error) {
	listed, err := o.Reader.UserTokens(ctx)
	if err != nil {
		return w.unlisted(ctx, o, live, err)
	}
	live.Listed = &diff.TokensListed{Tokens: map[edge.TokenID]edge.Token{}, CredentialPath: o.Credential}
	for _, token := range listed {
		live.Listed.Tokens[token.ID] = token
	}
	if live, err = w.confirmGone(ctx, o, live, records); err != nil || live.Unknown != "" {
		live.Listed = nil
		return live, err
	}
	live.Listed.Groups = w.permissionGroups(ctx, o, declared)
	live.Listed.Credential = w.credential(ctx, o)
	return live, nil
}

// unlisted is what follows where the platform does not list the tokens of an owner.
func (w *Worker) unlisted(ctx context.Context, o owner, live diff.OwnerLive, err error) (diff.OwnerLive, error) {
	switch {
	case errors.Is(err, edge.ErrNotOffered) && o.id == "":
		level := slog.LevelWarn
		if o.cache.unlistedTold {
			level = slog.LevelDebug
		}
		o.cache.unlistedTold = true
		w.Log.Log(ctx, level, "the platform does not list its tokens, which platform.profile extended expects; the ledger alone is believed", "error", err.Error())
		return live, nil
	case ctx.Err() != nil:
		return live, context.Cause(ctx)
	case rejected(err):
		live.Unknown, live.Hint = "the platform does not accept "+o.Credential, o.hintFor(err)
		if unread := (*edge.CredentialError)(nil); errors.As(err, &unread) {
			live.Unknown, live.Hint = o.Credential+": "+err.Error(), "see "+o.Credential+" in the configuration"
		}
		return live, o.rejection(err)
	}
	live.Unknown, live.Hint = "the tokens "+o.whose()+" could not be listed: "+err.Error(), o.hintFor(err)
	return live, nil
}

// hintFor is what a person can try where the tokens of an owner cannot be read. The
// platform has one code for a credential that lacks the permission, that comes from a
// refused address, and that is of the other kind: a user's or an account's.
func (o owner) hintFor(err error) string {
	switch {
	case errors.Is(err, edge.ErrUnauthenticated):
		return "check " + o.Credential + ": the platform does not accept it"
	case o.id != "" && errors.Is(err, edge.ErrForbidden):
		return o.Credential + " must have the permission Account API Tokens: Edit for account " + o.account +
			"; if it has, it may be a token of another account, or its condition excludes the address of this machine"
	case o.id != "" && errors.Is(err, edge.ErrNotOffered):
		return "this platform has no tokens of accounts: remove account from the declaration"
	case o.id != "" && errors.Is(err, edge.ErrNotFound):
		return "check the id of account " + o.account + ", and that " + o.Credential + " may see it"
	case hasCode(err, edge.CodeNotPermitted):
		return o.Credential + " must be permitted to read tokens; if it is, it may be a token of an account (it must be one of a user), or its condition excludes the address of this machine"
	case errors.Is(err, edge.ErrForbidden):
		return o.Credential + ` must be permitted to read tokens; or say platform.profile: "documented"`
	}
	return "the next run tries again"
}

// hasCode reports whether the platform gave an error this code.
func hasCode(err error, code int) bool {
	var e *edge.Error
	return errors.As(err, &e) && e.Code() == code
}

// youngFor is how long a platform may not yet know of a token that it has made.
const youngFor = 5 * time.Minute

// confirmGone asks once more for each token on record that the list does not
// have: a list may be older than a token. A list that has none of them is of
// another user, or of a platform that has lost them all; no one but a person
// may say which.
func (w *Worker) confirmGone(ctx context.Context, o owner, live diff.OwnerLive, records []diff.TokenRecord) (diff.OwnerLive, error) {
	known, missing, now := 0, 0, w.Now()
	all := diff.TokensLive{Owners: map[edge.AccountID]diff.OwnerLive{o.id: live}}
	for _, record := range records {
		if record.State != diff.TokenConfirmed || all.Over(record, now) {
			continue
		}
		known++
		if all.Has(record) {
			continue
		}
		token, err := o.Reader.UserToken(ctx, record.ID)
		switch {
		case err == nil:
			live.Listed.Tokens[record.ID] = token
		case errors.Is(err, edge.ErrNotFound) && now.Sub(record.At) < youngFor:
			live.Listed.Tokens[record.ID] = edge.Token{ID: record.ID, TokenSpec: record.Spec} // too young to be missed
		case errors.Is(err, edge.ErrNotFound):
			missing++
		case ctx.Err() != nil:
			return live, context.Cause(ctx)
		default:
			live.Unknown, live.Hint = fmt.Sprintf("could not read whether token %s still exists: %v", record.ID, err), o.hintFor(err)
			return live, nil
		}
	}
	if known > 0 && missing == known {
		live.Unknown = noneListed(known)
		live.Hint = "check that " + o.Credential + " belongs to the user who created them; if all were revoked, run seawall token revoked ID for each token of seawall token list"
		if o.id != "" {
			live.Unknown += " that account " + o.account + " owns"
			live.Hint = "check the id of account " + o.account + "; if all were revoked, run seawall token revoked ID for each of its tokens in seawall token list"
		}
	}
	return live, nil
}

// noneListed says that the platform has no token of the known ones.
func noneListed(known int) string {
	if known == 1 {
		return "the platform does not have the token in the ledger"
	}
	return fmt.Sprintf("the platform has none of the %d tokens in the ledger", known)
}

// permissionGroups reads the groups where tokens are declared.
func (w *Worker) permissionGroups(ctx context.Context, o owner, declared []desired.Token) diff.Observed[[]edge.PermissionGroup] {
	if !slices.ContainsFunc(declared, func(t desired.Token) bool { return t.Owner == o.id }) {
		return diff.Observed[[]edge.PermissionGroup]{}
	}
	groups, err := o.cache.groups.get(w.Now, func() ([]edge.PermissionGroup, error) { return o.Reader.PermissionGroups(ctx) })
	return diff.Observed[[]edge.PermissionGroup]{Value: groups, Err: err}
}

// credential asks what the platform says of the credential itself: when that
// ends, so does everything here. It is only told; a platform that does not say is
// no failure.
func (w *Worker) credential(ctx context.Context, o owner) edge.Token {
	own, err := o.cache.own.get(w.Now, func() (edge.Token, error) { return o.Reader.VerifyToken(ctx) })
	if err != nil {
		w.Log.DebugContext(ctx, "the platform does not tell of credentials.tokens", "credential", o.Credential, "error", err.Error())
		return edge.Token{}
	}
	return own
}
