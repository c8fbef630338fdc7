package terraform

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// Plan reads a plan or a state as "terraform show -json" writes it, or a
// state file of version 4, resource by resource. Resources of the vendor's
// provider that stand for calls become these calls (provider.go); what else the
// document holds, secrets among it, is passed over.
func Plan(text []byte, out *call.Sink) error {
	var d part
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	if d.Modules != nil {
		return errors.New("a state of version 3 or older: let a newer Terraform rewrite it, or use terraform show -json")
	}
	d.calls(false, out)
	return nil
}

// part is a plan or a state, or what of it holds resources.
type part struct {
	Resources    []json.RawMessage `json:"resources"`
	Changes      []json.RawMessage `json:"resource_changes"`
	Values       *part             `json:"values"`
	RootModule   *part             `json:"root_module"`
	ChildModules []*part           `json:"child_modules"`
	PriorState   *part             `json:"prior_state"`
	Modules      json.RawMessage   `json:"modules"`
}

// calls hands on the calls of the resources. dataOnly leaves managed ones out.
func (d *part) calls(dataOnly bool, out *call.Sink) {
	if d == nil {
		return
	}
	for _, text := range slices.Concat(d.Resources, d.Changes) {
		var e element
		if json.Unmarshal(text, &e) != nil {
			out.Skip(0, "a resource of an unknown form")
			continue
		}
		if dataOnly && e.Mode != "data" {
			continue
		}
		for _, r := range e.resources() {
			for _, c := range r.calls() {
				out.Offer(c)
			}
		}
	}
	for _, inner := range append(d.ChildModules, d.Values, d.RootModule) {
		inner.calls(dataOnly, out)
	}
	d.PriorState.calls(true, out) // a plan's resource_changes leave data sources out that are already read
}

// resource is one instance of a resource, from whichever kind of document.
type resource struct {
	address string
	line    int       // of its block in a configuration; 0 elsewhere
	span    call.Span // likewise
	kind    string    // cloudflare_filter
	data    bool      // a data source: it is only read
	// actions is what a plan will do; empty in a state, where all that is known is
	// that the next run reads it.
	actions []string
	values  map[string]any
}

// element is one of "resources" in a state file of version 4, which has instances, one of
// "resource_changes", which has a change, or one of "resources" in a tree of modules.
type element struct {
	Address, Module, Mode, Type, Name string
	Values                            map[string]any
	Change                            *struct {
		Actions       []string
		Before, After map[string]any
	}
	Instances []struct {
		IndexKey   any `json:"index_key"`
		Attributes map[string]any
	}
}

func (e element) resources() []resource {
	r := resource{address: e.Address, kind: e.Type, data: e.Mode == "data", values: e.Values}
	if e.Change != nil {
		r.actions, r.values = e.Change.Actions, e.Change.After
		if r.values == nil {
			r.values = e.Change.Before
		}
	}
	if e.Address != "" {
		return []resource{r}
	}
	prefix := ""
	if e.Module != "" {
		prefix = e.Module + "."
	}
	if r.data {
		prefix += "data."
	}
	var all []resource
	for _, i := range e.Instances {
		r.address, r.values = prefix+e.Type+"."+e.Name+index(i.IndexKey), i.Attributes
		all = append(all, r)
	}
	return all
}

// index writes the key of count (a number) or for_each (a string).
func index(key any) string {
	switch key := key.(type) {
	case float64:
		return "[" + strconv.FormatFloat(key, 'f', -1, 64) + "]"
	case string:
		return "[" + strconv.Quote(key) + "]"
	}
	return ""
}

func (r resource) does(action string) bool { return slices.Contains(r.actions, action) }

// onlyGoes reports whether the plan removes the resource and nothing else.
func (r resource) onlyGoes() bool { return len(r.actions) == 1 && r.does("delete") }
