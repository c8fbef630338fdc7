package token

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
	"github.com/seawall-dev/seawall/edge/nearest"
)

// resolveGroups returns a token's specification with every permission group by
// its id. Where the platform lists its groups it also sees whether each counts
// for a resource of its policy (reference, "Permission group").
func (p *planner) resolveGroups(token desired.Token) (edge.TokenSpec, []diff.Problem) {
	spec := token.Spec()
	var problems []diff.Problem
	for i, policy := range token.Policies {
		for j, group := range policy.PermissionGroups {
			id, problem := p.resolveGroup(token.Owner, group, policy)
			if problem != nil {
				problem.Scope, problem.Account, problem.Token = edge.CredentialScope(token.Owner), token.Account, token.Key
				problems = append(problems, *problem)
				continue
			}
			spec.Policies[i].PermissionGroups[j].ID = id
		}
	}
	return spec, problems
}

func (p *planner) resolveGroup(owner edge.AccountID, g desired.PermissionGroup, policy desired.Policy) (string, *diff.Problem) {
	platform := p.in.Live.Tokens.Of(owner).Listed
	if g.ID != "" && (platform == nil || platform.Groups.Err != nil) {
		return g.ID, nil // nothing to compare it with
	}
	var problem *diff.Problem
	switch {
	case platform == nil:
		problem = &diff.Problem{
			State: diff.Blocked, Reason: fmt.Sprintf("the permission group %s is declared without its id, and the groups of the platform are not known", g),
			Hint: `give its id, or set platform.profile: "extended" and credentials.tokens, so that the platform can be asked`,
		}
	case platform.Groups.Err != nil:
		problem = &diff.Problem{State: diff.Unknown, Reason: "permission groups could not be read: " + platform.Groups.Err.Error(), Hint: diff.HintFor(platform.Groups.Err)}
	default:
		found := listedGroups(g, platform.Groups.Value)
		if problem = misnamed(owner, g, policy, found, platform.Groups.Value); problem == nil {
			return idOf(g, found), nil
		}
	}
	problem.Origin = g.Origin
	return "", problem
}

// listedGroups are those of the platform's groups that a declared one means: by its
// id, or by its name and scope.
func listedGroups(g desired.PermissionGroup, listed []edge.PermissionGroup) (found []edge.PermissionGroup) {
	for _, other := range listed {
		if other.ID == g.ID || g.ID == "" && other.Name == g.Name && slices.Contains(other.Scopes, scopeNamed[g.Scope]) {
			found = append(found, other)
		}
	}
	return found
}

// misnamed is why the groups that were found cannot be what the declaration means;
// nil where they can.
func misnamed(owner edge.AccountID, g desired.PermissionGroup, policy desired.Policy, found, listed []edge.PermissionGroup) *diff.Problem {
	switch {
	case len(found) == 0 && g.ID == "":
		return &diff.Problem{State: diff.Blocked, Reason: fmt.Sprintf("the platform has no permission group %s", g), Hint: nearestGroup(owner, g, listed)}
	case len(found) > 1 && g.ID == "":
		return &diff.Problem{
			State: diff.Blocked, Reason: fmt.Sprintf("the platform has %d permission groups %s: %s", len(found), g, candidates(found)),
			Hint: "give the id of the group",
		}
	case len(found) == 1 && !fits(found[0], policy):
		return &diff.Problem{
			State: diff.Blocked, Reason: fmt.Sprintf("the permission group %s is for %s, but its policy has no such resource", g, strings.Join(found[0].Scopes, ", ")),
			Hint: "a group applies only to its own resource type: it would grant nothing here",
		}
	}
	return nil
}

// idOf is the id of a group. The platform's list may be shorter than what there is:
// a group that it does not have is sent as declared, and the platform decides.
func idOf(g desired.PermissionGroup, found []edge.PermissionGroup) string {
	if len(found) > 0 {
		return found[0].ID
	}
	return g.ID
}

var scopeNamed = map[string]string{
	"account": string(access.TypeAccount), "zone": string(access.TypeZone), "user": string(access.TypeUser),
	"bucket": strings.TrimSuffix(edge.ResourceBucket, "."),
}

// fits reports whether a group counts for any resource of a policy. A group that
// says no scope counts for all.
func fits(g edge.PermissionGroup, policy desired.Policy) bool {
	return len(g.Scopes) == 0 || slices.ContainsFunc(policy.Resources, func(r desired.Resource) bool {
		return slices.Contains(g.Scopes, scopeNamed[r.Type()])
	})
}

func candidates(groups []edge.PermissionGroup) string {
	texts := make([]string, len(groups))
	for i, g := range groups {
		texts[i] = g.ID + " (" + strings.Join(g.Scopes, ", ") + ")"
	}
	slices.Sort(texts)
	return strings.Join(texts, "; ")
}

// withGroupNames returns the tokens with the names of those permission groups that
// are declared by their ids alone: what a group is for, its name tells.
func withGroupNames(tokens []desired.Token, names map[string]string) []desired.Token {
	out := slices.Clone(tokens)
	for i := range out {
		out[i].Policies = slices.Clone(out[i].Policies)
		for j := range out[i].Policies {
			groups := slices.Clone(out[i].Policies[j].PermissionGroups)
			for k, g := range groups {
				if g.Name == "" {
					groups[k].Name = names[g.ID]
				}
			}
			out[i].Policies[j].PermissionGroups = groups
		}
	}
	return out
}

// mostNear is how many permission groups a hint names that may have been meant.
const mostNear = 3

// nearestGroup names the groups that may have been meant: those of the same name, or those
// whose names are nearest.
func nearestGroup(owner edge.AccountID, g desired.PermissionGroup, listed []edge.PermissionGroup) string {
	var names []string
	groups := map[string][]string{}
	for _, other := range listed {
		if groups[other.Name] == nil {
			names = append(names, other.Name)
		}
		groups[other.Name] = append(groups[other.Name], strings.Join(other.Scopes, ", "))
	}
	slices.Sort(names)
	said := func(name string) string {
		slices.Sort(groups[name])
		return fmt.Sprintf("%q for %s", name, strings.Join(groups[name], " and for "))
	}
	if groups[g.Name] != nil {
		return "there is " + said(g.Name)
	}
	var near []string
	for _, i := range nearest.Texts(g.Name, names, mostNear) {
		near = append(near, said(names[i]))
	}
	if len(near) == 0 {
		return "the platform lists its groups under " + edge.PermissionGroupsPath(owner)
	}
	return "the nearest: " + strings.Join(near, "; ")
}
