package importer

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/directory"
)

// sees is what a credential lists: a zone for each account NAME=ID.
func sees(accounts ...string) (l listing) {
	l.asked = true
	for _, text := range accounts {
		name, id, _ := strings.Cut(text, "=")
		l.add([]edge.Zone{{ID: edge.ZoneID("z" + id), Name: id + ".example", Account: edge.Account{ID: edge.AccountID(id), Name: name}}})
	}
	return l
}

func TestAssign(t *testing.T) {
	lane := func(name string) reconcile.Lane {
		return reconcile.Lane{Name: name, Credential: "accounts." + name + ".credentials.rulesets"}
	}
	rejected := listing{asked: true, err: edge.ErrUnauthenticated}
	two := reconcile.Lanes{All: []reconcile.Lane{lane("default"), lane("prod")}, Of: map[string]int{"prod": 1}, Rest: 0}
	pair := reconcile.Lanes{All: []reconcile.Lane{lane("prod, stage")}, Of: map[string]int{"prod": 0, "stage": 0}, Rest: -1}
	skip := reconcile.Lanes{All: []reconcile.Lane{lane("default")}, Of: map[string]int{"lab": -1}, Rest: 0, Skip: map[string]bool{"lab": true}}
	for name, c := range map[string]struct {
		lanes  reconcile.Lanes
		listed []listing
		known  map[edge.AccountID]string
		want   map[edge.AccountID]int
		keys   map[edge.AccountID]string
		left   string // accounts, and a word of why
		notes  string
	}{
		"one credential":         {reconcile.OneLane(lane("default")), []listing{sees("A=1", "B=2")}, nil, map[edge.AccountID]int{"1": 0, "2": 0}, nil, "", ""},
		"the only account":       {two, []listing{sees("Others=1"), sees("Production Ltd=2")}, nil, map[edge.AccountID]int{"1": 0, "2": 1}, map[edge.AccountID]string{"2": "prod"}, "", ""},
		"by its name":            {two, []listing{sees("Others=1"), sees("Prod=2", "Lab=3")}, nil, map[edge.AccountID]int{"1": 0, "2": 1}, map[edge.AccountID]string{"2": "prod"}, "", "Lab"},
		"by its known id":        {two, []listing{sees("Others=1"), sees("A=2", "B=3")}, map[edge.AccountID]string{"3": "prod"}, map[edge.AccountID]int{"1": 0, "3": 1}, map[edge.AccountID]string{"3": "prod"}, "", "A (2)"},
		"seen by both":           {two, []listing{sees("Prod=2", "Others=1"), sees("Prod=2")}, nil, map[edge.AccountID]int{"1": 0, "2": 1}, map[edge.AccountID]string{"2": "prod"}, "", ""},
		"which it is":            {two, []listing{sees("Others=1"), sees("A=2", "B=3")}, nil, map[edge.AccountID]int{"1": 0}, nil, "prod --account", "A (2)"},
		"rejected":               {two, []listing{sees("Others=1", "Prod=2"), rejected}, nil, map[edge.AccountID]int{"1": 0}, nil, "prod accounts.prod", ""},
		"rejected, and known":    {two, []listing{sees("Others=1", "Production=2"), rejected}, map[edge.AccountID]string{"2": "prod"}, map[edge.AccountID]int{"1": 0}, map[edge.AccountID]string{"2": "prod"}, "prod accounts.prod", ""},
		"the rest rejected":      {two, []listing{rejected, sees("Prod=2")}, nil, map[edge.AccountID]int{"2": 1}, map[edge.AccountID]string{"2": "prod"}, "without accounts.default", ""},
		"one credential for two": {pair, []listing{sees("Prod=1", "Stage=2", "Lab=3")}, nil, map[edge.AccountID]int{"1": 0, "2": 0}, map[edge.AccountID]string{"1": "prod", "2": "stage"}, "", "Lab"},
		"left out":               {skip, []listing{sees("Lab=1", "Prod=2")}, nil, map[edge.AccountID]int{"2": 0}, nil, "", "accounts.lab.skip"},
		"left out by id":         {skip, []listing{sees("Any=1", "Prod=2")}, map[edge.AccountID]string{"1": "lab"}, map[edge.AccountID]int{"2": 0}, map[edge.AccountID]string{"1": "lab"}, "", "accounts.lab.skip"},
		"not asked":              {two, []listing{sees("Others=1"), {}}, nil, map[edge.AccountID]int{"1": 0}, nil, "", ""},
	} {
		got := assign(c.lanes, c.listed, c.known)
		if c.keys == nil {
			c.keys = map[edge.AccountID]string{}
		}
		if !reflect.DeepEqual(got.lanes, c.want) || !reflect.DeepEqual(got.keys, c.keys) {
			t.Errorf("%s: lanes %v, keys %v; want %v, %v", name, got.lanes, got.keys, c.want, c.keys)
		}
		var left strings.Builder
		for _, l := range got.left {
			left.WriteString(l.account + " " + l.why)
		}
		for _, word := range strings.Fields(c.left) {
			if !strings.Contains(left.String(), word) {
				t.Errorf("%s: left out %q, want %q", name, left.String(), c.left)
			}
		}
		if (c.left == "") != (left.Len() == 0) || (c.notes == "") != (len(got.notes) == 0) || !strings.Contains(strings.Join(got.notes, " "), c.notes) {
			t.Errorf("%s: left out %q, notes %q", name, left.String(), got.notes)
		}
	}
}

