package importer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/cuefile"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/nearest"
	"github.com/seawall-dev/seawall/reconcile/directory"
)

// Desired is desired state to change: a folder, and what becomes of changed files.
type Desired struct {
	Dir   string
	Shown string // Dir as it is shown
	// Prefix is the folder of Dir in the repository, which shown names of files begin with;
	// empty where Dir is what is shown.
	Prefix string
	// Deliver is given the files that have changed, by their names below Dir. Nil is for a
	// difference that is only shown.
	Deliver func(ctx context.Context, files []cuefile.File) error
}

// WorkingCopy is desired state in a folder; dry shows only what would change.
func WorkingCopy(t *cli.Terminal, dir string, dry bool) Desired {
	d := Desired{Dir: dir, Shown: dir}
	if !dry {
		d.Deliver = func(_ context.Context, files []cuefile.File) error {
			for _, f := range files {
				if err := writeFile(dir, f); err != nil {
					return err
				}
				fmt.Fprintf(t.Err, "changed  %s\n", filepath.Join(dir, filepath.FromSlash(f.Name)))
			}
			return nil
		}
	}
	return d
}

// Absorb changes desired state so that it declares what is live in a zone. It prints the
// difference, and delivers it. Before that it evaluates the result: a plan of the zone must
// be empty, and everything else must be declared as before.
func Absorb(ctx context.Context, t *cli.Terminal, platform Platform, d Desired, zone string) error {
	state, err := loadValid(ctx, d.Dir, d.Shown, "correct them first")
	if err != nil {
		return err
	}
	a := &absorber{platform: platform, Desired: d, names: platform.Names, before: state, texts: map[string][]byte{}, original: map[string][]byte{}}
	if err := a.find(ctx, zone); err != nil {
		return a.explain(err)
	}
	if err := a.look(ctx); err != nil {
		return a.explain(err)
	}
	a.notes = a.skips.notes()
	changes := cuefile.Changes(a.zone, a.wanted, a.words())
	if len(changes) == 0 {
		a.tell(t)
		_, err := fmt.Fprintf(t.Out, "in sync: %s is declared as it is live\n", zone)
		return err
	}
	if err := a.except(ctx, changes); err != nil {
		if ctx.Err() != nil || a.leave(ctx, changes) != nil {
			return err
		}
	}
	return a.finish(ctx, t)
}

// except gives the zone an exception for each change.
func (a *absorber) except(ctx context.Context, changes []cuefile.Change) error {
	for _, c := range changes {
		if err := a.edit(c); err != nil {
			return err
		}
	}
	return a.check(ctx)
}

// absorber changes the declaration of one zone.
type absorber struct {
	Desired
	platform Platform
	names    *directory.Names
	survey   *survey // of the zone's account
	before   desired.State

	account desired.Account
	zone    desired.Zone
	wanted  desired.Zone
	live    []liveDeployment // of each deployment that is declared
	skips   skipRules

	texts, original map[string][]byte // of files that are edited, by name
	notes           []string          // about exceptions from what zones share
	why             string            // what no exception can say, where that is known
}

func (a *absorber) find(ctx context.Context, zone string) error {
	found, keys := 0, []string{}
	for account, z := range a.before.EachZone() {
		keys = append(keys, z.Key)
		if z.Key == zone && z.Scope.Level == edge.LevelAccount {
			return cli.Fail(fmt.Errorf("%s is an account: only the declaration of a zone can be changed to what is live", zone),
				"seawall plan --only zone="+zone+" shows what differs; change the declaration by hand")
		}
		if z.Key == zone {
			a.account, a.zone, found = account, z, found+1
		}
	}
	switch found {
	case 0:
		return cli.Fail(fmt.Errorf("no zone %q is declared in %s", zone, a.Shown),
			nearest.Hint(zone, keys, "seawall import --zone "+zone+" declares a zone that is not declared yet"))
	case 1:
		return a.resolve(ctx)
	}
	return fmt.Errorf("%d accounts declare a zone %q", found, zone)
}

