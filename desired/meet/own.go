package meet

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/expression"
)

// Own are the addresses that a repository names as its own team's: tokens may be used from there.
type Own []ownAddresses

type ownAddresses struct {
	first, last netip.Addr
	said        string // as the condition of the token has them
	token       string // its key
}

// OwnAddresses are those of tokens.
func OwnAddresses(tokens []desired.Token) (own Own) {
	for _, t := range tokens {
		if t.Condition == nil {
			continue
		}
		for _, said := range t.Condition.In {
			first, last, ok := expression.Literal{Kind: expression.Bare, Text: said}.Addresses()
			if ok {
				own = append(own, ownAddresses{first, last, said, t.Key})
			}
		}
	}
	slices.SortFunc(own, func(a, b ownAddresses) int {
		return cmp.Or(strings.Compare(a.token, b.token), strings.Compare(a.said, b.said))
	})
	return own
}

// BlockedIn returns the rules of a zone that name such addresses among those that they block or
// challenge, with what they name.
func (o Own) BlockedIn(zone desired.Zone) (found []Finding) {
	if len(o) == 0 || !slices.ContainsFunc(zone.Others, func(o desired.Other) bool { return strings.Contains(o.Value, "ip.src") }) {
		return nil
	}
	for _, r := range Rules(zone, edge.PhaseFirewallCustom) {
		if !r.Enabled || !r.terminates() || r.expr.Root == nil {
			continue
		}
		if said := o.in(r.expr.Root, r.Action); said != "" {
			found = append(found, Finding{r, said, "leave the address out, or remove it from the condition of the token"})
		}
	}
	return found
}

// in says which of the addresses an expression names, outside of what "not" turns round; empty for
// none.
func (o Own) in(n expression.Node, action string) string {
	switch n := n.(type) {
	case *expression.Group:
		return o.in(n.Of, action)
	case *expression.Logical:
		if n.Op == "xor" {
			return ""
		}
		for _, item := range n.Items {
			if said := o.in(item, action); said != "" {
				return said
			}
		}
	case *expression.Comparison:
		if n.Left.Name != "ip.src" || n.Op != "eq" && n.Op != "in" {
			return ""
		}
		for _, value := range n.Right {
			first, last, ok := value.Addresses()
			if !ok {
				continue
			}
			if own, is := o.meets(first, last); is {
				return fmt.Sprintf("%s is yours: token %q may be used from %s, and %s stops requests from there", value.Text, own.token, own.said, action)
			}
		}
	}
	return ""
}

func (o Own) meets(first, last netip.Addr) (ownAddresses, bool) {
	i := slices.IndexFunc(o, func(own ownAddresses) bool {
		return own.first.Is4() == first.Is4() && own.first.Compare(last) <= 0 && first.Compare(own.last) <= 0
	})
	if i < 0 {
		return ownAddresses{}, false
	}
	return o[i], true
}
