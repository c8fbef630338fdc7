package terraform

import (
	"bufio"
	"encoding/json"
	"errors"
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
	t := &planReader{Stream: jsontext.New(r), sink: s}
	err := t.object(false, 0)
	s.Stats.Lines = t.Line
	if err != nil {
		return err
	}
	return t.End()
}

// planReader is a plan or a state as it is being read.
type planReader struct {
	*jsontext.Stream
	sink *call.Sink
}

// modules bounds how deep modules may lie within each other.
const modules = 500

// resourceLimit bounds the text of one resource.
const resourceLimit = 16 << 20

// object reads the document, or what of it holds resources. dataOnly leaves managed
// resources out.
func (t *planReader) object(dataOnly bool, depth int) error {
	if depth > modules {
		return fmt.Errorf("modules nested more than %d deep", modules)
	}
	return t.Object(func(key string, _ int) error {
		switch key {
		case "resources", "resource_changes":
			return t.Array(func() error { return t.element(dataOnly) })
		case "values", "root_module":
			return t.object(dataOnly, depth+1)
		case "prior_state": // a plan's resource_changes leave data sources out that are already read
			return t.object(true, depth+1)
		case "child_modules":
			return t.Array(func() error { return t.object(dataOnly, depth+1) })
		case "modules":
			return errors.New("a state of version 3 or older: let a newer Terraform rewrite it, or use terraform show -json")
		}
		return t.Skip()
	})
}

// element reads one resource and hands on the calls of its instances.
func (t *planReader) element(dataOnly bool) error {
	text, cut, err := t.Raw(resourceLimit)
	if err != nil {
		return err
	}
	var e element
	if cut || json.Unmarshal(text, &e) != nil {
		t.sink.Skip(0, "a resource that is too long or of an unknown form")
		return nil //nolint:nilerr // it is counted as skipped
	}
	t.sink.Stats.Lines++
	if dataOnly && e.Mode != "data" {
		return nil
	}
	for _, r := range e.resources() {
		for _, c := range r.calls() {
			t.sink.Offer(c)
		}
	}
	return t.sink.Stopped
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
