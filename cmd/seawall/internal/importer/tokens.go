package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/cuefile"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// tokenImport are the tokens to declare.
type tokenImport struct {
	declared []cuefile.Token
	user     string
	adopt    []string // commands that record them
	skipped  []string // tokens that are over, or declared already
	left     []string // tokens that cannot be declared, and why
}

// readTokens declares the tokens that the platform lists, and those that the accounts own.
// Their secrets are in no answer.
func readTokens(ctx context.Context, p Platform, have present, accounts []imported) (i tokenImport, err error) {
	if p.Tokens == nil {
		return i, nil
	}
	tokens, err := p.Tokens.UserTokens(ctx)
	if errors.Is(err, edge.ErrNotOffered) {
		return i, cli.Fail(fmt.Errorf("listing tokens: %w", err), "import without --tokens")
	}
	if err != nil {
		return i, cli.Fail(fmt.Errorf("listing tokens: %w", err), "the credential for tokens needs the permission to read API tokens")
	}
	taken := map[string]bool{}
	for _, t := range have.state.Tokens {
		taken[t.Name] = true
	}
	if have.state.User != nil {
		i.user = have.state.User.Value
	}
	declaredUser := i.user != ""
	for _, t := range byName(tokens) {
		i.add(t, "", taken)
	}
	for _, id := range slices.Sorted(maps.Keys(p.Owned)) {
		key := ownerKey(id, have, accounts)
		for _, t := range byName(p.Owned[id]) {
			if key == "" {
				i.left = append(i.left, fmt.Sprintf("%q (%s): no zone of its account %s is imported or declared", t.Name, t.ID, id))
				continue
			}
			i.add(t, key, taken)
		}
	}
	if declaredUser {
		i.user = ""
	}
	return i, nil
}

func byName(tokens []edge.Token) []edge.Token {
	return slices.SortedFunc(slices.Values(tokens), func(a, b edge.Token) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
}

// ownerKey is the key of an account that is declared, or will be; empty for another one.
func ownerKey(id edge.AccountID, have present, accounts []imported) string {
	if known := have.account(id); known != nil {
		return known.Key
	}
	if i := slices.IndexFunc(accounts, func(a imported) bool { return a.ID == id }); i >= 0 {
		return accounts[i].Key
	}
	return ""
}

// add declares a token; account is the key of the account that owns it, empty for the user.
func (i *tokenImport) add(t edge.Token, account string, taken map[string]bool) {
	about := fmt.Sprintf("%q (%s)", t.Name, t.ID)
	switch {
	case t.Status == "expired":
		i.skipped = append(i.skipped, about+" has expired")
		return
	case taken[t.Name] && !slices.ContainsFunc(i.declared, func(d cuefile.Token) bool { return d.Name == t.Name }):
		i.skipped = append(i.skipped, about+" is declared already")
		return
	}
	declared, err := declareToken(t)
	declared.Account = account
	if err == nil && taken[t.Name] {
		err = errors.New("another token has the same name; rename one of them")
	}
	user := userOf(declared)
	if err == nil && user != "" && i.user != "" && user != i.user {
		err = errors.New("it names another user than the other tokens")
	}
	if err != nil {
		i.left = append(i.left, about+": "+err.Error())
		return
	}
	i.user, taken[t.Name] = cmp.Or(i.user, user), true
	command := fmt.Sprintf("seawall token adopt %s %s", cli.Quoted(t.Name), t.ID)
	notes := []string{"It exists already: " + command}
	if t.Status != "" && t.Status != "active" {
		notes = append(notes, "The platform says that it is "+t.Status+".")
	}
	i.declared, i.adopt = append(i.declared, cuefile.Token{Token: declared, Notes: notes}), append(i.adopt, command)
}

func userOf(t desired.Token) string {
	for _, p := range t.Policies {
		for _, r := range p.Resources {
			if tag, ok := strings.CutPrefix(r.Key, edge.ResourceUser); ok {
				return tag
			}
		}
	}
	return ""
}

// declareToken is the declaration of a token, or why there is none.
func declareToken(t edge.Token) (desired.Token, error) {
	d := desired.Token{Key: t.Name, Name: t.Name}
	if !key().MatchString(t.Name) || utf8.RuneCountInString(t.Name) > 120 {
		return d, errors.New("its name is empty, too long, or has characters that cannot be printed")
	}
	for _, p := range t.Policies {
		policy, err := declarePolicy(p)
		if err != nil {
			return d, err
		}
		d.Policies = append(d.Policies, policy)
	}
	if len(d.Policies) == 0 || len(d.Policies) == 1 && d.Policies[0].Effect != string(edge.Allow) {
		return d, errors.New("it has no policy that allows something")
	}
	for _, end := range []struct {
		from string
		to   *string
	}{{t.NotBefore, &d.NotBefore}, {t.ExpiresOn, &d.ExpiresOn}} {
		if end.from == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, end.from)
		if err != nil {
			return d, fmt.Errorf("its time %q cannot be read", end.from)
		}
		*end.to = at.UTC().Format("2006-01-02T15:04:05Z")
	}
	var err error
	if t.Condition != nil && t.Condition.RequestIP != nil {
		d.Condition, err = declareCondition(*t.Condition.RequestIP)
	}
	return d, err
}

