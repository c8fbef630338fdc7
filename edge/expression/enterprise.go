package expression

import "slices"

// ForEnterprise reports whether a condition is only true in zones with the Enterprise plan: it
// asks for the plan itself, or has that among what must be true, or for last at its end. The
// platform takes only such conditions in the entry points of an account: for execute rules
// (waf/account/custom-rulesets/create-api in the vendor's documentation), and at the end of
// those of skip rules (ruleset-engine/managed-rulesets/create-exception).
func ForEnterprise(n Node, last bool) bool {
	switch n := n.(type) {
	case *Group:
		return ForEnterprise(n.Of, last)
	case *Logical:
		if n.Op != "and" {
			return false
		}
		if last {
			return ForEnterprise(n.Items[len(n.Items)-1], last)
		}
		return slices.ContainsFunc(n.Items, func(item Node) bool { return ForEnterprise(item, last) })
	case *Comparison:
		return Write(n) == `cf.zone.plan eq "ENT"`
	}
	return false
}
