package token

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Prepare returns what is known of tokens, for work that may write: it settles
// what earlier work left behind. Where the platform does not accept the credential
// they are unknown, beside the error.
func (w *Worker) Prepare(ctx context.Context, scope Scope) (diff.TokensLive, error) {
	if err := w.quarantineUnfinished(ctx); err != nil {
		return diff.TokensLive{}, err
	}
	live, err := w.Look(ctx, scope)
	if err != nil || live.Unknown != "" {
		return live, err
	}
	if live.Platform != nil {
		if err := w.forgetGone(ctx, live, scope); err != nil {
			return live, err
		}
		if live, err = w.findLost(ctx, live); err != nil {
			return live, err
		}
	}
	return w.forgetEnded(ctx, live)
}

// Look returns what is known of tokens, and changes nothing.
func (w *Worker) Look(ctx context.Context, scope Scope) (diff.TokensLive, error) {
	live, err := w.Memory.Tokens(ctx)
	if err != nil || live.Unknown != "" || w.Reader == nil || len(live.Records)+len(scope.Tokens) == 0 {
		return live, err
	}
	return w.lookUp(ctx, live, scope.Tokens)
}

// lookUp adds to what is on record what the platform says. Where it does not say,
// nothing may be concluded; where it has no such calls, the record is all there
// is.
func (w *Worker) lookUp(ctx context.Context, live diff.TokensLive, declared []desired.Token) (diff.TokensLive, error) {
	listed, err := w.Reader.UserTokens(ctx)
	if err != nil {
		return w.unlisted(ctx, live, err)
	}
	live.Platform = &diff.TokensListed{Tokens: map[edge.TokenID]edge.Token{}}
	for _, token := range listed {
		live.Platform.Tokens[token.ID] = token
	}
	if live, err = w.confirmGone(ctx, live); err != nil || live.Unknown != "" {
		return live, err
	}
	live.Platform.Groups = w.permissionGroups(ctx, declared)
	live.Platform.Credential = w.credential(ctx)
	return live, nil
}

// unlisted is what follows where the platform does not list its tokens.
func (w *Worker) unlisted(ctx context.Context, live diff.TokensLive, err error) (diff.TokensLive, error) {
	switch {
	case errors.Is(err, edge.ErrNotOffered):
		level := slog.LevelWarn
		if w.unlistedTold {
			level = slog.LevelDebug
		}
		w.unlistedTold = true
		w.Log.Log(ctx, level, "the platform does not list its tokens, which platform.profile extended expects; the ledger alone is believed", "error", err.Error())
		return live, nil
	case ctx.Err() != nil:
		return live, context.Cause(ctx)
	case rejected(err):
		live.Unknown, live.Hint = "the platform does not accept credentials.tokens", hintFor(err)
		if unread := (*edge.CredentialError)(nil); errors.As(err, &unread) {
			live.Unknown, live.Hint = "credentials.tokens: "+err.Error(), "see credentials.tokens in the configuration"
		}
		return live, rejection(err)
	}
	live.Unknown, live.Hint = "the tokens of the platform could not be listed: "+err.Error(), hintFor(err)
	return live, nil
}

func hintFor(err error) string {
	switch {
	case errors.Is(err, edge.ErrUnauthenticated):
		return "check credentials.tokens: the platform does not accept it"
	case hasCode(err, edge.CodeNotPermitted):
		return "credentials.tokens must be permitted to read tokens; if it is, it may be a token of an account (it must be one of a user), or its condition excludes the address of this machine"
	case errors.Is(err, edge.ErrForbidden):
		return `credentials.tokens must be permitted to read tokens; or say platform.profile: "documented"`
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
func (w *Worker) confirmGone(ctx context.Context, live diff.TokensLive) (diff.TokensLive, error) {
	known, missing, now := 0, 0, w.Now()
	for _, record := range live.Records {
		if record.State != diff.TokenConfirmed || live.Over(record, now) {
			continue
		}
		known++
		if live.Has(record) {
			continue
		}
		token, err := w.Reader.UserToken(ctx, record.ID)
		switch {
		case err == nil:
			live.Platform.Tokens[record.ID] = token
		case errors.Is(err, edge.ErrNotFound) && now.Sub(record.At) < youngFor:
			live.Platform.Tokens[record.ID] = edge.Token{ID: record.ID, TokenSpec: record.Spec} // too young to be missed
		case errors.Is(err, edge.ErrNotFound):
			missing++
		case ctx.Err() != nil:
			return live, context.Cause(ctx)
		default:
			live.Unknown, live.Hint = fmt.Sprintf("could not read whether token %s still exists: %v", record.ID, err), hintFor(err)
			return live, nil
		}
	}
	if known > 0 && missing == known {
		live.Unknown = fmt.Sprintf("the platform has none of the %d tokens in the ledger", known)
		live.Hint = "check that credentials.tokens belongs to the user who created them; if all were revoked, run seawall token revoked ID for each token of seawall token list"
	}
	return live, nil
}

// permissionGroups reads the groups where tokens are declared.
func (w *Worker) permissionGroups(ctx context.Context, declared []desired.Token) diff.Observed[[]edge.PermissionGroup] {
	if len(declared) == 0 {
		return diff.Observed[[]edge.PermissionGroup]{}
	}
	groups, err := w.groups.get(w.Now, func() ([]edge.PermissionGroup, error) { return w.Reader.PermissionGroups(ctx) })
	return diff.Observed[[]edge.PermissionGroup]{Value: groups, Err: err}
}

// credential asks what the platform says of the credential itself: when that
// ends, so does everything here. It is only told; a platform that does not say is
// no failure.
func (w *Worker) credential(ctx context.Context) edge.Token {
	own, err := w.own.get(w.Now, func() (edge.Token, error) { return w.Reader.VerifyToken(ctx) })
	if err != nil {
		w.Log.DebugContext(ctx, "the platform does not tell of credentials.tokens", "error", err.Error())
		return edge.Token{}
	}
	return own
}

// cached is a value that changes with releases of the platform and no more often:
// it is read once an hour.
type cached[T any] struct {
	value T
	at    time.Time // when it was read; zero for not yet
}

// cachedFor is how long such a value is believed.
const cachedFor = time.Hour

func (c *cached[T]) get(now func() time.Time, read func() (T, error)) (T, error) {
	if age := now().Sub(c.at); !c.at.IsZero() && age >= 0 && age < cachedFor {
		return c.value, nil
	}
	value, err := read()
	if err == nil {
		c.value, c.at = value, now()
	}
	return value, err
}
