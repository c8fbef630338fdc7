package expression

import (
	"fmt"
	"net/netip"
	"strings"
)

// Findings are what an expression says that the platform takes, and that may not be meant: the
// same condition or value twice, an address that no client has, the name of a header that there
// never is. They are in the order of the tree.
func Findings(e Expr) []Mistake {
	var found []Mistake
	note := func(at Span, message, hint string) {
		found = append(found, Mistake{at, message, hint, Noted})
	}
	Walk(e.Root, func(n Node) {
		switch n := n.(type) {
		case *Logical:
			if n.Op != "xor" { // there the second one takes the first one back
				twice(n.Items, note)
			}
		case *Comparison:
			values(n, note)
		case *Term:
			headerKeys(n, note)
		}
	})
	return found
}

// twice notes the conditions that stand in a list already.
func twice(items []Node, note func(Span, string, string)) {
	seen := map[string]bool{}
	for _, item := range items {
		inner := item
		for group, is := inner.(*Group); is; group, is = inner.(*Group) {
			inner = group.Of
		}
		text := Write(inner)
		if seen[text] {
			note(item.Where(), fmt.Sprintf("%s stands here twice", text), "remove one of them")
		}
		seen[text] = true
	}
}

// values notes values that a set has already, and addresses that no client has.
func values(n *Comparison, note func(Span, string, string)) {
	seen := map[string]bool{}
	for _, value := range n.Right {
		text := value.written(n.Op == "matches")
		if seen[text] {
			note(value.Span, fmt.Sprintf("%s is in the set twice", text), "remove one of them")
		}
		seen[text] = true
		if n.Left.Name != "ip.src" || len(n.Left.Indexes) > 0 {
			continue
		}
		if first, last, ok := value.Addresses(); ok && first != last || ok && first.IsValid() {
			if kind := privateKind(first); kind != "" && kind == privateKind(last) {
				note(value.Span, fmt.Sprintf("%s is %s: no client connects from there", text, kind), "ip.src is the address that the platform sees")
			}
		}
	}
}

var shared = netip.MustParsePrefix("100.64.0.0/10")

// privateKind is why an address is none of a client on the internet; empty if it may be one.
func privateKind(a netip.Addr) string {
	a = a.Unmap()
	switch {
	case a.IsPrivate():
		return "private"
	case a.IsLoopback():
		return "this machine itself"
	case a.IsLinkLocalUnicast():
		return "of a local link"
	case shared.Contains(a):
		return "shared by a provider's customers"
	}
	return ""
}

// headerKeys notes a key of a header that is not in lower case, as all of them are.
func headerKeys(n *Term, note func(Span, string, string)) {
	if n.Name != "http.request.headers" && n.Name != "http.response.headers" || len(n.Indexes) == 0 {
		return
	}
	if i := n.Indexes[0]; i.Kind == Key && i.Key != strings.ToLower(i.Key) {
		note(i.Span, fmt.Sprintf("no header has the key %q: keys are in lower case", i.Key), fmt.Sprintf("write %q", strings.ToLower(i.Key)))
	}
}
