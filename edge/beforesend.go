package edge

import "context"

// BeforeSend returns a context under which the creation of a token, and the writes
// of [Writer], call do when nothing is left but to send the request: the call has
// waited for its turn and for the request budget, which can take minutes. What must
// be on record before a request goes out is recorded in do; a process that is killed
// while it waits leaves no record of a request that was never sent. A creation calls
// do once, the others before each attempt.
//
// Where do fails, nothing is sent, and these calls return an error that wraps it and is not [ErrOutcomeUnknown].
// Where the call fails without do having been called, nothing was sent either.
//
// A context that has a function already gets both, the earlier one first.
// Implementations of [TokenWriter] and [Writer] call them with
// [Sending]; other calls ignore them.
func BeforeSend(ctx context.Context, do func() error) context.Context {
	return context.WithValue(ctx, beforeSend{}, func() error {
		if err := Sending(ctx); err != nil {
			return err
		}
		return do()
	})
}

// Sending calls what [BeforeSend] put into the context; without, it is nil. It is
// for implementations of [TokenWriter] and [Writer], which call it directly before
// a request is sent, and send nothing where it fails.
func Sending(ctx context.Context) error {
	if do, ok := ctx.Value(beforeSend{}).(func() error); ok {
		return do()
	}
	return nil
}

type beforeSend struct{}
