package desired

import "iter"

// Member is one value that a deployment declares. Each element of a list is one.
type Member struct {
	Path string // below the deployment: threshold.score
	Of   string // what an element of a list is about; the same in two declarations
	// Value is a bool, an int or a string; of a list a [RuleRef], [TagOverride],
	// [RuleOverride] or [Decision].
	Value  any
	Origin Origin // zero: a default of the schema
}

// Members are the values that a deployment declares, in the order in which people read them.
func (d Deployment) Members() iter.Seq[Member] {
	return func(yield func(Member) bool) {
		_ = yield(Member{"enabled", "", d.Enabled.Value, d.Enabled.Origin}) &&
			one(yield, "version", d.Version) &&
			one(yield, "expression", d.Expression) &&
			one(yield, "expression_drift", plain(d.ExpressionDrift)) &&
			one(yield, "paranoia", d.Paranoia) &&
			d.threshold(yield) && d.disabled(yield) && d.overridden(yield) &&
			one(yield, "unmanaged", plain(d.Unmanaged)) &&
			d.decided(yield) &&
			(!d.Deploy || yield(Member{"deploy", "", true, d.Origin})) &&
			(!d.Prune || yield(Member{"prune", "", true, d.Origin}))
	}
}

func (d Deployment) threshold(yield func(Member) bool) bool {
	t := d.Threshold
	return t == nil || one(yield, "threshold.score", &t.Score) && one(yield, "threshold.action", plain(&t.Action))
}

func (d Deployment) disabled(yield func(Member) bool) bool {
	for _, rule := range d.Disable.Rules {
		if !yield(Member{"disable.rules", rule.Value.String(), rule.Value, rule.Origin}) {
			return false
		}
	}
	for _, tag := range d.Disable.Tags {
		if !yield(Member{"disable.tags", tag.Value, tag.Value, tag.Origin}) {
			return false
		}
	}
	return true
}

func (d Deployment) overridden(yield func(Member) bool) bool {
	o := d.All
	if !one(yield, "all.enabled", o.Enabled) || !one(yield, "all.action", plain(o.Action)) || !one(yield, "all.sensitivity", o.Sensitivity) {
		return false
	}
	for _, tag := range d.Tags {
		if !yield(Member{"tags", tag.Tag, tag, tag.Origin}) {
			return false
		}
	}
	for _, rule := range d.Rules {
		if !yield(Member{"rules", rule.Rule.String(), rule, rule.Origin}) {
			return false
		}
	}
	return true
}

func (d Deployment) decided(yield func(Member) bool) bool {
	for _, one := range d.Decisions {
		if !yield(Member{string(one.Unmanaged), one.About(), one, one.Origin}) {
			return false
		}
	}
	return true
}

func one[T any](yield func(Member) bool, path string, d *Declared[T]) bool {
	return d == nil || yield(Member{path, "", d.Value, d.Origin})
}

// plain is a declared word as a string.
func plain[T ~string](d *Declared[T]) *Declared[string] {
	if d == nil {
		return nil
	}
	return &Declared[string]{string(d.Value), d.Origin}
}
