package importer

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/trusted"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// target is a zone to import.
type target struct {
	ID      edge.ZoneID
	Name    string
	Account edge.AccountID
}

// targets are the zones to import, by account and name, and the accounts.
type targets struct {
	zones    []target
	accounts []edge.Account // of the zones, by id
	listed   []edge.Zone    // what the platform has listed
	assignment
}

// findTargets lists zones where the platform does, and takes them from the command line
// and a file where it does not.
func findTargets(ctx context.Context, p Platform, o Order, have present) (targets, error) {
	wanted, err := parseAccounts(o.Accounts)
	if err != nil {
		return targets{}, err
	}
	found := targets{}
	found.keys, found.lanes = wanted.keysBeside(have), map[edge.AccountID]int{}
	given, names, err := askedFor(p, o, wanted, found.keys)
	if err != nil {
		return targets{}, err
	}
	for _, z := range o.Given {
		if z.Account.Name != "" {
			found.accounts = withAccount(found.accounts, z.Account)
		}
	}
	if p.Lists && (len(given) == 0 || len(names) > 0) {
		if err := found.list(ctx, p, wanted, names); err != nil {
			return targets{}, err
		}
	}
	for _, z := range given {
		if err := found.placeGiven(p.Lanes, z.Account); err != nil {
			return targets{}, err
		}
		found.zones = append(found.zones, z)
	}
	return found.sorted(), nil
}

// askedFor are the zones that are given by id, and the names of others.
func askedFor(p Platform, o Order, wanted accountsWanted, keys map[edge.AccountID]string) (given []target, names []string, err error) {
	given, names, err = givenZones(o)
	if err != nil {
		return nil, nil, err
	}
	if len(o.Given) > 0 {
		if given, err = o.limit(wanted, keys, given, names); err != nil {
			return nil, nil, err
		}
		names = nil
	}
	switch {
	case len(given) > 0:
		if len(names) > 0 && !p.Lists {
			return nil, nil, cli.Fail(fmt.Errorf("--zone %q has no id, and this platform does not find zones by name", names[0]), "write --zone "+names[0]+"=ID")
		}
		given, err = wanted.fill(given)
	case !p.Lists:
		err = cli.Fail(errors.New("a platform with the profile \"documented\" lists no zones"),
			"name them by id: --account prod=ID --zone NAME=ID, or --zones FILE",
			`if your platform lists zones, use --profile extended, or set platform.profile: "extended"`)
	}
	return given, names, err
}

// accountsWanted are those of --account, by name or id; none is all.
type accountsWanted struct {
	words []string
	keys  map[edge.AccountID]string // that some ids are given
}

func (w accountsWanted) all() bool { return len(w.words) == 0 }

// keysBeside are the keys of the command line, and those of the repository.
func (w accountsWanted) keysBeside(have present) map[edge.AccountID]string {
	keys := maps.Clone(w.keys)
	for _, a := range have.state.Accounts {
		if !desired.Sought(a.ID) {
			keys[a.ID] = a.Key
		}
	}
	return keys
}

