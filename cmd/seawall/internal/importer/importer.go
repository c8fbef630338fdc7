// Package importer is `seawall import`: it reads what is live and writes the CUE that
// declares it.
//
//	targets → survey → repository → stage → files
//
// It finds the zones (targets.go), reads their entry points and declares each
// (survey.go), and gives accounts, rulesets and zones their keys (repository.go). Then the
// files are written aside, evaluated as the daemon would, and compared with what was to be
// declared (stage.go). Only files that pass are put in their place. What was read is kept
// in a folder inside DIR until that is done, so an import that was interrupted goes on
// where it ended (progress.go).
//
// It sends only reads, and writes nothing outside of DIR.
package importer

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/directory"
)

// Order says what to import.
type Order struct {
	Dir      string
	Module   string      // the module of a new repository
	Accounts []string    // NAME, ID or KEY=ID; none is all
	Zones    []string    // NAME, or NAME=ID
	File     string      // with zones by id; empty for none
	Force    bool        // overwrite files
	Given    []edge.Zone // zones by id, with their accounts
	Origin   string      // where it is read from, for the header and the progress file
	Plan     string      // the command that makes a plan of the result
	IDs      bool        // declare the ids of all zones, also where their names would do
	// Unmanaged is what each deployment decides on overrides that are added later; empty
	// decides nothing.
	Unmanaged desired.Unmanaged
	// NoDeploy is why deployments are declared without deploy: true.
	NoDeploy NoDeploy
}

// Platform is what an import reads.
type Platform struct {
	Lanes reconcile.Lanes  // one for each credential, by the keys of accounts
	Names *directory.Names // finds what is declared by name
	// Lists says that the platform lists zones: each lane's reader is an edge.Directory.
	Lists  bool
	Tokens tokenLister // nil for no tokens
	// Owned are the tokens that accounts own, where they are known.
	Owned map[edge.AccountID][]edge.Token

	Documented bool
	Rules      bool   // rules of other phases than that of deployments are imported, too
	ByID       bool   // managed rulesets are declared by their ids
	Vendor     string // the segment of resource keys, which names of rulesets begin with
	// Unmanaged are lines about what was found and cannot be managed.
	Unmanaged []string
}

// directory lists what the credential of a lane can see; nil where the platform does not.
func (p Platform) directory(lane int) edge.Directory {
	reader := p.Lanes.All[lane].Reader
	if !reader.Offers(edge.CallZones, edge.LevelCredential) {
		return nil
	}
	return reader
}

// tokenLister lists API tokens, without their secrets.
type tokenLister interface {
	UserTokens(ctx context.Context) ([]edge.Token, error)
}

// Import does it. It returns [cli.ExitAttention] where something could not be read or
// declared.
func Import(ctx context.Context, t *cli.Terminal, platform Platform, order Order, show func(stage string, done, total int)) error {
	if show == nil {
		show = func(string, int, int) {}
	}
	present, err := inspect(ctx, order)
	if err != nil {
		return err
	}
	show("finding zones", 0, 0)
	if err := present.resolve(ctx, platform.Names); err != nil {
		return err
	}
	found, err := findTargets(ctx, platform, order, present)
	if err != nil {
		return err
	}
	skipped := found.without(present)
	work, err := openProgress(order, platform.Rules)
	if err != nil {
		return err
	}
	defer work.close()
	if n := work.resumed(found.zones); n > 0 {
		fmt.Fprintf(t.Err, "resuming: %d of %s were read before\n", n, cli.Plural(len(found.zones), "zone", "zones"))
	}
	if present.names, err = resolver(ctx, present, found); err != nil {
		return err
	}
	s := newSurvey(platform, work, found.lanes)
	s.show = func(done, total int) { show("reading zones", done, total) }
	if err := s.read(ctx, found); err != nil {
		return unfinished(err, order)
	}
	accounts := s.repository(found, present, order)
	tokens, err := readTokens(ctx, platform, present, accounts)
	if err != nil {
		return unfinished(err, order)
	}
	show("writing files", 0, 0)
	result, err := write(ctx, order, present, accounts, tokens, found.left)
	if err != nil {
		return err
	}
	work.finished()
	result.skipped, result.unmanaged, result.notes = skipped, platform.Unmanaged, found.notes
	return result.report(t, order)
}

// unfinished says how to go on after an interruption or a failure of the platform.
func unfinished(err error, order Order) error {
	return cli.Fail(fmt.Errorf("the import is not finished: %w", err),
		"nothing was written yet; what was read is kept in "+filepath.Join(order.Dir, workDir),
		"run the same command again to go on where it ended")
}

// record is what became of one zone.
type record struct {
	Zone    edge.ZoneID    `json:"zone"`
	Name    string         `json:"name"`
	Account edge.AccountID `json:"account"`
	At      time.Time      `json:"at"`

	// Deployments have the id of the managed ruleset as key.
	Deployments []desired.Deployment `json:"deployments,omitempty"`
	Others      []desired.Other      `json:"others,omitempty"`
	Notes       []string             `json:"notes,omitempty"`
	// Bypasses are the skip rules that act on the deployments, which have the id of the managed
	// ruleset there, too; Unlooked are places in which nobody could look for them.
	Bypasses []diff.Bypass      `json:"bypasses,omitempty"`
	Unlooked []diff.NotLookedAt `json:"unlooked,omitempty"`
	// Left are deployments that could not be declared, and why.
	Left []string `json:"left,omitempty"`
	// Failed is why the zone could not be read; empty for one that was.
	Failed string `json:"failed,omitempty"`
	// rejected says that it was the credential, which reads no zone of the account.
	rejected bool
	ahead    map[edge.Place]diff.Ahead
	beside   []string // the keys of Others that are in the entry point of the deployments
}