// over is a platform whose credential is rejected from some read of an entry point on.
type over struct {
	*live
	after int64
}

func (o over) EntryPoint(ctx context.Context, id edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	if o.reads.Load() >= o.after {
		return edge.Ruleset{}, edge.ErrUnauthenticated
	}
	return o.live.EntryPoint(ctx, id, phase)
}

// A credential that is rejected in the middle of an import leaves out its account, in one
// line, and the other accounts are imported. Of one credential it is a failure.
func TestACredentialIsRejectedInTheMiddle(t *testing.T) {
	platform := func() (Platform, *live) {
		good, bad := &live{}, &live{}
		for i, l := range []*live{good, bad} {
			id := edge.AccountID(strings.Repeat(string(rune('a'+i)), 32))
			l.entryPoints = map[edge.ZoneID]edge.Ruleset{}
			l.rulesets = map[edge.AccountID][]edge.Ruleset{id: managedRulesets()}
			for j := range 10 {
				z := edge.ZoneID(strings.Repeat(string(rune('0'+j)), 31) + string(rune('a'+i)))
				l.zones = append(l.zones, edge.Zone{ID: z, Name: string(rune('a'+j)) + ".example", Account: edge.Account{ID: id, Name: []string{"Prod", "Stage"}[i]}})
			}
		}
		lanes := reconcile.Lanes{Rest: -1, Of: map[string]int{"prod": 0, "stage": 1}, All: []reconcile.Lane{
			{Name: "prod", Reader: good, Concurrency: 1}, {Name: "stage", Credential: "accounts.stage.credentials.rulesets", Reader: over{bad, 4}, Concurrency: 1},
		}}
		return Platform{Lanes: lanes, Lists: true, Names: directory.New(directory.Config{Now: time.Now})}, good
	}
	p, _ := platform()
	dir := filepath.Join(t.TempDir(), "edge")
	var out bytes.Buffer
	term := &cli.Terminal{Out: &out, Err: &out}
	order := Order{Dir: dir, Module: "edge.example/desired", Origin: "https://api.example", Plan: "seawall plan"}
	err := Import(inProcess(t), term, p, order, nil)
	if !errors.Is(err, cli.ExitAttention) || !strings.Contains(out.String(), "imported 14 zones of 2 accounts") ||
		strings.Count(out.String(), "! ") != 1 || !strings.Contains(out.String(), "! account stage: 6 zones: the credential accounts.stage.credentials.rulesets does not work") {
		t.Errorf("%v\n%s", err, out.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, "edge.cue"))
	if err != nil || !strings.Contains(string(text), "// Not imported: 6 zones, because the credential accounts.stage.credentials.rulesets") {
		t.Errorf("%v\n%s", err, text)
	}

	p, _ = platform()
	p.Lanes = reconcile.OneLane(p.Lanes.All[1])
	order.Dir = filepath.Join(t.TempDir(), "edge")
	if err := Import(t.Context(), term, p, order, nil); !errors.Is(err, edge.ErrUnauthenticated) {
		t.Errorf("%v", err)
	}
}

// In a Terraform state accounts have no names: the largest is the first, which is called main.
func TestAccountsWithoutNames(t *testing.T) {
	f := targets{zones: []target{{ID: "1", Account: "a"}, {ID: "2", Account: "b"}, {ID: "3", Account: "b"}}}.sorted()
	if len(f.accounts) != 2 || f.accounts[0].ID != "b" {
		t.Errorf("accounts: %v", f.accounts)
	}
}
