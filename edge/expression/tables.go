package expression

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed fields.txt
var fieldsText string

//go:embed functions.txt
var functionsText string

// Field is what a request has, under a name.
type Field struct {
	Name   string
	Type   Type
	Plan   string   // the least plan that has it; empty for any
	AddOn  bool     // the plan needs an add-on
	Phases []string // groups of phases that have it; empty for all
	Source string   // where it is documented: the letter is explained in fields.txt
	Is     string   // what it is, in a few words
}

// Function makes a value of others.
type Function struct {
	Name      string
	Signature string // "lower(String)": what it takes, without what it returns
	Params    []Param
	Returns   Type     // "First" is the type of the first argument
	Phases    []string // groups of phases that have it; empty for all
	More      bool     // there are more phases than the documents name
	Source    string   // as that of a field, explained in functions.txt
	Is        string   // what it returns
}

// Param is what a function takes at one place.
type Param struct {
	Types     []Type // one of them; empty for any
	Literal   bool   // it must be a literal
	NoLiteral bool   // it must be none
	Optional  bool
	Repeats   bool // there may be none, or many
}

// Fields are all fields that are known, by name.
var Fields = sync.OnceValue(func() map[string]Field {
	fields := map[string]Field{}
	for _, c := range rows(fieldsText, 6) {
		plan, addOn := strings.CutSuffix(c[2], "+")
		fields[c[0]] = Field{
			Name: c[0], Type: Type(c[1]).plain(), Plan: plan, AddOn: addOn, Phases: strings.Fields(c[3]), Source: c[4], Is: c[5],
		}
	}
	return fields
})

// Functions are all functions that are known, by name.
var Functions = sync.OnceValue(func() map[string]Function {
	functions := map[string]Function{}
	for _, c := range rows(functionsText, 4) {
		name, rest, _ := strings.Cut(c[0], "(")
		params, returns, ok := strings.Cut(rest, ") ")
		if !ok {
			panic(fmt.Sprintf("expression: %q is no signature", c[0]))
		}
		f := Function{Name: name, Returns: Type(returns).plain(), Source: c[2], Is: c[3]}
		f.Signature = strings.NewReplacer("!", "", "~", "").Replace(name + "(" + params + ")")
		for group := range strings.FieldsSeq(c[1]) {
			if f.More = group == "*"; !f.More {
				f.Phases = append(f.Phases, group)
			}
		}
		for param := range strings.SplitSeq(params, ", ") {
			f.Params = append(f.Params, paramOf(param))
		}
		functions[name] = f
	}
	return functions
})

func paramOf(text string) (p Param) {
	for cut := true; cut; {
		switch {
		case cutSuffix(&text, "!"):
			p.Literal = true
		case cutSuffix(&text, "~"):
			p.NoLiteral = true
		case cutSuffix(&text, "?"):
			p.Optional = true
		case cutSuffix(&text, "…"):
			p.Repeats = true
		default:
			cut = false
		}
	}
	if text == "Any" {
		return p
	}
	for one := range strings.SplitSeq(text, " or ") {
		p.Types = append(p.Types, Type(one).plain())
	}
	return p
}

func cutSuffix(text *string, suffix string) (cut bool) {
	*text, cut = strings.CutSuffix(*text, suffix)
	return cut
}

// rows are the rows of a table, each with as many cells; "-" is an empty one.
func rows(table string, cells int) (all [][]string) {
	for line := range strings.Lines(table) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		row := strings.Split(line, " | ")
		if len(row) != cells {
			panic(fmt.Sprintf("expression: %q has %d cells, not %d", line, len(row), cells))
		}
		for i, cell := range row {
			if cell == "-" {
				row[i] = ""
			}
		}
		all = append(all, row)
	}
	return all
}

// names are the names of a table, sorted.
func names[T any](table map[string]T) []string {
	all := make([]string, 0, len(table))
	for name := range table {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// Phases are those of the vendor's API.
var Phases = strings.Fields(`ddos_l4 ddos_l7 http_config_settings http_custom_errors http_log_custom_fields http_ratelimit
	http_request_cache_settings http_request_dynamic_redirect http_request_firewall_custom http_request_firewall_managed
	http_request_late_transform http_request_origin http_request_redirect http_request_sanitize http_request_sbfm
	http_request_transform http_response_cache_settings http_response_compression http_response_firewall_managed
	http_response_headers_transform magic_transit magic_transit_ids_managed magic_transit_managed magic_transit_ratelimit`)

// phases are the groups of phases that the tables name.
var phases = map[string][]string{
	"custom":    {"http_request_firewall_custom"},
	"ratelimit": {"http_ratelimit"},
	"transform": {"http_request_transform", "http_request_late_transform", "http_response_headers_transform"},
	"redirect":  {"http_request_redirect", "http_request_dynamic_redirect"},
	"errors":    {"http_custom_errors"},
	"response": {
		"http_response_headers_transform", "http_response_compression", "http_response_cache_settings", "http_response_firewall_managed",
		"http_log_custom_fields",
	},
	"packets": {"magic_transit", "magic_transit_ids_managed", "magic_transit_managed", "magic_transit_ratelimit", "ddos_l4"},
}

// has reports whether groups of phases have a phase: none stands for all of them.
func has(groups []string, phase string) bool {
	return len(groups) == 0 || slices.ContainsFunc(groups, func(group string) bool { return slices.Contains(phases[group], phase) })
}

// Plans are those that [For] takes, from the least to the highest.
var Plans = []string{"free", "pro", "business", "enterprise"}
