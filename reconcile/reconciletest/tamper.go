package reconciletest

import (
	"context"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// Send is what the platform would do with a write.
type Send = func() (*edge.Ruleset, error)

// Tamper stands before a platform. A hook that is nil lets calls pass. Hooks see calls side
// by side where they are made so.
type Tamper struct {
	*mem.Platform
	List    func(edge.AccountID) error
	Lists   func([]edge.Ruleset) []edge.Ruleset // what a list has instead
	Managed func() error
	Read    func(edge.Scope) error
	Look    func(edge.Place) error // of earlier phases than that of deployments
	Write   func(ctx context.Context, zone edge.Scope, send Send) (*edge.Ruleset, error)
	Deploy  func(send Send) (*edge.Ruleset, error) // of calls that add and delete rules
}

// Rulesets implements [edge.Reader].
func (p *Tamper) Rulesets(ctx context.Context, scope edge.Scope) ([]edge.Ruleset, error) {
	if p.List != nil {
		if err := p.List(edge.AccountID(scope.ID)); err != nil {
			return nil, err
		}
	}
	all, err := p.Platform.Rulesets(ctx, scope)
	if p.Lists != nil {
		all = p.Lists(all)
	}
	return all, err
}

// Ruleset implements [edge.Reader].
func (p *Tamper) Ruleset(ctx context.Context, scope edge.Scope, id edge.RulesetID) (edge.Ruleset, error) {
	if p.Managed != nil {
		if err := p.Managed(); err != nil {
			return edge.Ruleset{}, err
		}
	}
	return p.Platform.Ruleset(ctx, scope, id)
}

// EntryPoint implements [edge.Reader].
func (p *Tamper) EntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	read := func() error { return nil }
	switch {
	case phase != edge.PhaseFirewallManaged && p.Look != nil:
		read = func() error { return p.Look(scope.At(phase)) }
	case p.Read != nil:
		read = func() error { return p.Read(scope) }
	}
	if err := read(); err != nil {
		return edge.Ruleset{}, err
	}
	return p.Platform.EntryPoint(ctx, scope, phase)
}

// Send implements [edge.Writer].
func (p *Tamper) Send(ctx context.Context, w edge.Write) (*edge.Ruleset, error) {
	send := func() (*edge.Ruleset, error) { return p.Platform.Send(ctx, w) }
	deploys := w.Call != edge.CallUpdateRule
	if deploys && p.Deploy == nil || !deploys && p.Write == nil {
		return send()
	}
	if err := edge.Sending(ctx); err != nil {
		return nil, err
	}
	if deploys {
		return p.Deploy(func() (*edge.Ruleset, error) { return p.Platform.Send(context.WithoutCancel(ctx), w) })
	}
	return p.Write(ctx, w.Scope, send)
}

// FailZone makes reads of one zone fail.
func FailZone(i int, err error) func(edge.Scope) error {
	return func(zone edge.Scope) error {
		if zone == mem.FleetZone(i) {
			return err
		}
		return nil
	}
}
