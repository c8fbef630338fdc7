package tokens

import "context"

// Confirmed reports whether the mark beside the ledger confirms that it is the one for which a
// person said that all tokens are known, whatever platform and repository they are of.
func (t *Memory) Confirmed(ctx context.Context) (bool, error) {
	m, err := t.readMark(ctx)
	if err != nil {
		return false, err
	}
	c, err := t.completeness(ctx)
	if err != nil {
		return false, err
	}
	born, err := t.born(ctx)
	if err != nil {
		return false, err
	}
	c.platform, c.repository = digest(t.Binding.Platform), digest(t.Binding.Repository)
	return c.doubt(t.Binding, m, born) == "", nil
}

// ConfirmMoved writes the mark beside a ledger that was moved here as a whole.
func (t *Memory) ConfirmMoved(ctx context.Context) error { return t.putMark(ctx) }
