package access

import (
	"net"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// naive decides by listing: each entry of each policy is expanded to the
// targets of the universe it names, and the lists are searched.
func naive(spec edge.TokenSpec, q Question) bool {
	return naiveWindow(spec, q) && naiveAddress(spec, q) && naivePolicies(spec, q)
}

// naiveWindow compares text: the documented form sorts as time does.
func naiveWindow(spec edge.TokenSpec, q Question) bool {
	if q.At.IsZero() {
		return true
	}
	at := q.At.UTC().Format("2006-01-02T15:04:05Z")
	return (spec.NotBefore == "" || spec.NotBefore <= at) && (spec.ExpiresOn == "" || at < spec.ExpiresOn)
}

func naiveAddress(spec edge.TokenSpec, q Question) bool {
	if !q.IP.IsValid() || spec.Condition == nil || spec.Condition.RequestIP == nil {
		return true
	}
	f := spec.Condition.RequestIP
	ip := net.ParseIP(q.IP.String())
	inside := func(text string) bool {
		_, n, err := net.ParseCIDR(text)
		return err == nil && n.Contains(ip)
	}
	if slices.Contains(f.NotIn, "no range") || slices.ContainsFunc(f.NotIn, inside) {
		return false
	}
	return f.In == nil || slices.ContainsFunc(f.In, inside)
}

func naivePolicies(spec edge.TokenSpec, q Question) bool {
	if scopes := naiveScopes(spec, q.Group); scopes != nil && !slices.Contains(scopes, string(q.Target.Type)) {
		return false
	}
	allowed, forbidden := false, false
	for _, p := range spec.Policies {
		for _, g := range p.PermissionGroups {
			for key, breadth := range p.Resources {
				sure, perhaps := naiveExpand(key, breadth)
				switch {
				case g.ID != q.Group:
				case p.Effect == edge.Allow:
					allowed = allowed || slices.Contains(sure, q.Target)
				default:
					forbidden = forbidden || slices.Contains(append(sure, perhaps...), q.Target)
				}
			}
		}
	}
	return allowed && !forbidden
}

func naiveScopes(spec edge.TokenSpec, id string) (scopes []string) {
	for _, p := range spec.Policies {
		for _, g := range p.PermissionGroups {
			if g.ID == id {
				scopes = append(scopes, g.Scopes...)
			}
		}
	}
	return scopes
}

// naiveExpand lists what an entry names, and what it may name if nobody but the
// platform can read it.
func naiveExpand(key string, b edge.Breadth) (sure, perhaps []Target) {
	selected := func(keep func(Target) bool) (list []Target) {
		for _, t := range targets {
			if keep(t) {
				list = append(list, t)
			}
		}
		return list
	}
	below := strings.TrimSuffix(strings.TrimPrefix(key, "com.vendor.api."), "*")
	named := selected(func(t Target) bool {
		switch t.Type {
		case TypeAccount:
			return below == "account." || below == "account."+string(t.Account)
		case TypeZone:
			return below == "account.zone." || below == "account.zone."+string(t.Zone)
		}
		return below == "user."+t.User
	})
	zonesBelow := selected(func(t Target) bool {
		return t.Type == TypeZone && (below == "account." || below == "account."+string(t.Account))
	})
	switch {
	case !slices.Contains(documentedKeys, key):
		return nil, targets
	case b.Other == nil && !b.AllZones:
		return named, nil
	case b.Other == nil && strings.HasPrefix(below, "account.0"):
		return zonesBelow, nil
	}
	return nil, append(named, zonesBelow...)
}