// resolve finds the credential of the zone, and its id where it is declared by name. Other
// zones need none.
func (a *absorber) resolve(ctx context.Context) error {
	lane := a.platform.Lanes.Index(a.account.Key)
	if lane < 0 {
		return cli.Fail(fmt.Errorf("the configuration has no credential for account %s", a.account.Key), "set accounts."+a.account.Key+".credentials.rulesets in it")
	}
	alone := a.account
	alone.Zones = []desired.Zone{a.zone}
	scope := desired.State{Accounts: []desired.Account{alone}}
	if err := a.names.Recall(ctx); err != nil {
		return err
	}
	a.names.Look(ctx, scope)
	a.account = a.names.Resolve(scope).Accounts[0]
	a.survey = newSurvey(a.platform, nil, map[edge.AccountID]int{a.account.ID: lane})
	a.zone = a.account.Zones[0]
	a.before = a.names.Resolve(a.before)
	if err := a.names.Check(a.account, a.zone); err != nil {
		return err
	}
	return nil
}

// explain names the credential that an error is about.
func (a *absorber) explain(err error) error {
	if lane := a.platform.Lanes.Index(a.account.Key); lane >= 0 && errors.Is(err, edge.ErrUnauthenticated) {
		return cli.Fail(err, "check the credential "+a.platform.Lanes.All[lane].Credential)
	}
	return err
}

// look reads the zone and works out how to declare it.
func (a *absorber) look(ctx context.Context) error {
	in, err := a.read(ctx)
	if err != nil {
		return err
	}
	a.wanted = a.zone
	a.wanted.Deployments = nil
	for _, d := range a.zone.Deployments {
		one, err := in.liveOf(ctx, d)
		if err != nil {
			return err
		}
		now := one.declared(d)
		now.Accepted = accept(d.Accepted, one.acting)
		a.live, a.wanted.Deployments = append(a.live, one), append(a.wanted.Deployments, now)
		a.skips.acting = append(a.skips.acting, one.acting...)
	}
	if !a.platform.Documented { // of which no more than the phase of deployments is documented
		a.skips.unlooked = unlooked(in.ahead)
	}
	a.wanted.Others = nil
	for _, o := range a.zone.Others {
		now, err := in.otherOf(ctx, o)
		if err != nil {
			return err
		}
		a.wanted.Others = append(a.wanted.Others, now)
	}
	return nil
}

func (a *absorber) words() cuefile.Words { return cuefile.Words{Rule: a.describe, Skip: a.skips.about} }

func (a *absorber) describe(ruleset string, ref desired.RuleRef) string {
	for _, one := range a.live {
		if one.key == ruleset {
			return one.declarer.RuleText(ref)
		}
	}
	return ""
}

// edit changes the file that has the member, or the one that declares the zone.
func (a *absorber) edit(c cuefile.Change) error {
	from := c.Origin(a.zone)
	name := a.zone.Origin.File
	for _, other := range []string{a.zone.Origin.File, from.File} {
		if other == "" {
			continue
		}
		if err := a.open(other); err != nil {
			return err
		}
		if cuefile.Declares(a.texts[other], a.account.Key, a.zone.Key, c) {
			name, from = other, desired.Origin{}
			break
		}
	}
	if err := a.open(name); err != nil {
		return err
	}
	text, err := cuefile.Apply(a.texts[name], a.account.Key, a.zone.Key, c)
	switch {
	case errors.Is(err, cuefile.ErrInherited):
		a.why = c.Path + " is no longer live"
		return cli.Fail(fmt.Errorf("%s is no longer live, and the zone gets it from %s", c.Path, a.at(from)), a.inherited(from)...)
	case err != nil:
		return fmt.Errorf("editing %s: %w", name, err)
	}
	a.texts[name] = text
	if !from.IsZero() {
		a.notes = append(a.notes, fmt.Sprintf("%s comes from %s; this zone now has an exception. %s", c.Path, a.at(from), upper(a.shared(from))))
	}
	return nil
}

