package reconcile

// Pokes ask a loop to look now: a webhook pokes the source of commits, a commit pokes those
// who look up names. Who pokes never waits. Pokes that come before the loop takes them count
// as one.
//
// (To wake is said of the workers of a queue alone.)
type Pokes chan struct{}

// NewPokes returns pokes that a loop takes by receiving from them.
func NewPokes() Pokes { return make(Pokes, 1) }

// Poke asks for a look. A nil Pokes has no loop, and ignores it.
func (p Pokes) Poke() {
	select {
	case p <- struct{}{}:
	default: // one is enough
	}
}
