package desired

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

// Declaration says how a kind beside deployments is declared in a zone, or in an account for
// the account itself: below a path there is a struct by key, and in it the members.
type Declaration struct {
	Kind KindName
	Path []string // rules, custom; [OfDeployment] is the key of a deployment
	Word string   // what people call one; empty: the name of the kind
	// Members are the paths of what one can declare, in the order in which people read them.
	// prune, which any kind can have, is not among them.
	Members []string
	// Expression and Counting are the members that are expressions of what a rule in Phase is
	// for, and of what it counts; empty for none.
	Expression, Counting string
	Phase                edge.Phase
	// Skips says that each of them is a skip rule, whatever it declares: it takes from protection,
	// and to lose some is no loss.
	Skips bool
	// Decides are the members that are never live themselves; as [MemberOf.Decides]. Until is the
	// one of them that is the last day on which it acts, and Owner the one that says who answers
	// for it; empty for none.
	Decides      []string
	Until, Owner string
}

// OfDeployment stands in a path for the key of the deployment that something is declared at.
const OfDeployment = "*"

// Declarations lists the kinds that are declared so. It is the only list: whatever reads them
// from CUE, writes them there, shows them or asks for an origin goes by it. What the values
// mean only the kind knows.
var Declarations = []Declaration{
	{Kind: CustomRule, Path: []string{"rules", "custom"}, Word: "custom rule", Expression: "expression", Phase: edge.PhaseFirewallCustom, Members: []string{
		"description", "enabled", "expression", "action", "response.status", "response.type", "response.content",
		"skip.ruleset", "skip.phases", "skip.products", "logging", "execute", "order",
	}},
	{Kind: RateLimit, Path: []string{"rules", "rate_limit"}, Word: "rate limit", Expression: "expression", Counting: "limit.counting", Phase: edge.PhaseRateLimit, Members: []string{
		"description", "enabled", "expression", "action", "response.status", "response.type", "response.content",
		"limit.characteristics", "limit.period", "limit.requests", "limit.timeout", "limit.counting", "limit.to_origin", "execute", "order",
	}},
	{
		Kind: Exception, Path: []string{"waf", OfDeployment, "exceptions"}, Expression: "expression", Phase: edge.PhaseFirewallManaged, Skips: true,
		Members: []string{"description", "enabled", "expression", "skip", "logging", "owner", "until", "order"},
		Decides: []string{"owner", "until"}, Until: "until", Owner: "owner",
	},
}

// The kinds of rules that stand in an order.
const (
	CustomRule KindName = "custom"
	RateLimit  KindName = "rate_limit"
	Exception  KindName = "exception"
)

// Declaring is what declares members: a [Deployment], or an [Other].
type Declaring interface{ Members() iter.Seq[Member] }

// prune is the path of [Other.Prune] in CUE.
const prune = "prune"

// NewOther is what a kind declares by a key, with members by their paths. Two that declare the
// same are equal, whatever order members are in.
func NewOther(kind KindName, key string, at Origin, values map[string]any) (Other, error) {
	o := Other{Kind: kind, Key: key, Origin: at}
	o.Prune, _ = values[prune].(bool)
	values = maps.Clone(values)
	delete(values, prune)
	data, err := json.Marshal(values)
	o.Value = string(data)
	return o, err
}

// Skips reports whether it declares a skip rule.
func (o Other) Skips() bool {
	return o.Kind.Skips() || o.Text("action") == string(edge.ActionSkip)
}

// Skips reports whether each of the kind is a skip rule.
func (k KindName) Skips() bool {
	return slices.ContainsFunc(Declarations, func(d Declaration) bool { return d.Kind == k && d.Skips })
}

// Declaration is that of the kind; the zero value for one that is not listed.
func (o Other) Declaration() Declaration {
	for _, d := range Declarations {
		if d.Kind == o.Kind {
			return d
		}
	}
	return Declaration{Kind: o.Kind, Path: []string{string(o.Kind)}}
}

// Path is where it is declared, below the zone or the account.
func (o Other) Path() []string {
	path := append(slices.Clone(o.Declaration().Path), o.Key)
	for i, label := range path[:len(path)-1] {
		if label == OfDeployment {
			path[i] = o.Of
		}
	}
	return path
}

// Phase is that of the rules of its kind.
func (o Other) Phase() edge.Phase { return o.Declaration().Phase }

// Text is the text that it declares at a path without dots; empty for none.
func (o Other) Text(path string) string {
	text, _ := o.values()[path].(string)
	return text
}

// Ends is when it ends by itself, after its last day by UTC; false where it has no end.
func (o Other) Ends() (end time.Time, has bool) {
	until := o.Declaration().Until
	if until == "" {
		return end, false
	}
	last, err := time.Parse(time.DateOnly, o.Text(until))
	return last.AddDate(0, 0, 1), err == nil
}

// Answers is who answers for it, of a kind that asks for that.
func (o Other) Answers() (owner string, asked bool) {
	member := o.Declaration().Owner
	return o.Text(member), member != ""
}

// Members are the values that are declared, in the order in which people read them. Each is
// what JSON has.
func (o Other) Members() iter.Seq[Member] {
	return func(yield func(Member) bool) {
		values, d := o.values(), o.Declaration()
		for _, path := range d.Members {
			value, declared := take(values, strings.Split(path, "."))
			if declared && !yield(Member{Path: path, Value: value, Origin: o.Places[path], Decides: slices.Contains(d.Decides, path)}) {
				return
			}
		}
		for _, path := range slices.Sorted(maps.Keys(values)) {
			if !yield(Member{Path: path, Value: values[path], Origin: o.Places[path]}) {
				return
			}
		}
		if o.Prune {
			yield(Member{Path: prune, Value: true, Origin: o.Places[prune], Decides: true})
		}
	}
}

// values are the members as JSON has them; none of what is no JSON.
func (o Other) values() (values map[string]any) {
	d := json.NewDecoder(bytes.NewReader([]byte(o.Value)))
	d.UseNumber()
	_ = d.Decode(&values)
	return values
}

// take returns the value at a path, and takes it out.
func take(values map[string]any, path []string) (value any, is bool) {
	value, is = values[path[0]]
	if is && len(path) > 1 {
		below, _ := value.(map[string]any)
		if value, is = take(below, path[1:]); len(below) > 0 {
			return value, is
		}
	}
	delete(values, path[0])
	return value, is
}