// at is a place as it is shown.
func (a *absorber) at(o desired.Origin) desired.Origin {
	if !o.IsZero() {
		o.File = path.Join(a.Prefix, o.File)
	}
	return o
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// shared says where a value is to be changed for all zones that have it.
func (a *absorber) shared(from desired.Origin) string {
	n := a.having(from)
	if n == 1 {
		return fmt.Sprintf("no other zone has it; you can edit %s instead", a.at(from))
	}
	return fmt.Sprintf("to change it for all %d zones that have it, edit %s", n, a.at(from))
}

// having counts the zones that have a value from a place.
func (a *absorber) having(from desired.Origin) (n int) {
	for _, z := range a.before.EachZone() {
		if cuefile.Has(z, from) {
			n++
		}
	}
	return n
}

func (a *absorber) open(name string) error {
	if _, known := a.texts[name]; known {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(a.Dir, filepath.FromSlash(name)))
	a.texts[name], a.original[name] = text, text
	return err
}

// check evaluates the files as they would be, in a folder inside of dir.
func (a *absorber) check(ctx context.Context) error {
	stage, err := os.MkdirTemp(a.Dir, ".seawall-absorb-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage)
	var files []cuefile.File
	for name, text := range a.texts {
		files = append(files, cuefile.File{Name: name, Content: text})
	}
	state, problems, err := evaluateWith(ctx, a.Dir, stage, files)
	if err != nil {
		return err
	}
	if len(desired.Errors(problems)) > 0 {
		return &cli.FileError{
			Summary:  "what is live cannot be declared in the zone alone: a value that zones share excludes it. Nothing was written; change it where it is shared, or make it a default, such as *2 | int",
			Problems: problems,
		}
	}
	return a.compare(a.names.Resolve(state))
}

// compare holds the new state to the live zone, and to the state before.
func (a *absorber) compare(state desired.State) error {
	now := zonesOf(state)
	for id, z := range zonesOf(a.before) {
		if got, there := now[id]; id != a.zone.Scope && (!there || !got.SameAs(z)) {
			return fmt.Errorf("the change would also change zone %s; nothing was written", z.Key)
		}
	}
	if !desired.SameTokens(a.before.Tokens, state.Tokens) {
		return errors.New("the change would also change tokens; nothing was written")
	}
	for n, one := range a.live {
		i := slices.IndexFunc(now[a.zone.Scope].Deployments, func(d desired.Deployment) bool { return d.Ruleset == one.key })
		if i < 0 || !one.declarer.Agrees(now[a.zone.Scope].Deployments[i], one.rule) ||
			!desired.Alike(now[a.zone.Scope].Deployments[i].Accepted, a.wanted.Deployments[n].Accepted) {
			return cli.Fail(fmt.Errorf("deployment %q would still differ from what is live; nothing was written", one.key),
				"a pattern or a default of the repository has a say in it; edit "+a.at(a.zone.Origin).String()+" by hand")
		}
	}
	if got := now[a.zone.Scope]; len(cuefile.Changes(desired.Zone{Others: got.Others}, desired.Zone{Others: a.wanted.Others}, cuefile.Words{})) > 0 {
		return cli.Fail(errors.New("what is no deployment would still differ from what is live; nothing was written"),
			"a pattern or a default of the repository has a say in it; edit "+a.at(a.zone.Origin).String()+" by hand")
	}
	return nil
}

func (a *absorber) tell(t *cli.Terminal) {
	for _, note := range a.notes {
		fmt.Fprintln(t.Err, "note:", cli.OneLine(note))
	}
}

// finish shows the difference and delivers it.
func (a *absorber) finish(ctx context.Context, t *cli.Terminal) error {
	var files []cuefile.File
	for _, name := range slices.Sorted(maps.Keys(a.texts)) {
		if string(a.texts[name]) == string(a.original[name]) {
			continue
		}
		files = append(files, cuefile.File{Name: name, Content: a.texts[name]})
		shown := path.Join(a.Prefix, name)
		if _, err := t.Out.Write(diff.Diff("a/"+shown, a.original[name], "b/"+shown, a.texts[name])); err != nil {
			return err
		}
	}
	a.tell(t)
	if a.Deliver == nil {
		return nil
	}
	return a.Deliver(ctx, files)
}