// declareCondition is nil where a filter says nothing.
func declareCondition(ip edge.AddressFilter) (*desired.Condition, error) {
	switch {
	case ip.In != nil && len(ip.In) == 0:
		return nil, errors.New("its list of addresses is empty, so that it works from nowhere")
	case len(ip.In)+len(ip.NotIn) == 0:
		return nil, nil
	}
	for _, cidr := range slices.Concat(ip.In, ip.NotIn) {
		if _, err := netip.ParsePrefix(cidr); err != nil {
			return nil, fmt.Errorf("%q is not a range of addresses", cidr)
		}
	}
	return &desired.Condition{In: ip.In, NotIn: ip.NotIn}, nil
}

var resourceForms = lazyregexp.New(`^com\.vendor\.api\.(account\.(\*|[0-9a-f]{32})|account\.zone\.(\*|[0-9a-f]{32})|user\.[0-9A-Za-z_-]{1,64})$`)

// otherVendor is a resource key of a vendor by its own segment, which the configuration does not name.
var otherVendor = lazyregexp.New(`^com\.([a-z0-9-]{1,64})\.api\.`)

// strange is what is wrong with a resource key in none of the documented forms.
func strange(resource string) error {
	if vendor := otherVendor().FindStringSubmatch(resource); vendor != nil && vendor[1] != "vendor" {
		return fmt.Errorf("its resource %q is of the vendor %s: import with --vendor %[2]s", resource, vendor[1])
	}
	return fmt.Errorf("its resource %q is in none of the documented forms", resource)
}

func declarePolicy(p edge.Policy) (desired.Policy, error) {
	d := desired.Policy{Effect: string(p.Effect)}
	if p.Effect != edge.Allow && p.Effect != edge.Deny {
		return d, fmt.Errorf("its effect %q is not known", p.Effect)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Resources)) {
		breadth := p.Resources[name]
		account := strings.HasPrefix(name, edge.ResourceAccount) && !strings.HasPrefix(name, edge.ResourceZone) && name != edge.ResourceAllAccounts
		if !resourceForms().MatchString(name) || breadth.Other != nil || breadth.AllZones && !account {
			return d, strange(name)
		}
		d.Resources = append(d.Resources, desired.Resource{Key: name, AllZones: breadth.AllZones})
	}
	for _, g := range p.PermissionGroups {
		if g.ID == "" {
			return d, errors.New("a permission group has no id")
		}
		d.PermissionGroups = append(d.PermissionGroups, desired.PermissionGroup{ID: g.ID, Name: g.Name})
	}
	if len(d.Resources) == 0 || len(d.PermissionGroups) == 0 {
		return d, errors.New("a policy has no resources or no permission groups")
	}
	return d, nil
}

func (i tokenImport) report(t *cli.Terminal) {
	if len(i.declared)+len(i.skipped)+len(i.left) == 0 {
		return
	}
	fmt.Fprintf(t.Out, "imported %s\n", cli.Plural(len(i.declared), "token", "tokens"))
	list(t, "  skipped: ", i.skipped)
	list(t, "! not imported: ", i.left)
	if len(i.adopt) > 0 {
		fmt.Fprintln(t.Out, "A plan shows them as unknown, or as to be created, until the ledger knows them. Run, with a configuration:")
		list(t, "  ", i.adopt)
		fmt.Fprintln(t.Out, "  seawall token init")
	}
}
