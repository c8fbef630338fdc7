package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/moby/sys/atomicwriter"

	"github.com/seawall-dev/seawall/reconcile"
)

// Accounts remembers the ids of accounts by their names, in lower case.
type Accounts interface {
	Load() (map[string]int64, error)
	Save(map[string]int64) error
}

// AccountFile is a JSON file with the ids of accounts, "name": id. One that is missing has
// none.
type AccountFile string

// mostAccounts bounds the file, in bytes.
const mostAccounts = 1 << 20

// Load implements [Accounts].
func (f AccountFile) Load() (map[string]int64, error) {
	ids := map[string]int64{}
	info, err := os.Stat(string(f))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ids, nil
	case err != nil:
		return nil, err
	case info.Size() > mostAccounts:
		return nil, fmt.Errorf("%s is larger than %d MiB", string(f), mostAccounts>>20)
	}
	data, err := os.ReadFile(string(f))
	if err == nil {
		err = json.Unmarshal(data, &ids)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the ids of approvers in %s: %w", string(f), err)
	}
	return ids, nil
}

// Save implements [Accounts].
func (f AccountFile) Save(ids map[string]int64) error {
	data, err := json.MarshalIndent(ids, "", "\t")
	if err != nil {
		return err
	}
	return atomicwriter.WriteFile(string(f), append(data, '\n'), 0o600)
}

// forgottenAccounts are not remembered.
type forgottenAccounts struct{}

func (forgottenAccounts) Load() (map[string]int64, error) { return map[string]int64{}, nil }
func (forgottenAccounts) Save(map[string]int64) error     { return nil }

// wordApprovers is "approvers/ids": the ids of the accounts that were configured by name.
const wordApprovers = "approvers/ids"

// sharedAccounts are remembered for all replicas; before any are, those of this one alone count.
type sharedAccounts struct {
	others
	own Accounts
}

const accountsWithin = 10 * time.Second

// Load implements [Accounts].
func (a sharedAccounts) Load() (map[string]int64, error) {
	ctx, stop := context.WithTimeout(context.Background(), accountsWithin)
	defer stop()
	text, err := a.Noted(ctx, wordApprovers)
	if err != nil || text == "" {
		own, failed := a.own.Load()
		return own, errors.Join(err, failed)
	}
	ids := map[string]int64{}
	return ids, json.Unmarshal([]byte(text), &ids)
}

// Save implements [Accounts].
func (a sharedAccounts) Save(ids map[string]int64) error {
	ctx, stop := context.WithTimeout(context.Background(), accountsWithin)
	defer stop()
	text, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	return a.Note(ctx, wordApprovers, string(text))
}

// approvers are the accounts whose reviews count. Each is one id: the configured one, or
// that of the account which had the configured name when it was first looked up. A name
// can be given up, and registered by someone else.
type approvers struct {
	configured []reconcile.Account // without an id: by name
	ids        map[string]int64    // by name, in lower case; nil: not loaded yet
	told       map[string]bool     // what was logged
}

func newApprovers(configured []reconcile.Account) approvers {
	return approvers{configured: configured, told: map[string]bool{}}
}

// is reports whether an account is one of them.
func (a *approvers) is(account reconcile.Account) bool {
	for _, c := range a.configured {
		if id := a.idOf(c); id != 0 && id == account.ID {
			return true
		}
	}
	return false
}

// idOf is the id of a configured account; zero while it is not known.
func (a *approvers) idOf(c reconcile.Account) int64 {
	if c.ID != 0 {
		return c.ID
	}
	return a.ids[strings.ToLower(c.Name)]
}

// impostor reports whether an account only has the name of an approver.
func (a *approvers) impostor(account reconcile.Account) bool {
	for _, c := range a.configured {
		if strings.EqualFold(c.Name, account.Name) && a.idOf(c) != 0 {
			return !a.is(account)
		}
	}
	return false
}

// bindApprovers looks up the accounts of approvers that are configured by name, once, and
// has them remembered.
func (r *Reviews) bindApprovers(ctx context.Context) error {
	a := &r.approvers
	if a.ids == nil {
		known, err := r.Trust.Accounts.Load()
		if err != nil {
			return err
		}
		a.ids = known
	}
	before := maps.Clone(a.ids)
	names := map[string]bool{}
	var failed error
	for _, c := range a.configured {
		name := strings.ToLower(c.Name)
		if c.ID != 0 {
			continue
		}
		if names[name] = true; a.ids[name] != 0 {
			continue
		}
		found, err := r.Forge.Account(ctx, c.Name)
		switch {
		case errors.Is(err, reconcile.ErrNoAccount):
			if a.news("account", c.Name) {
				r.Log.WarnContext(ctx, "an approver has no account on the forge; reviews by this name do not count", "who", c.Name)
			}
		case err != nil:
			failed = errors.Join(failed, err)
		default:
			a.ids[name] = found.ID
		}
	}
	maps.DeleteFunc(a.ids, func(name string, _ int64) bool { return !names[name] })
	if !maps.Equal(before, a.ids) {
		failed = errors.Join(failed, r.Trust.Accounts.Save(a.ids))
	}
	return failed
}

// news reports whether something about an account was not logged yet.
func (a *approvers) news(about, name string) bool {
	key := about + " " + name
	told := a.told[key]
	a.told[key] = true
	return !told
}

// counts reports whether the review of an account is that of an approver. Where the forge
// says so, an approver must be able to write to the project.
func (r *Reviews) counts(ctx context.Context, account reconcile.Account) (bool, error) {
	if !r.approvers.is(account) {
		if r.approvers.impostor(account) && r.approvers.news("name", account.Name) {
			r.Log.WarnContext(ctx, "the name of an approver belongs to another account now; its reviews do not count",
				"who", account.Name, "id", account.ID, "hint", "if that is right, configure {name, id} in forge.approvers")
		}
		return false, nil
	}
	access, err := r.Forge.Access(ctx, account)
	if err != nil {
		return false, err
	}
	if access == reconcile.AccessRead {
		if r.approvers.news("access", account.Name) {
			r.Log.WarnContext(ctx, "an approver may not write to the project; the reviews do not count", "who", account.Name)
		}
		return false, nil
	}
	return true, nil
}
