package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/cuefile"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// imported is what is to be declared of one account, and where it is declared already.
type imported struct {
	cuefile.Account
	known   *desired.Account // nil for one that is not declared yet
	missing []record         // zones that could not be read, or not declared as a whole
	// rejected are zones that could not be read because of the credential, and why.
	rejected int
	why      string
	skips    skipRules
}

// repository gives what was read its keys.
func (s *survey) repository(found targets, p present, o Order) []imported {
	var all []imported
	taken := map[string]bool{}
	for key := range s.platform.Lanes.Of { // each of these has a credential of its own
		taken[key] = true
	}
	byName := map[edge.ZoneID]bool{}
	if !o.IDs {
		byName = found.findable()
	}
	for _, a := range p.state.Accounts {
		taken[a.Key] = true
	}
	for _, info := range found.accounts {
		records := s.recordsOf(info.ID, found)
		if len(records) == 0 {
			continue
		}
		one := imported{known: p.account(info.ID)}
		one.ID, one.Comment = info.ID, info.Name
		if one.known != nil {
			one.Key, one.Inherited = one.known.Key, true
		} else {
			delete(taken, found.keys[info.ID]) // it is this account's own
			one.Key = unique(cmp.Or(found.keys[info.ID], slugOf(info.Name), "main"), taken)
		}
		s.fill(&one, records, byName)
		all = append(all, one)
	}
	return all
}

func (s *survey) recordsOf(account edge.AccountID, found targets) (records []record) {
	for _, z := range found.zones {
		if r, ok := s.records[z.ID]; ok && z.Account == account {
			records = append(records, r)
		}
	}
	return records
}

// othersOf are the rules of a zone, by kind and key. keys are those of the rulesets.
func othersOf(r record, keys map[edge.RulesetID]string) (all []desired.Other) {
	for _, o := range r.Others {
		if id := edge.RulesetID(o.Of); o.Of != "" {
			if o.Of = keys[id]; !slices.ContainsFunc(r.Deployments, func(d desired.Deployment) bool { return d.Ruleset == string(id) }) {
				continue // its deployment was not imported, either
			}
		}
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b desired.Other) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key)) })
	return all
}

// fill adds rulesets and zones to an account; byName are those that need no id.
func (s *survey) fill(one *imported, records []record, byName map[edge.ZoneID]bool) {
	keys := s.rulesetKeys(one, records)
	byKey := map[string]*planner.Declarer{}
	for id, key := range keys {
		byKey[key] = s.had(one.ID, id).declarer
	}
	one.Words.Rule = func(ruleset string, ref desired.RuleRef) string {
		if declarer := byKey[ruleset]; declarer != nil {
			return declarer.RuleText(ref)
		}
		return ""
	}
	one.Words.Skip = one.skips.about
	zoneKeys := map[string]bool{}
	for _, r := range records {
		if r.rejected {
			one.rejected, one.why = one.rejected+1, r.Failed
			continue
		}
		if r.Failed != "" || len(r.Left) > 0 {
			one.missing = append(one.missing, r)
		}
		if r.Failed != "" {
			one.Notes = append(one.Notes, fmt.Sprintf("Not imported, because it could not be read: %s, %s: %s", r.Name, r.Zone, r.Failed))
			continue
		}
		z := cuefile.Zone{Zone: desired.Zone{Key: unique(keyForm(r.Name, string(r.Zone)), zoneKeys), Scope: edge.ZoneScope(r.Zone)}, Notes: r.Notes}
		z.ByName = byName[r.Zone] && z.Key == r.Name
		for _, why := range r.Left {
			z.Notes = append(z.Notes, "Not imported: "+why+".")
		}
		for _, d := range r.Deployments {
			d.Ruleset = keys[edge.RulesetID(d.Ruleset)]
			z.Deployments = append(z.Deployments, d)
		}
		one.skips.add(r, one.Key, z.Key, keys)
		slices.SortFunc(z.Deployments, func(a, b desired.Deployment) int { return cmp.Compare(a.Ruleset, b.Ruleset) })
		z.Others = othersOf(r, keys)
		one.Zones = append(one.Zones, z)
	}
	if one.rejected > 0 {
		one.Notes = append(one.Notes, fmt.Sprintf("Not imported: %s, because %s.", cli.Plural(one.rejected, "zone", "zones"), one.why))
	}
	if note := diff.NotLooked(one.skips.unlooked); note != "" {
		one.Notes = append(one.Notes, note+".")
	}
	slices.SortFunc(one.Zones, func(a, b cuefile.Zone) int { return cmp.Compare(a.Key, b.Key) })
}

