package zone

import (
	"context"
	"errors"
	"fmt"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Names says whether the id of a zone is that of its name; reconcile/directory does.
// Errors are [*diff.NameError], but for the end of a context.
type Names interface {
	// Check says why a zone must not be worked on, by what is known. It asks nothing.
	Check(a desired.Account, z desired.Zone) error
	// Confirm is the same directly before a write: it asks the platform where what is
	// known is old.
	Confirm(ctx context.Context, a desired.Account, z desired.Zone) error
	// Doubt is told that the platform does not know the id of a zone. It reports whether
	// the name is to be looked up because of that.
	Doubt(a desired.Account, z desired.Zone) bool
	// Plan is the plan of a zone in one word, as it is known without asking; empty for not
	// known.
	Plan(account edge.AccountID, zone edge.Scope) string
}

// Declared are the [Names] of who compares none: the ids of all zones are known.
type Declared struct{}

// Check implements [Names].
func (Declared) Check(a desired.Account, z desired.Zone) error {
	if z.Scope.ID == "" || !desired.Sought(a.ID) && !desired.Sought(z.Scope.ID) {
		return nil
	}
	return &diff.NameError{State: diff.Unknown, Message: fmt.Sprintf("the id of zone %q is not known", z.Key)}
}

// Confirm implements [Names].
func (d Declared) Confirm(_ context.Context, a desired.Account, z desired.Zone) error {
	return d.Check(a, z)
}

// Doubt implements [Names].
func (Declared) Doubt(desired.Account, desired.Zone) bool { return false }

// Plan implements [Names].
func (Declared) Plan(edge.AccountID, edge.Scope) string { return "" }

// named returns the names of a worker.
func (w *Worker) named() Names { return orDeclared(w.Names, w.Accounts.Documented) }

// orDeclared are names, with what the profile "documented" has no calls for; nil are
// [Declared].
func orDeclared(names Names, documented bool) Names {
	if names == nil {
		names = Declared{}
	}
	if documented {
		return noAccountLevel{names}
	}
	return names
}

// noAccountLevel are the [Names] of a platform without calls on an account's own entry point:
// what an account deploys itself is not worked on, and nothing is sent.
type noAccountLevel struct{ Names }

func (n noAccountLevel) Check(a desired.Account, z desired.Zone) error {
	if z.Scope.Level == edge.LevelAccount {
		return &diff.NameError{
			State: diff.Blocked, Message: `platform.profile "documented" has no call on what an account deploys itself`,
			Hint: `set platform.profile to "extended" or platform.preset to "cloudflare", or remove waf of the account from the repository`,
		}
	}
	return n.Names.Check(a, z)
}

func (n noAccountLevel) Confirm(ctx context.Context, a desired.Account, z desired.Zone) error {
	if z.Scope.Level == edge.LevelAccount {
		return n.Check(a, z)
	}
	return n.Names.Confirm(ctx, a, z)
}

// vanished reports whether the platform does not know the zone of an error.
func vanished(err error) bool {
	return errors.Is(err, edge.ErrNotFound) && !errors.Is(err, edge.ErrEntryPointNotFound)
}
