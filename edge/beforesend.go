package edge

import "context"

type beforeSendKey struct{}

// BeforeSend returns a context with which a [TokenCreator] calls do once: when the
// budget has admitted the request, and directly before it is sent. With an error
// of do nothing is sent, and the error is returned.
func BeforeSend(ctx context.Context, do func() error) context.Context {
	return context.WithValue(ctx, beforeSendKey{}, do)
}

// Sending calls what [BeforeSend] has added to the context, nothing where that is
// nothing. It is for implementations of [TokenCreator].
func Sending(ctx context.Context) error {
	if do, ok := ctx.Value(beforeSendKey{}).(func() error); ok {
		return do()
	}
	return nil
}