func parseAccounts(flags []string) (accountsWanted, error) {
	w := accountsWanted{keys: map[edge.AccountID]string{}}
	for _, flag := range flags {
		key, id, both := cutLast(flag, "=")
		switch {
		case flag == "":
			return w, cli.Usage("--account is empty")
		case both && edge.ValidID(id) && key != "":
			w.words = append(w.words, id)
			w.keys[edge.AccountID(id)] = key
		default:
			w.words = append(w.words, flag)
		}
	}
	return w, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// givenZones are those with an id, and the names of the others.
func givenZones(o Order) (given []target, names []string, err error) {
	for _, flag := range o.Zones {
		name, id, both := cutLast(flag, "=")
		switch {
		case both && edge.ValidID(id) && name != "":
			given = append(given, target{ID: edge.ZoneID(id), Name: name})
		case both || flag == "":
			return nil, nil, cli.Usage("--zone %q is neither NAME nor NAME=ID, where an id has 32 lower-case hexadecimal digits", flag)
		default:
			names = append(names, flag)
		}
	}
	if o.File == "" {
		return given, names, nil
	}
	listed, err := zonesOfFile(o.File)
	return append(given, listed...), names, err
}

// zonesOfFile reads lines of NAME ID [ACCOUNT_ID]; commas separate, too, and # begins a
// comment.
func zonesOfFile(name string) (zones []target, err error) {
	file, err := trusted.Input(name)
	if err != nil {
		return nil, cli.Fail(err, "--zones takes a file with a line NAME ID for each zone")
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "\ufeff"), "#")
		words := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\r' })
		switch {
		case len(words) == 0:
		case len(words) < 2 || len(words) > 3 || !edge.ValidID(words[1]) || len(words) == 3 && !edge.ValidID(words[2]):
			return nil, cli.Fail(fmt.Errorf("%s:%d: not a line NAME ID [ACCOUNT_ID]", name, n), "ids have 32 lower-case hexadecimal digits")
		default:
			z := target{Name: words[0], ID: edge.ZoneID(words[1])}
			if len(words) == 3 {
				z.Account = edge.AccountID(words[2])
			}
			zones = append(zones, z)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(zones) == 0 { // else the import would take all that the platform lists
		return nil, cli.Fail(fmt.Errorf("%s has no zone", name), "--zones takes a file with a line NAME ID for each zone")
	}
	return zones, nil
}

// fill gives zones without an account that of the command line.
func (w accountsWanted) fill(zones []target) ([]target, error) {
	ids := slices.DeleteFunc(slices.Clone(w.words), func(word string) bool { return !edge.ValidID(word) })
	for i, z := range zones {
		switch {
		case z.Account != "":
		case len(ids) == 1:
			zones[i].Account = edge.AccountID(ids[0])
		default:
			return nil, cli.Fail(fmt.Errorf("the account of zone %s is not known", z.Name),
				"name one account by its id, --account prod=ID, or put the account's id behind the zone's id in the file of --zones")
		}
	}
	return zones, nil
}

// list adds the zones that the platform lists; only those that are named, where some are.
func (f *targets) list(ctx context.Context, p Platform, wanted accountsWanted, names []string) error {
	if err := f.ask(ctx, p, wanted, names); err != nil {
		return err
	}
	hits := map[string]bool{}
	for _, z := range f.listed {
		hits[z.Name] = true
		f.zones = append(f.zones, target{ID: z.ID, Name: z.Name, Account: z.Account.ID})
		f.accounts = withAccount(f.accounts, z.Account)
	}
	for _, name := range names {
		if !hits[name] {
			return cli.Fail(fmt.Errorf("the platform lists no zone %q", name), "check the name, and that the credential may see the zone (Zone Read)")
		}
	}
	return nil
}

// ask lists what each credential can see, gives the accounts their lanes, and keeps the
// zones of the accounts that are wanted.
func (f *targets) ask(ctx context.Context, p Platform, wanted accountsWanted, names []string) error {
	lanes := p.Lanes.All
	ids := []edge.AccountID{""}
	if len(lanes) == 1 && len(p.Lanes.Of) == 0 {
		var err error
		if ids, err = f.accountIDs(ctx, p.directory(0), wanted); err != nil {
			return err
		}
		wanted = accountsWanted{}
	}
	listed := make([]listing, len(lanes))
	failed := 0
	for i := range lanes {
		if !wanted.concerns(p.Lanes, i, f.keys) {
			continue
		}
		listed[i] = listLane(ctx, p.directory(i), ids, names)
		switch err := listed[i].err; {
		case err == nil:
		case len(lanes) == 1 || ctx.Err() != nil || errors.Is(err, edge.ErrNotOffered):
			return notListed(err)
		default:
			failed++
		}
	}
	if failed == len(lanes) {
		return notListed(listed[0].err)
	}
	f.assignment = assign(p.Lanes, listed, f.keys)
	return f.keep(wanted, listed)
}

// keep keeps the zones that were listed with the lane of their account.
func (f *targets) keep(wanted accountsWanted, listed []listing) error {
	for i, l := range listed {
		for _, z := range l.zones {
			lane, known := f.lanes[z.Account.ID]
			if known && lane == i && (wanted.all() || wanted.has(z.Account, f.keys[z.Account.ID])) {
				f.listed = append(f.listed, z)
			}
		}
	}
	if wanted.all() {
		return nil
	}
	f.left = slices.DeleteFunc(f.left, func(l leftOut) bool { return !wanted.has(edge.Account{}, l.account) })
	for _, word := range wanted.words {
		one := accountsWanted{words: []string{word}}
		if !slices.ContainsFunc(f.listed, func(z edge.Zone) bool { return one.has(z.Account, f.keys[z.Account.ID]) }) &&
			!slices.ContainsFunc(f.left, func(l leftOut) bool { return l.account == word }) {
			return cli.Fail(fmt.Errorf("no credential of the configuration can see a zone of account %q", word), "check the name or id, and that the credential may see the zones (Zone Read)")
		}
	}
	return nil
}

// has reports whether an account with this key is wanted.
func (w accountsWanted) has(a edge.Account, key string) bool {
	return slices.ContainsFunc([]string{string(a.ID), a.Name, key}, func(word string) bool { return word != "" && slices.Contains(w.words, word) })
}

// concerns reports whether a lane may be that of an account that is wanted.
func (w accountsWanted) concerns(all reconcile.Lanes, lane int, keys map[edge.AccountID]string) bool {
	for _, word := range w.words {
		key, known := keys[edge.AccountID(word)]
		if !known {
			_, known = all.Of[word]
			key = word
		}
		if !known || all.Index(key) == lane {
			return true
		}
	}
	return w.all()
}

// listLane lists zones with one credential.
func listLane(ctx context.Context, d edge.Directory, ids []edge.AccountID, names []string) (l listing) {
	l.asked = true
	if d == nil {
		l.err = edge.ErrNotOffered
		return l
	}
	if len(names) == 0 {
		names = []string{""} // all
	}
	for _, id := range ids {
		for _, name := range names {
			zones, err := d.Zones(ctx, edge.ZoneFilter{Account: id, Name: name})
			if err != nil {
				l.err = err
				return l
			}
			l.add(zones)
		}
	}
	return l
}

func notListed(err error) error {
	if errors.Is(err, edge.ErrNotOffered) {
		return cli.Fail(err, "name the zones by id: --account prod=ID --zone NAME=ID, or --zones FILE")
	}
	return fmt.Errorf("listing zones: %w", err)
}

// accountIDs are the accounts to list zones of; one empty id for all.
func (f *targets) accountIDs(ctx context.Context, d edge.Directory, wanted accountsWanted) ([]edge.AccountID, error) {
	if wanted.all() {
		return []edge.AccountID{""}, nil
	}
	var ids []edge.AccountID
	var accounts []edge.Account
	for _, word := range wanted.words {
		if edge.ValidID(word) {
			ids = append(ids, edge.AccountID(word))
			continue
		}
		if accounts == nil {
			var err error
			if accounts, err = d.Accounts(ctx); err != nil {
				return nil, cli.Fail(fmt.Errorf("listing accounts: %w", err), "name the account by its id")
			}
		}
		found := slices.DeleteFunc(slices.Clone(accounts), func(a edge.Account) bool { return a.Name != word })
		if key, id, both := cutLast(word, "="); len(found) == 0 && both {
			return nil, cli.Fail(fmt.Errorf("--account %q: %q is not an id, and no account has the name %q", word, id, word),
				fmt.Sprintf("write --account %s=ID, where an id has 32 lower-case hexadecimal digits", key))
		}
		if len(found) == 0 {
			return nil, cli.Fail(fmt.Errorf("the platform lists no account named %q", word), "name the account by its id")
		}
		if len(found) > 1 {
			return nil, cli.Fail(fmt.Errorf("the platform lists %d accounts named %q", len(found), word), "name the account by its id")
		}
		ids, f.accounts = append(ids, found[0].ID), append(f.accounts, found[0])
	}
	return ids, nil
}

// sorted orders zones by account and name, each once, and names the accounts of all.
func (f targets) sorted() targets {
	seen := map[edge.ZoneID]bool{}
	f.zones = slices.DeleteFunc(f.zones, func(z target) bool {
		known := seen[z.ID]
		seen[z.ID] = true
		return known
	})
	slices.SortFunc(f.zones, func(a, b target) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	zones := map[edge.AccountID]int{}
	for _, z := range f.zones {
		f.accounts = withAccount(f.accounts, edge.Account{ID: z.Account})
		zones[z.Account]++
	}
	slices.SortFunc(f.accounts, func(a, b edge.Account) int { // of those without a name the largest first: it is called main
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(zones[b.ID], zones[a.ID]), cmp.Compare(a.ID, b.ID))
	})
	return f
}

// without takes out the zones that are declared already, and returns how many they were.
func (f *targets) without(p present) (skipped int) {
	before := len(f.zones)
	f.zones = slices.DeleteFunc(f.zones, p.declares)
	return before - len(f.zones)
}
