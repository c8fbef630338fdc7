package ledger

import (
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

func sawVersion(t *testing.T, l *Ledger, account edge.AccountID, r edge.Ruleset) {
	t.Helper()
	_, _, err := l.SawRuleset(t.Context(), "prod", seenVersion(account, r), meaning(seenVersion(account, r)))
	must(t, err)
}

func seenVersion(account edge.AccountID, r edge.Ruleset) rulesets.Seen {
	return rulesets.Seen{Account: account, At: noon, Ruleset: r}
}

// meaning is what a version means where nothing is declared.
func meaning(seen rulesets.Seen) func(rulesets.Seen) radar.Published {
	return func(before rulesets.Seen) radar.Published {
		return radar.Compared(radar.Account{Key: "prod", ID: seen.Account}, before, seen)
	}
}

// A version that follows another one is in the history, and a first one is not. What versions
// are is stored once for all accounts, and goes with the last of them.
func TestVersionsOfRulesets(t *testing.T) {
	l := ready(t)
	first := difftest.Managed()
	sawVersion(t, l, "a", first)
	sawVersion(t, l, "b", first)
	if got := texts(t, l, `SELECT digest FROM ruleset_facts`); len(got) != 1 {
		t.Errorf("what one version is, is stored %d times", len(got))
	}
	sawVersion(t, l, "a", difftest.Next(first, difftest.Without(1)))
	published := slices.DeleteFunc(entries(t, l, reconcile.HistoryFilter{}), func(e reconcile.Entry) bool { return e.Action != reconcile.ActionPublished })
	if len(published) != 1 || published[0].Reason != `"Core Ruleset", rules: 1 removed` || string(published[0].Members[0].New) != `"70"` {
		t.Errorf("in the history is %+v", published)
	}
	for range reconcile.MostVersions {
		first.Version += "1"
		sawVersion(t, l, "a", first)
	}
	if got := texts(t, l, `SELECT digest FROM ruleset_facts`); len(got) != reconcile.MostVersions+1 {
		t.Errorf("%d versions are stored", len(got))
	}
	if report, err := l.VerifyHistory(t.Context()); err != nil || len(report.Findings) > 0 {
		t.Errorf("the history: %+v, %v", report, err)
	}
}

// A version on record that cannot be read, or that is not what it was, fails the whole: it is
// never no change.
func TestDamagedVersionOfARuleset(t *testing.T) {
	for name, damage := range map[string]string{
		"not compressed":  `UPDATE ruleset_facts SET facts = x'00'`,
		"of another text": `UPDATE ruleset_facts SET facts = (SELECT facts FROM ruleset_facts ORDER BY digest LIMIT 1)`,
		"without a time":  `UPDATE ruleset_version SET at = 'then'`,
		"without facts":   `PRAGMA foreign_keys = OFF; DELETE FROM ruleset_facts`,
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			l := mustOpen(t, path)
			sawVersion(t, l, "a", difftest.Managed())
			sawVersion(t, l, "a", difftest.Next(difftest.Managed(), difftest.Without(1)))
			must(t, l.Close())
			tampered(t, path, damage)
			l = mustOpen(t, path)
			_, err := l.Rulesets(t.Context())
			wantFault(t, err, ErrDamaged, "a version of a managed ruleset of account a")
			_, _, err = l.SawRuleset(t.Context(), "prod", seenVersion("a", difftest.Managed()), nil)
			wantFault(t, err, ErrDamaged, "a version of a managed ruleset of account a")
		})
	}
}

// A ledger of the version before has no version of a ruleset on record, and loses nothing.
func TestMigrationToVersionsOfRulesets(t *testing.T) {
	path := ofVersion(t, 12)
	tampered(t, path, `INSERT INTO applied (zone_id, ruleset_id, members, "commit") VALUES ('z1', 'r', '["a"]', 'c1')`)
	l := mustOpen(t, path)
	record, err := l.Restore(t.Context())
	must(t, err)
	seen, err := l.Rulesets(t.Context())
	must(t, err)
	if len(record.Applied) != 1 || len(seen) != 0 {
		t.Errorf("restored %+v, and %+v", record.Applied, seen)
	}
	sawVersion(t, l, "a", difftest.Managed())
	if tables := texts(t, l, `SELECT name FROM sqlite_schema WHERE name LIKE 'ruleset%' AND type = 'table' ORDER BY name`); !slices.Equal(tables, strings.Fields("ruleset_facts ruleset_news ruleset_news_page ruleset_version")) {
		t.Errorf("tables %q", tables)
	}
}
