package terraform

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/jsontext"
)

// Plan reads a plan or a state as "terraform show -json" writes it, or a
// state file of version 4, resource by resource. Resources of the vendor's
// provider that stand for calls become these calls (provider.go); what else the
// document holds, secrets among it, is passed over.
func Plan(r *bufio.Reader, s *call.Sink) error {
	t := &document{Stream: jsontext.New(r), sink: s}
	err := t.Object(func(key string, _ int) error { return t.member(key) })
	s.Stats.Lines = t.Line
	if err != nil {
		return err
	}
	return t.End()
}

// document is a plan or a state as it is being read.
type document struct {
	*jsontext.Stream
	sink *call.Sink
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

// modules bounds how deep modules may lie within each other.
const modules = 500

// resourceLimit bounds the text of one resource.
const resourceLimit = 16 << 20

func (t *document) member(key string) error {
	switch key {
	case "resources":
		return t.Array(func() error { return each(t, stateResource.instances) })
	case "resource_changes":
		return t.Array(func() error { return each(t, plannedChange.instances) })
	case "values":
		return t.values(false)
	case "prior_state": // a plan's resource_changes leave data sources out that are already read
		return t.Object(func(key string, _ int) error {
			if key != "values" {
				return t.Skip()
			}
			return t.values(true)
		})
	case "modules":
		return fmt.Errorf("a state of version 3 or older: let a newer Terraform rewrite it, or use terraform show -json")
	}
	return t.Skip()
}

// values reads the tree of modules. dataOnly leaves managed resources out.
func (t *document) values(dataOnly bool) error {
	return t.Object(func(key string, _ int) error {
		if key != "root_module" {
			return t.Skip()
		}
		return t.module(dataOnly, 0)
	})
}

func (t *document) module(dataOnly bool, depth int) error {
	if depth > modules {
		return fmt.Errorf("modules nested more than %d deep", modules)
	}
	return t.Object(func(key string, _ int) error {
		switch key {
		case "resources":
			return t.Array(func() error {
				return each(t, func(r shownResource) []resource {
					if dataOnly && r.Mode != "data" {
						return nil
					}
					return r.instances()
				})
			})
		case "child_modules":
			return t.Array(func() error { return t.module(dataOnly, depth+1) })
		}
		return t.Skip()
	})
}

// each reads one element and hands on the calls of the resources it stands for.
func each[T any](t *document, instances func(T) []resource) error {
	text, cut, err := t.Raw(resourceLimit)
	if err != nil {
		return err
	}
	var element T
	if cut || json.Unmarshal(text, &element) != nil {
		t.sink.Skip(0, "a resource that is too long or of an unknown form")
		return nil //nolint:nilerr // it is counted as skipped
	}
	t.sink.Stats.Lines++
	for _, r := range instances(element) {
		for _, c := range r.calls() {
			t.sink.Offer(c)
		}
	}
	return t.sink.Stopped
}

// stateResource is an element of "resources" in a state file of version 4.
type stateResource struct {
	Module, Mode, Type, Name string
	Instances                []struct {
		IndexKey   any `json:"index_key"`
		Attributes map[string]any
	}
}

func (r stateResource) instances() []resource {
	var all []resource
	for _, i := range r.Instances {
		address := r.Type + "." + r.Name + index(i.IndexKey)
		if r.Mode == "data" {
			address = "data." + address
		}
		if r.Module != "" {
			address = r.Module + "." + address
		}
		all = append(all, resource{address: address, kind: r.Type, data: r.Mode == "data", values: i.Attributes})
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

// plannedChange is an element of "resource_changes".
type plannedChange struct {
	Address, Mode, Type string
	Change              struct {
		Actions       []string
		Before, After map[string]any
	}
}

func (p plannedChange) instances() []resource {
	values := p.Change.After
	if values == nil {
		values = p.Change.Before
	}
	return []resource{{address: p.Address, kind: p.Type, data: p.Mode == "data", actions: p.Change.Actions, values: values}}
}

// shownResource is an element of "resources" in a tree of modules.
type shownResource struct {
	Address, Mode, Type string
	Values              map[string]any
}

func (r shownResource) instances() []resource {
	return []resource{{address: r.Address, kind: r.Type, data: r.Mode == "data", values: r.Values}}
}

func (r resource) does(action string) bool { return slices.Contains(r.actions, action) }

// onlyGoes reports whether the plan removes the resource and nothing else.
func (r resource) onlyGoes() bool { return len(r.actions) == 1 && r.does("delete") }
