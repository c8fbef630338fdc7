package cuefile

import (
	"strings"

	"github.com/seawall-dev/seawall/desired"
)

// tokens declares API tokens, in the shape of the documented request body. There is no
// secret in them.
func (w *fileWriter) tokens() {
	if len(w.Tokens) == 0 {
		return
	}
	p := w.begin()
	for i, t := range w.Tokens {
		if i > 0 {
			p.WriteString("\n")
		}
		p.comment(t.Notes...)
		p.token(t.Token)
	}
	w.add(w.beside("tokens"), p)
}

func (p *printer) token(t desired.Token) {
	p.WriteString("token: " + Label(t.Key) + ": {\n")
	if t.Name != t.Key {
		p.WriteString("name: " + String(t.Name) + "\n")
	}
	if t.Account != "" {
		p.WriteString("account: " + String(t.Account) + "\n")
	}
	p.WriteString("policies: [")
	for i, policy := range t.Policies {
		if i > 0 {
			p.WriteString(", ")
		}
		p.policy(policy)
	}
	p.WriteString("]\n")
	for _, end := range []struct{ name, value string }{{"not_before", t.NotBefore}, {"expires_on", t.ExpiresOn}} {
		if end.value != "" {
			p.WriteString(end.name + ": " + String(end.value) + "\n")
		}
	}
	if c := t.Condition; c != nil {
		p.WriteString("condition: \"request.ip\": {\n")
		p.ranges("in", c.In)
		p.ranges("not_in", c.NotIn)
		p.WriteString("}\n")
	}
	if t.Sink != nil {
		p.WriteString("sink: {name: " + String(t.Sink.Name) + ", key: " + String(t.Sink.Key) + "}\n")
	}
	if r := t.Rotate; r != nil {
		p.WriteString("rotate: {every: " + String(r.Every.String()) + ", overlap: " + String(r.Overlap.String()) + "}\n")
	}
	if t.Prune {
		p.WriteString("prune: true\n")
	}
	p.WriteString("}\n")
}

// TokenText is the text of a declaration.
func TokenText(t desired.Token) string {
	var p printer
	p.token(t)
	return p.String()
}

func (p *printer) policy(policy desired.Policy) {
	p.WriteString("{\neffect: " + String(policy.Effect) + "\nresources: {\n")
	for _, r := range policy.Resources {
		value := `"*"`
		if r.AllZones {
			value = `{"com.vendor.api.account.zone.*": "*"}`
		}
		p.WriteString(String(r.Key) + ": " + value + "\n")
	}
	p.WriteString("}\npermission_groups: [\n")
	for _, g := range policy.PermissionGroups {
		var members []string
		for _, m := range []struct{ name, value string }{{"id", g.ID}, {"name", g.Name}, {"scope", g.Scope}} {
			if m.value != "" {
				members = append(members, m.name+": "+String(m.value))
			}
		}
		p.WriteString("{" + strings.Join(members, ", ") + "},\n")
	}
	p.WriteString("]\n}")
}

func (p *printer) ranges(name string, all []string) {
	if len(all) == 0 {
		return
	}
	items := make([]string, len(all))
	for i, one := range all {
		items[i] = String(one)
	}
	p.WriteString(name + ": [" + strings.Join(items, ", ") + "]\n")
}
