package compile

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// This file holds what the platform's reference asks for and the schema does
// not say, each with the reason why CUE is the wrong place for it.

// oneOfNameAndID: CUE would say it as a disjunction of closed structs, whose
// failure hides what is wrong inside either, or as matchN, which names neither
// field.
func (r *reader) oneOfNameAndID(path string, ref desired.RulesetRef) {
	switch {
	case ref.Name == "" && ref.ID == "":
		r.problem(ref.Origin, path, "names no ruleset", "give it a name or an id")
	case ref.Name != "" && ref.ID != "":
		r.problem(ref.Origin, path, "has both a name and an id", "keep one of the two")
	}
}

// score: the range of the integer is not documented, so a value that would let
// no request through is a warning, which CUE does not have.
func (r *reader) score(path string, f both) int {
	score, err := f.value.Int64()
	if err != nil || score > math.MaxInt32 || score < math.MinInt32 {
		r.problem(f.origin(), path, fmt.Sprintf("%v is too large for a score", f.value), "")
		return 0
	}
	if score < 1 {
		r.warn(f.origin(), path, fmt.Sprintf("a score of %d is reached by every request", score), "the platform starts from 40; lower is stricter")
	}
	return int(score)
}

// paranoiaOnce: a level is written as disabled tags, so a paranoia tag beside
// it is a second opinion. CUE would need a comprehension in every deployment,
// which costs each evaluation and reports at the schema.
func (r *reader) paranoiaOnce(path string, d desired.Deployment) {
	if d.Paranoia == nil {
		return
	}
	for i, tag := range d.Disable.Tags {
		if level, ok := edge.ParanoiaLevel(tag.Value); ok {
			r.problem(tag.Origin, fmt.Sprintf("%s[%d]", path, i),
				fmt.Sprintf("%q cannot be used with paranoia, which already sets this tag", tag.Value),
				fmt.Sprintf("remove it; to disable level %d and above, set paranoia: %d", level, max(level-1, 1)))
		}
	}
}

// checkToken: relations between fields. CUE compares no times, and a condition
// on one field's presence would report at the schema.
func (r *reader) checkToken(path string, t desired.Token, f both) {
	if len(t.Policies) == 1 && t.Policies[0].Effect != "allow" {
		effect := f.field("policies").elements()[0].field("effect")
		r.problem(effect.origin(), at(path, "policies")+"[0].effect", "the only policy of a token must allow", `without an allow policy the token has no permissions; add one or write "allow"`)
	}
	if t.NotBefore != "" && t.ExpiresOn != "" && !instant(t.NotBefore).Before(instant(t.ExpiresOn)) {
		r.problem(f.field("expires_on").origin(), at(path, "expires_on"),
			fmt.Sprintf("%s is not after not_before, %s", t.ExpiresOn, t.NotBefore), "")
	}
	if t.Rotate != nil {
		r.checkRotate(path, t, f)
	}
}

// The shortest lengths of time a rotation takes. Its tokens are made by runs, and
// those may be held up: a platform that is down for an hour must not end a token
// that is in use.
const (
	shortestEvery   = time.Hour
	shortestOverlap = 10 * time.Minute
)

// checkRotate: Seawall sets both ends of the validity of a token it rotates. CUE
// does not compare durations.
func (r *reader) checkRotate(path string, t desired.Token, f both) {
	for _, field := range []string{"not_before", "expires_on"} {
		if end := f.field(field); end.exists() {
			r.problem(end.origin(), at(path, field), "cannot be used with rotate, which sets it", "remove one of the two")
		}
	}
	rotate := f.field("rotate")
	every, overlap := rotate.field("every"), rotate.field("overlap")
	switch {
	case t.Rotate.Every < shortestEvery:
		r.problem(every.origin(), at(path, "rotate", "every"), fmt.Sprintf("%q is less than an hour", every.text()), `write a Go duration such as "720h"`)
	case t.Rotate.Overlap < shortestOverlap:
		r.problem(overlap.origin(), at(path, "rotate", "overlap"),
			fmt.Sprintf("%q is less than 10 minutes, too short for all users of the token to switch to the new secret", overlap.text()), `"48h" covers a weekend`)
	case t.Rotate.Overlap >= t.Rotate.Every:
		r.problem(overlap.origin(), at(path, "rotate", "overlap"),
			fmt.Sprintf("%q is not shorter than every, %q: more than two tokens would be valid at once", overlap.text(), every.text()), "")
	}
}

// checkGroup: CUE would say the two ways to name a group as a disjunction, whose
// failure hides what is wrong inside either, and cannot hold a group against the
// resources of its policy.
func (r *reader) checkGroup(path string, g desired.PermissionGroup, resources []desired.Resource) {
	switch {
	case g.ID == "" && g.Name == "":
		r.problem(g.Origin, path, "names no permission group", "give it an id, or a name and a scope")
	case g.ID == "" && g.Scope == "":
		r.problem(g.Origin, path, fmt.Sprintf("names the permission group %q without its scope", g.Name),
			`names are not unique: add scope: "account", "zone", "user" or "bucket", or give the id`)
	case g.Scope != "" && !slices.ContainsFunc(resources, func(resource desired.Resource) bool { return resource.Type() == g.Scope }):
		r.problem(g.Origin, path, fmt.Sprintf("the permission group %s is for resources of the type %s, but its policy has none", g, g.Scope),
			"a group applies only to its own resource type: it would grant nothing here")
	}
}

// masked: CUE accepts host bits, and cannot clear them.
func (r *reader) masked(path string, f both) string {
	text := f.text()
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		r.problem(f.origin(), path, fmt.Sprintf("%q is not an address range in CIDR notation", text), "")
		return text
	}
	if prefix.Addr().Is4In6() {
		r.problem(f.origin(), path, fmt.Sprintf("%q is an IPv4 range written as IPv6", text), "write it as IPv4")
	}
	masked := prefix.Masked()
	if masked != prefix {
		r.warn(f.origin(), path, fmt.Sprintf("%q has bits set after /%d and means %s", text, prefix.Bits(), masked), fmt.Sprintf("write %q", masked.String()))
	}
	return masked.String()
}

func instant(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text) // the schema holds the form
	return t
}

func duration(text string) time.Duration {
	d, _ := time.ParseDuration(text) // the schema holds the form
	return d
}

// oneUser: a policy may name the calling user only, and a repository is applied
// by one user. The tags may stand in different folders, which CUE evaluates
// one by one.
func oneUser(units []Unit) (user *desired.Declared[string], problems []desired.Problem) {
	var first NamedUser
	for _, u := range units {
		if u.User == nil {
			continue
		}
		if user == nil {
			user = u.User
			first = NamedUser{Tag: user.Value, Path: "user", Origin: user.Origin}
		} else if user.Value != u.User.Value {
			problems = append(problems, twoPlaces("user", u.User.Origin, fmt.Sprintf("%q is another user than %q", u.User.Value, user.Value), user.Origin))
		}
	}
	for _, u := range units {
		for _, named := range u.Named {
			switch {
			case first.Tag == "":
				first = named
			case named.Tag != first.Tag:
				problems = append(problems, twoPlaces(named.Path, named.Origin,
					fmt.Sprintf("names the user %q; a policy may name only the calling user, %q", named.Tag, first.Tag), first.Origin))
			}
		}
	}
	return user, problems
}
