package daemon

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// Tokens implements [page.Data]: what is declared and what the ledger has, with what the last
// work on tokens has found. The platform is not asked.
func (d pageData) Tokens(ctx context.Context) (inspect.TokenList, error) {
	now := time.Now()
	list := inspect.TokenList{Version: inspect.Version, At: now, Tokens: []inspect.TokenRow{}}
	found := d.lookInside().Tokens
	list.LookedAt = found.LookedAt
	live := diff.TokensLive{Unknown: "a daemon that follows a folder has no record of tokens"}
	if d.assembly.TokenMemory != nil {
		var err error
		if live, err = d.assembly.TokenMemory.Tokens(ctx); err != nil {
			return list, err
		}
	}
	list.Unknown, list.Fix = live.Unknown, live.Hint
	state, _ := d.inForce()
	list.Tokens = append(list.Tokens, tokenRows(state, live, now)...)
	for i := range list.Tokens {
		judge(&list.Tokens[i], found)
	}
	return list, nil
}

// tokenRows are the declared tokens, and those that only the record has and that may still do
// something, by key.
func tokenRows(state desired.State, live diff.TokensLive, now time.Time) (rows []inspect.TokenRow) {
	used, declared := planner.Secrets.InUse(state.Tokens, live), map[string]bool{}
	for _, token := range state.Tokens {
		declared[token.Key] = true
		row := inspect.TokenRow{Token: token.Key, Declared: true, Account: token.Account, Origin: token.Origin}
		if use, ok := used[token.Key]; ok {
			row.ID, row.Created, row.Ends, row.Rotates = use.ID, use.At.UTC(), use.Ends, use.Due
		}
		rows = append(rows, row)
	}
	for _, r := range live.Records {
		if declared[r.Key] || live.Over(r, now) {
			continue
		}
		row := inspect.TokenRow{Token: r.Key, Account: accountKey(state, r.Owner), ID: r.ID, Created: r.At.UTC()}
		if end, ends := live.End(r); ends {
			row.Ends = end.UTC()
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b inspect.TokenRow) int { return cmp.Compare(a.Token, b.Token) })
	return rows
}

// accountKey is the key of an account, or its id where it is not declared.
func accountKey(state desired.State, id edge.AccountID) string {
	for _, account := range state.Accounts {
		if account.ID == id {
			return account.Key
		}
	}
	return string(id)
}

// judge says how a token is: as the last work on tokens has found, the most severe of it.
func judge(row *inspect.TokenRow, found inspect.Tokens) {
	row.Outcome = inspect.InSync
	if found.LookedAt.IsZero() {
		row.Outcome = inspect.NotRead
	}
	for _, f := range found.Findings {
		if f.Token == row.Token && f.Outcome.Severity() > row.Outcome.Severity() {
			row.Outcome, row.Reason, row.Fix = f.Outcome, f.Reason, f.Fix
		}
	}
}
