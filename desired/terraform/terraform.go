// Package terraform reads what a Terraform state says of the platform: zones, the entry
// points of their managed rulesets, and API tokens without their secrets.
//
//	state, err := terraform.Read(file)
//	rulesets := state.Platform() // a reader of what the state has
//
// It takes a state file (terraform.tfstate, version 4), and what `terraform show -json`
// prints of a state or a plan. Resources of the vendor's provider are read in the shapes
// of its version 4, with blocks, and 5, with attributes: cloudflare_zone,
// cloudflare_ruleset, cloudflare_api_token and cloudflare_account_token. Whatever else of the provider is managed
// there is listed by its address, with the reason. Secrets are not decoded.
//
// It imports edge and nothing that sends or evaluates.
package terraform

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/seawall-dev/seawall/edge"
)

// State is what a state says of the platform.
type State struct {
	Zones       []edge.Zone // by the order of the state; Name is the id where the state has none
	EntryPoints map[edge.ZoneID]edge.Ruleset
	Tokens      []edge.Token // of the user
	Owned       map[edge.AccountID][]edge.Token
	// Left are resources that Seawall cannot manage: address and reason.
	Left []string

	looked map[edge.ZoneID]edge.Zone // zones that the state only looks up: data sources
}

// maxBytes bounds a state.
const maxBytes = 256 << 20

// resource is one instance of a resource that is managed, or of a zone that is looked up.
type resource struct {
	address string
	kind    string
	data    bool // it is looked up
	values  object
	flat    bool // its values are in the form of Terraform 0.11
}

// object is a JSON object.
type object map[string]any

// Read reads a state or a plan.
func Read(r io.Reader) (State, error) {
	// PowerShell writes UTF-16, or a mark in front of UTF-8, where output goes to a file.
	text := transform.NewReader(io.LimitReader(r, maxBytes+1), unicode.BOMOverride(transform.Nop))
	data, err := io.ReadAll(text)
	switch {
	case err != nil:
		return State{}, err
	case len(data) > maxBytes:
		return State{}, fmt.Errorf("it has more than %d MiB", maxBytes>>20)
	}
	resources, err := resourcesOf(data)
	if err != nil {
		return State{}, err
	}
	s := State{EntryPoints: map[edge.ZoneID]edge.Ruleset{}, looked: map[edge.ZoneID]edge.Zone{}, Owned: map[edge.AccountID][]edge.Token{}}
	for _, one := range resources {
		if !strings.HasPrefix(one.kind, "cloudflare_") {
			continue
		}
		if one.data {
			s.look(one.values)
			continue
		}
		if why := s.add(one); why != "" {
			s.Left = append(s.Left, one.address+": "+why)
		}
	}
	s.complete()
	return s, nil
}

