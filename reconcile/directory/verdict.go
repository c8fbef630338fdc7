package directory

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/nearest"
)

// The permissions that the calls need, by the vendor's names for them.
const (
	hintZonesForbidden = "give the rulesets token the permission Zone: Read (Zone Read) for the account's zones, or declare the zone's id"
	hintAccountsHidden = "give the rulesets token a permission for this account, such as Account Settings: Read, or declare the account's id"
)

// verdict is [Names.Check]. offered says whether the platform can be asked.
func (f *facts) verdict(a desired.Account, z desired.Zone, offered bool) *diff.NameError {
	if err := f.ofAccount(a, offered); err != nil {
		return err
	}
	switch {
	case z.ByName:
		return f.ofFound(a, z, offered)
	case z.Name != "":
		return f.ofDeclared(a, z)
	}
	return nil
}

// ofAccount is what is against all zones of an account.
func (f *facts) ofAccount(a desired.Account, offered bool) *diff.NameError {
	l := f.accountsOf(a.Key)
	if !a.ByName {
		known, ok := l.ids[string(a.ID)]
		if a.Name == "" || !ok || known.gone || known.name == desired.FoldName(a.Name) {
			return nil
		}
		return blocked(fmt.Sprintf("account %s is named %q on the platform, and not %q", a.ID, known.shown, a.Name), "correct the declared id or name")
	}
	if id := l.found(a.Name); id != "" && id == string(a.ID) {
		return nil
	}
	return l.missing("account", a.Name, "", offered, hintAccountsHidden)
}

// ofFound is what is against a zone that is found by its name.
func (f *facts) ofFound(a desired.Account, z desired.Zone, offered bool) *diff.NameError {
	l := f.zonesOf(a.ID)
	id := l.found(z.Name)
	switch {
	case id == "":
		return l.missing("zone", z.Name, " in account "+a.Key, offered, hintZonesForbidden)
	case id == z.Scope.ID:
		return nil
	case desired.Sought(z.Scope.ID):
		return blocked(fmt.Sprintf("the zone %q has the id %s, which another declaration has, too", z.Name, id), "declare each zone once")
	}
	return &diff.NameError{State: diff.Unknown, Message: fmt.Sprintf("the zone %q has the new id %s on the platform, in the place of %s", z.Name, id, z.Scope)}
}

// ofDeclared compares the name of a declared id, where the platform has listed it.
func (f *facts) ofDeclared(a desired.Account, z desired.Zone) *diff.NameError {
	l := f.zonesOf(a.ID)
	known, ok := l.ids[z.Scope.ID]
	if !ok || known.gone || known.name == desired.FoldName(z.Name) {
		return nil
	}
	hint := "correct the id, or leave it out: Seawall finds a zone by its name"
	if id := l.found(z.Name); id != "" {
		hint = fmt.Sprintf("the id of %s is %s; correct the id, or leave it out", z.Name, id)
	}
	return blocked(fmt.Sprintf("zone %s is named %q on the platform, and not %q", z.Scope, known.shown, z.Name), hint)
}

func blocked(message, hint string) *diff.NameError {
	return &diff.NameError{State: diff.Blocked, Message: message, Hint: hint}
}

// missing says why there is no one id for a name.
func (l *list) missing(kind, name, where string, offered bool, forbidden string) *diff.NameError {
	name = desired.FoldName(name)
	ids := l.names[name]
	_, answered := l.asked[name]
	switch {
	case len(ids) > 1:
		return blocked(fmt.Sprintf("the platform has %d %ss named %q%s", len(ids), kind, name, where),
			"declare the id; candidates: "+strings.Join(ids, ", "))
	case !offered:
		return blocked(fmt.Sprintf("%s %q has no declared id, and platform.profile \"documented\" has no call that finds it by name", kind, name),
			`declare the id, or set platform.profile to "extended" or platform.preset to "cloudflare"`)
	case answered:
		return blocked(fmt.Sprintf("the platform has no %s named %q%s that the credential can see", kind, name, where), l.hint(kind, name))
	case l.failed.err != nil:
		return l.unreadable(kind, name, forbidden)
	}
	return &diff.NameError{State: diff.Unknown, Message: fmt.Sprintf("the id of %s %q is not known yet", kind, name)}
}

// hint names what may be meant by a name that does not exist.
func (l *list) hint(kind, name string) string {
	var shown []string
	for _, known := range l.ids {
		if !known.gone {
			shown = append(shown, known.shown)
		}
	}
	slices.Sort(shown)
	if near := nearest.Word(name, shown); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	what := "declare its name on the platform, or its id"
	if kind == "account" && len(shown) > 0 && len(shown) <= mostNamed {
		what += "; there are: " + strings.Join(shown, ", ")
	}
	return what
}

// mostNamed bounds how many names a hint lists.
const mostNamed = 8

// unreadable is why a list could not be read.
func (l *list) unreadable(kind, name, forbidden string) *diff.NameError {
	e := &diff.NameError{State: diff.Unknown, Message: fmt.Sprintf("looking up the id of %s %q", kind, name), Hint: diff.HintFor(l.failed.err), Cause: l.failed.err}
	switch {
	case errors.Is(l.failed.err, edge.ErrForbidden):
		e.State, e.Hint = diff.Forbidden, forbidden
	case errors.Is(l.failed.err, edge.ErrNotOffered):
		e.State, e.Hint = diff.Blocked, `declare the id: this platform does not list its zones`
	}
	return e
}
