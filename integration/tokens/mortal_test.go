package tokens

import (
	"context"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// mortal passes every step on, and dies before or after one of them.
type mortal struct {
	at, moment int    // the moment to die at, and how many there were
	after      string // the step to die after
	die        func()
	memory     reconcile.TokenMemory
	writer     edge.TokenWriter
	sinks      reconcile.Sinks
}

// takes puts m between token work and what it acts on.
func (m *mortal) takes(c *token.Config) {
	m.memory, m.writer, m.sinks = c.Memory, c.Writer, c.Sinks
	c.Memory, c.Writer, c.Sinks = m, m, m
}

func (m *mortal) step(name string, do func() error) error {
	m.mayDie("")
	err := do()
	m.mayDie(name)
	return err
}

func (m *mortal) mayDie(after string) {
	if m.moment++; m.moment == m.at || after != "" && after == m.after {
		m.die()
	}
}

func (m *mortal) Tokens(ctx context.Context) (live diff.TokensLive, err error) {
	err = m.step("Tokens", func() error { live, err = m.memory.Tokens(ctx); return err })
	return live, err
}

func (m *mortal) Intend(ctx context.Context, record diff.TokenRecord) error {
	return m.step("Intend", func() error { return m.memory.Intend(ctx, record) })
}

func (m *mortal) NotCreated(ctx context.Context, intent string) error {
	return m.step("NotCreated", func() error { return m.memory.NotCreated(ctx, intent) })
}

func (m *mortal) Quarantine(ctx context.Context, intent, reason string) error {
	return m.step("Quarantine", func() error { return m.memory.Quarantine(ctx, intent, reason) })
}

func (m *mortal) Confirm(ctx context.Context, intent string, id edge.TokenID, secret edge.Secret) error {
	return m.step("Confirm", func() error { return m.memory.Confirm(ctx, intent, id, secret) })
}

func (m *mortal) Sealed(ctx context.Context, intent string) (secret edge.Secret, err error) {
	err = m.step("Sealed", func() error { secret, err = m.memory.Sealed(ctx, intent); return err })
	return secret, err
}

func (m *mortal) Delivered(ctx context.Context, intent string) error {
	return m.step("Delivered", func() error { return m.memory.Delivered(ctx, intent) })
}

func (m *mortal) Amend(ctx context.Context, intent string, spec edge.TokenSpec, hash string) error {
	return m.step("Amend", func() error { return m.memory.Amend(ctx, intent, spec, hash) })
}

func (m *mortal) Prunable(ctx context.Context, intents []string, prune bool) error {
	return m.step("Prunable", func() error { return m.memory.Prunable(ctx, intents, prune) })
}

func (m *mortal) Gone(ctx context.Context, intent string) error {
	return m.step("Gone", func() error { return m.memory.Gone(ctx, intent) })
}

func (m *mortal) Offers(call edge.Call, level edge.Level) bool { return m.writer.Offers(call, level) }

func (m *mortal) CreateToken(ctx context.Context, spec edge.TokenSpec) (created edge.CreatedToken, err error) {
	err = m.step("CreateToken", func() error { created, err = m.writer.CreateToken(ctx, spec); return err })
	return created, err
}

func (m *mortal) UpdateToken(ctx context.Context, id edge.TokenID, body edge.Token) (token edge.Token, err error) {
	err = m.step("UpdateToken", func() error { token, err = m.writer.UpdateToken(ctx, id, body); return err })
	return token, err
}

func (m *mortal) DeleteToken(ctx context.Context, id edge.TokenID) error {
	return m.step("DeleteToken", func() error { return m.writer.DeleteToken(ctx, id) })
}

func (m *mortal) RollToken(ctx context.Context, id edge.TokenID) (secret edge.Secret, err error) {
	err = m.step("RollToken", func() error { secret, err = m.writer.RollToken(ctx, id); return err })
	return secret, err
}

func (m *mortal) Check(where desired.Sink) error { return m.sinks.Check(where) }

func (m *mortal) Deliver(ctx context.Context, where desired.Sink, secret edge.Secret) error {
	return m.step("Deliver", func() error { return m.sinks.Deliver(ctx, where, secret) })
}