// rulesetKeys gives each managed ruleset that is deployed a key, and declares it where it
// is not: by its name, or by its id where two have one name.
func (s *survey) rulesetKeys(one *imported, records []record) map[edge.RulesetID]string {
	var used []edge.RulesetID
	for _, r := range records {
		for _, d := range r.Deployments {
			if id := edge.RulesetID(d.Ruleset); !slices.Contains(used, id) {
				used = append(used, id)
			}
		}
	}
	slices.Sort(used)
	keys, taken := map[edge.RulesetID]string{}, map[string]bool{}
	if one.known != nil {
		for _, ref := range one.known.Rulesets {
			taken[ref.Key] = true
		}
	}
	one.RulesetComment = map[string]string{}
	for _, id := range used {
		ruleset := s.had(one.ID, id).ruleset
		alone := !s.platform.ByID && s.alone(one.ID, ruleset.Name)
		if one.known != nil {
			if i := slices.IndexFunc(one.known.Rulesets, func(ref desired.RulesetRef) bool {
				return ref.ID == id || alone && ref.Name == ruleset.Name
			}); i >= 0 {
				keys[id] = one.known.Rulesets[i].Key
				continue
			}
		}
		ref := desired.RulesetRef{Key: unique(rulesetKey(ruleset.Name, s.platform.Vendor), taken), Name: ruleset.Name}
		if !alone {
			ref.Name, ref.ID = "", id
			one.RulesetComment[ref.Key] = ruleset.Name
		}
		keys[id], one.Rulesets = ref.Key, append(one.Rulesets, ref)
	}
	slices.SortFunc(one.Rulesets, func(a, b desired.RulesetRef) int { return cmp.Compare(a.Key, b.Key) })
	return keys
}

// had is a managed ruleset that was read.
func (s *survey) had(account edge.AccountID, id edge.RulesetID) managed {
	return s.rulesets.had(managedKey{account, diff.RulesetVersion{Ruleset: id}})
}

// alone reports whether one managed ruleset of the account has a name.
func (s *survey) alone(account edge.AccountID, name string) bool {
	n := 0
	for _, r := range s.listings.had(account) {
		if r.Kind == edge.KindManaged && r.Phase == edge.PhaseFirewallManaged && r.Name == name {
			n++
		}
	}
	return n == 1 && name != ""
}

var notWord = lazyregexp.New(`[^a-z0-9]+`)

// rulesetKey is a short key for a name: "Cloudflare OWASP Core Ruleset" is owasp_core.
func rulesetKey(name, vendor string) string {
	words := strings.Fields(notWord().ReplaceAllString(strings.ToLower(name), " "))
	left := slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return w == "ruleset" || w == "cloudflare" || w == strings.ToLower(vendor) && vendor != ""
	})
	if len(left) == 0 {
		left = words
	}
	if len(left) == 0 || left[0][0] >= '0' && left[0][0] <= '9' {
		left = append([]string{"ruleset"}, left...)
	}
	return strings.Join(left, "_")
}

// slugOf is the key of an account by its name.
func slugOf(name string) string {
	return strings.Trim(notWord().ReplaceAllString(strings.ToLower(name), "-"), "-")
}

var key = lazyregexp.New(`^\PC*[^\s\pZ\pC]\PC*$`)

// keyForm is a name as a key, or another where it cannot be one.
func keyForm(name, or string) string {
	if key().MatchString(name) {
		return name
	}
	return or
}

// unique is a key that is not taken, which it takes.
func unique(key string, taken map[string]bool) string {
	found := key
	for n := 2; taken[found]; n++ {
		found = fmt.Sprintf("%s-%d", key, n)
	}
	taken[found] = true
	return found
}
