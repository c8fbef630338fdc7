package edge

import "context"

// Class says for what a request is sent. All processes that share a request budget share it
// by these classes.
type Class int

// The classes.
const (
	// Urgent are pushes of few zones and reverts. A part of the budget is kept for them. What
	// does not say its class is urgent.
	Urgent   Class = iota
	Sweep          // the look at each zone in its turn
	Bulk           // commits of many zones
	Question       // whatever only reads for a person: plan, import, reviews
	Classes        // how many there are
)

// String names the class.
func (c Class) String() string {
	if c < Urgent || c >= Classes {
		return "unknown"
	}
	return [...]string{"urgent", "sweep", "bulk", "question"}[c]
}

type classKey struct{}

// WithClass returns a context whose requests are of a class, whatever the client else takes
// them for.
func WithClass(ctx context.Context, c Class) context.Context {
	return context.WithValue(ctx, classKey{}, c)
}

// ClassOf returns the class that [WithClass] has put into a context; false for none.
func ClassOf(ctx context.Context) (Class, bool) {
	c, ok := ctx.Value(classKey{}).(Class)
	return c, ok
}