// resourcesOf reads the resources of each of the forms.
func resourcesOf(data []byte) ([]resource, error) {
	var file struct {
		Version       int             `json:"version"`
		FormatVersion string          `json:"format_version"`
		Resources     []stateResource `json:"resources"`
		Values        *values         `json:"values"`
		Planned       *values         `json:"planned_values"`
		Encrypted     string          `json:"encrypted_data"`
		Prior         *struct {
			Values *values `json:"values"`
		} `json:"prior_state"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, errors.New("it is not JSON; give a terraform.tfstate, or the output of terraform show -json")
	}
	var all []resource
	switch {
	case file.Prior != nil && file.Prior.Values != nil:
		file.Prior.Values.Root.collect(&all)
	case file.Values != nil:
		file.Values.Root.collect(&all)
	case file.Planned != nil:
		file.Planned.Root.collect(&all)
	case file.Version == 4 && file.Encrypted == "":
		for _, r := range file.Resources {
			all = append(all, r.instances()...)
		}
	case file.Encrypted != "":
		return nil, errors.New("it is encrypted; tofu state pull prints one that can be read")
	case file.Version > 0:
		return nil, fmt.Errorf("it is a state of version %d; terraform show -json prints one that can be read", file.Version)
	default:
		return nil, errors.New("it is neither a Terraform state nor a plan in JSON")
	}
	return all, nil
}

type stateResource struct {
	Module    string `json:"module"`
	Mode      string `json:"mode"`
	Type      string `json:"type"`
	Name      string `json:"name"`
	Instances []struct {
		Key        any    `json:"index_key"`
		Deposed    string `json:"deposed"` // the key of an object that was replaced and not yet deleted
		Attributes object `json:"attributes"`
		Flat       object `json:"attributes_flat"` // of Terraform 0.11
	} `json:"instances"`
}

func (r stateResource) instances() (all []resource) {
	if r.Mode != "managed" && !looksUp(r.Mode, r.Type) {
		return nil
	}
	for _, i := range r.Instances {
		if i.Deposed != "" {
			continue
		}
		address := r.Type + "." + r.Name
		if r.Module != "" {
			address = r.Module + "." + address
		}
		switch key := i.Key.(type) {
		case string:
			address += fmt.Sprintf("[%q]", key)
		case float64:
			address += fmt.Sprintf("[%d]", int(key))
		}
		all = append(all, resource{address, r.Type, r.Mode == "data", i.Attributes, i.Attributes == nil && i.Flat != nil})
	}
	return all
}

type values struct {
	Root module `json:"root_module"`
}

type module struct {
	Resources []struct {
		Address string `json:"address"`
		Mode    string `json:"mode"`
		Type    string `json:"type"`
		Deposed string `json:"deposed_key"`
		Values  object `json:"values"`
	} `json:"resources"`
	Children []module `json:"child_modules"`
}

func (m module) collect(all *[]resource) {
	for _, r := range m.Resources {
		if (r.Mode == "managed" || looksUp(r.Mode, r.Type)) && r.Deposed == "" {
			*all = append(*all, resource{address: r.Address, kind: r.Type, data: r.Mode == "data", values: r.Values})
		}
	}
	for _, child := range m.Children {
		child.collect(all)
	}
}

// add takes one resource, or returns why it cannot be managed.
func (s *State) add(r resource) string {
	if r.flat {
		return "its state is in the form of Terraform 0.11; terraform apply -refresh-only writes it anew"
	}
	switch r.kind {
	case "cloudflare_zone":
		return s.addZone(r.values)
	case "cloudflare_ruleset":
		return s.addRuleset(r.values)
	case "cloudflare_api_token":
		return s.addToken(r.values)
	case "cloudflare_account_token":
		return s.addOwned(r.values)
	}
	return "Seawall does not manage resources of the type " + r.kind
}

func (s *State) addZone(v object) string {
	z := zoneOf(v)
	if z.ID == "" {
		return "it has no id yet"
	}
	s.Zones = append(s.Zones, z)
	return ""
}

// zoneOf is a zone of a resource or a data source; one without an id where it has none.
func zoneOf(v object) edge.Zone {
	id := v.text("id")
	if !edge.ValidID(id) {
		id = v.text("zone_id")
	}
	if !edge.ValidID(id) {
		return edge.Zone{}
	}
	name, account := v.text("name"), v.one("account").text("id")
	if name == "" {
		name = v.text("zone") // version 4
	}
	if account == "" {
		account = v.text("account_id") // version 4
	}
	return edge.Zone{ID: edge.ZoneID(id), Name: name, Account: edge.Account{ID: edge.AccountID(account), Name: v.one("account").text("name")}}
}

func (s *State) addRuleset(v object) string {
	zone := edge.ZoneID(v.text("zone_id"))
	switch phase := v.text("phase"); {
	case phase != string(edge.PhaseFirewallManaged):
		return fmt.Sprintf("its phase is %s; Seawall manages %s", phase, edge.PhaseFirewallManaged)
	case v.text("kind") != string(edge.KindZone) || !edge.ValidID(string(zone)):
		return fmt.Sprintf("it is a ruleset of the kind %q and not of a zone", v.text("kind"))
	}
	if _, twice := s.EntryPoints[zone]; twice {
		return "another resource is the same entry point of the zone"
	}
	entryPoint := edge.Ruleset{ID: edge.RulesetID(v.text("id")), Name: v.text("name"), Kind: edge.KindZone, Phase: edge.PhaseFirewallManaged, Rules: []edge.Rule{}}
	for _, rule := range v.list("rules") {
		entryPoint.Rules = append(entryPoint.Rules, ruleOf(rule))
	}
	s.EntryPoints[zone] = entryPoint
	return ""
}

func ruleOf(v object) edge.Rule {
	rule := edge.Rule{
		ID: edge.RuleID(v.text("id")), Ref: v.text("ref"), Action: edge.Action(v.text("action")),
		Expression: v.text("expression"), Enabled: v.enabled(),
	}
	if p := v.one("action_parameters"); p != nil {
		rule.ActionParameters = &edge.ActionParameters{ID: edge.RulesetID(p.text("id")), Version: p.text("version")}
		if o := p.one("overrides"); o != nil {
			rule.ActionParameters.Overrides = overridesOf(o)
		}
	}
	return rule
}

// overridesOf reads overrides. The provider has empty text and the score 0 for what is not
// set.
func overridesOf(v object) *edge.Overrides {
	o := edge.Overrides{Action: v.action(), Enabled: v.enabled(), SensitivityLevel: v.maybe("sensitivity_level")}
	for _, c := range v.list("categories") {
		o.Categories = append(o.Categories, edge.CategoryOverride{
			Category: c.text("category"), Action: c.action(), Enabled: c.enabled(), SensitivityLevel: c.maybe("sensitivity_level"),
		})
	}
	for _, r := range v.list("rules") {
		one := edge.RuleOverride{ID: edge.RuleID(r.text("id")), Action: r.action(), Enabled: r.enabled(), SensitivityLevel: r.maybe("sensitivity_level")}
		if score, ok := r["score_threshold"].(float64); ok && score != 0 {
			one.ScoreThreshold = new(int(score))
		}
		o.Rules = append(o.Rules, one)
	}
	return &o
}

// complete adds the zones that only a ruleset names, with what the state has looked up of
// them, and gives all zones an account where the state has a single one.
func (s *State) complete() {
	known := map[edge.ZoneID]bool{}
	for _, z := range s.Zones {
		known[z.ID] = true
	}
	var others []edge.ZoneID
	for id := range s.EntryPoints {
		if !known[id] {
			others = append(others, id)
		}
	}
	slices.Sort(others)
	for _, id := range others {
		z := s.looked[id]
		z.ID, z.Name = id, cmp.Or(z.Name, string(id))
		s.Zones = append(s.Zones, z)
	}
	var accounts []edge.AccountID
	for _, z := range s.Zones {
		if z.Account.ID != "" && !slices.Contains(accounts, z.Account.ID) {
			accounts = append(accounts, z.Account.ID)
		}
	}
	for i := range s.Zones {
		if len(accounts) == 1 && s.Zones[i].Account.ID == "" {
			s.Zones[i].Account.ID = accounts[0]
		}
	}
}

func (v object) text(name string) string { text, _ := v[name].(string); return text }

func (v object) maybe(name string) *string {
	if text := v.text(name); text != "" {
		return &text
	}
	return nil
}

func (v object) action() *edge.Action {
	if text := v.text("action"); text != "" {
		return new(edge.Action(text))
	}
	return nil
}

// enabled is absent where it is not said; older versions of the provider have a status.
func (v object) enabled() *bool {
	if truth, ok := v["enabled"].(bool); ok {
		return &truth
	}
	switch v.text("status") {
	case "enabled":
		return new(true)
	case "disabled":
		return new(false)
	}
	return nil
}

// one is an attribute of version 5, or the block of version 4, which is a list of one.
func (v object) one(name string) object {
	switch value := v[name].(type) {
	case map[string]any:
		return value
	case []any:
		if len(value) > 0 {
			one, _ := value[0].(map[string]any)
			return one
		}
	}
	return nil
}

func (v object) list(name string) (all []object) {
	elements, _ := v[name].([]any)
	for _, e := range elements {
		if one, ok := e.(map[string]any); ok {
			all = append(all, one)
		}
	}
	return all
}

func (v object) texts(name string) (all []string) {
	elements, _ := v[name].([]any)
	for _, e := range elements {
		if text, ok := e.(string); ok {
			all = append(all, text)
		}
	}
	return all
}
