package compile

import (
	"slices"

	"github.com/seawall-dev/seawall/desired"
)

// restamped returns the unit with every origin at commit. The unit itself
// stays as it is: it may be kept and merged again for the next commit, when its
// files are the same.
func (u Unit) restamped(commit string) Unit {
	return u.mapped(commit, func(o desired.Origin) desired.Origin {
		if !o.IsZero() {
			o.Commit = commit
		}
		return o
	})
}

type mapping func(desired.Origin) desired.Origin

func (u Unit) mapped(commit string, f mapping) Unit {
	u.Commit = commit
	u.Accounts = each(u.Accounts, f.account)
	u.Tokens = each(u.Tokens, f.token)
	u.User = pointer(u.User, f)
	u.Integrations = each(u.Integrations, f.integration)
	u.Calendar = each(u.Calendar, func(e desired.CalendarEntry) desired.CalendarEntry { e.Origin = f(e.Origin); return e })
	u.Named = each(u.Named, func(n NamedUser) NamedUser { n.Origin = f(n.Origin); return n })
	u.Problems = each(u.Problems, func(p desired.Problem) desired.Problem { p.Origin = f(p.Origin); return p })
	return u
}

func (f mapping) account(a desired.Account) desired.Account {
	a.Origin = f(a.Origin)
	a.Rulesets = each(a.Rulesets, func(r desired.RulesetRef) desired.RulesetRef { r.Origin = f(r.Origin); return r })
	a.Zones = each(a.Zones, f.zone)
	return a
}

func (f mapping) zone(z desired.Zone) desired.Zone {
	z.Origin = f(z.Origin)
	z.Deployments = each(z.Deployments, f.deployment)
	return z
}

func (f mapping) deployment(d desired.Deployment) desired.Deployment {
	d.Origin = f(d.Origin)
	d.Enabled = value(d.Enabled, f)
	d.Expression = pointer(d.Expression, f)
	d.Version = pointer(d.Version, f)
	d.Paranoia = pointer(d.Paranoia, f)
	if d.Threshold != nil {
		d.Threshold = &desired.Threshold{Score: value(d.Threshold.Score, f), Action: value(d.Threshold.Action, f)}
	}
	d.Disable.Rules = each(d.Disable.Rules, func(v desired.Declared[desired.RuleRef]) desired.Declared[desired.RuleRef] { return value(v, f) })
	d.Disable.Tags = each(d.Disable.Tags, func(v desired.Declared[string]) desired.Declared[string] { return value(v, f) })
	d.All = f.override(d.All)
	d.Tags = each(d.Tags, func(o desired.TagOverride) desired.TagOverride {
		o.Origin, o.Override = f(o.Origin), f.override(o.Override)
		return o
	})
	d.Rules = each(d.Rules, func(o desired.RuleOverride) desired.RuleOverride {
		o.Origin, o.Override = f(o.Origin), f.override(o.Override)
		return o
	})
	d.Unmanaged = pointer(d.Unmanaged, f)
	d.ExpressionDrift = pointer(d.ExpressionDrift, f)
	d.Decisions = each(d.Decisions, func(v desired.Decision) desired.Decision { v.Origin = f(v.Origin); return v })
	return d
}

func (f mapping) override(o desired.Override) desired.Override {
	o.Enabled = pointer(o.Enabled, f)
	o.Action = pointer(o.Action, f)
	o.Sensitivity = pointer(o.Sensitivity, f)
	o.Score = pointer(o.Score, f)
	return o
}

func (f mapping) token(t desired.Token) desired.Token {
	t.Origin, t.Places = f(t.Origin), moved(t.Places, f)
	t.Policies = each(t.Policies, func(p desired.Policy) desired.Policy { p.Origin = f(p.Origin); return p })
	return t
}

// moved are the places that are somewhere still; nil for none.
func moved(places map[string]desired.Origin, f mapping) map[string]desired.Origin {
	var out map[string]desired.Origin
	for path, at := range places {
		if at = f(at); !at.IsZero() {
			if out == nil {
				out = make(map[string]desired.Origin, len(places))
			}
			out[path] = at
		}
	}
	return out
}

func each[T any](list []T, f func(T) T) []T {
	list = slices.Clone(list)
	for i := range list {
		list[i] = f(list[i])
	}
	return list
}

func value[T any](v desired.Declared[T], f mapping) desired.Declared[T] {
	v.Origin = f(v.Origin)
	return v
}

func pointer[T any](v *desired.Declared[T], f mapping) *desired.Declared[T] {
	if v == nil {
		return nil
	}
	out := value(*v, f)
	return &out
}
