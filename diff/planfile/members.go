package planfile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/edge/visible"
)

// savedChange is a change in the JSON form of a plan, as far as differences are told
// from it.
type savedChange struct {
	Account    string       `json:"account"`
	Zone       string       `json:"zone"`
	Deployment string       `json:"deployment"`
	Token      string       `json:"token"`
	Action     diff.Action  `json:"action"`
	Fields     []diff.Field `json:"fields"`
	Request    *struct {
		Body any `json:"body"`
	} `json:"request"`
	Refused *diff.Refusal `json:"refused"`
}

// changesOf reads the changes of a plan that would be sent, by their operation; nil
// where the plan is not in the JSON form of one.
func changesOf(plan any) map[string]savedChange {
	data, err := json.Marshal(plan)
	if err != nil {
		return nil
	}
	var p struct {
		Changes []savedChange `json:"changes"`
	}
	if json.Unmarshal(data, &p) != nil {
		return nil
	}
	changes := map[string]savedChange{}
	for _, c := range p.Changes {
		if c.Refused == nil && c.Request != nil {
			about := diff.NameOf(c.Account, c.Zone, c.Deployment, c.Token)
			changes[SavedOperation{About: about, Action: c.Action}.subject()] = c
		}
	}
	return changes
}

// subject tells an operation from others of its plan, whatever it would write.
func (o SavedOperation) subject() string { return o.About + "\n" + string(o.Action) }

// mostMembers bounds how many members are named for one operation.
const mostMembers = 5

// differing names in what two forms of one change differ, behind a colon: each member
// with its old and its new value, then and now. A zero change is one that is not made.
// It is empty where no member tells them apart.
func differing(then, now savedChange) string {
	if then.Request == nil || now.Request == nil {
		return listed(wholly(append(then.Fields, now.Fields...)))
	}
	texts := fieldDifferences(then.Fields, now.Fields)
	if len(texts) == 0 {
		texts = bodyDifferences(then.Request.Body, now.Request.Body)
	}
	return listed(texts)
}

// listed joins texts behind a colon, not too many.
func listed(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	if more := len(texts) - mostMembers; more > 0 {
		texts = append(texts[:mostMembers:mostMembers], fmt.Sprintf("%d more", more))
	}
	return ": " + strings.Join(texts, "; ")
}

// wholly lists the fields of a change that is in one of two plans only.
func wholly(fields []diff.Field) (texts []string) {
	for _, f := range fields {
		texts = append(texts, fmt.Sprintf("%s %s → %s", render.Subject(f.Path), render.Value(f.Old), render.Value(f.New)))
	}
	return texts
}

func fieldDifferences(then, now []diff.Field) (texts []string) {
	was, is := transitions(then), transitions(now)
	paths := maps.Clone(was)
	maps.Copy(paths, is)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		before, planned := was[path]
		after, due := is[path]
		switch {
		case before == after:
		case !planned:
			texts = append(texts, fmt.Sprintf("%s no change in the plan, %s now", render.Subject(path), after))
		case !due:
			texts = append(texts, fmt.Sprintf("%s %s in the plan, no change now", render.Subject(path), before))
		default:
			texts = append(texts, fmt.Sprintf("%s %s in the plan, %s now", render.Subject(path), before, after))
		}
	}
	return texts
}

// transitions say what becomes of each member.
func transitions(fields []diff.Field) map[diff.Member]string {
	said := make(map[diff.Member]string, len(fields))
	for _, f := range fields {
		said[f.Path] = render.Value(f.Old) + " → " + render.Value(f.New)
	}
	return said
}

// bodyDifferences are those in what would be sent. It is for what no field shows: the
// members of a rule that stay as they are go along with the others.
func bodyDifferences(then, now any) (texts []string) {
	was, is := map[string]string{}, map[string]string{}
	flatten("", then, was)
	flatten("", now, is)
	paths := maps.Clone(was)
	maps.Copy(paths, is)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if before, after := was[path], is[path]; before != after {
			texts = append(texts, fmt.Sprintf("%s in the request: %s in the plan, %s now", visible.Text(path), orUnset(before), orUnset(after)))
		}
	}
	return texts
}

func orUnset(text string) string {
	if text == "" {
		return render.Value(nil)
	}
	return text
}

// flatten lists the leaves of a JSON value by their path.
func flatten(path string, v any, into map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			flatten(strings.TrimPrefix(path+"."+name, "."), member, into)
		}
	case []any:
		for i, member := range v {
			flatten(fmt.Sprintf("%s[%d]", path, i), member, into)
		}
	default:
		into[path] = render.Value(v)
	}
}
