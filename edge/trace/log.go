package trace

import (
	"context"
	"log/slog"

	otel "go.opentelemetry.io/otel/trace"
)

// The attributes of a line in the log that was written within a span.
const (
	LogTrace = "trace_id"
	LogSpan  = "span_id"
)

// Handler returns a handler that adds to each line the span in which it was written.
func Handler(to slog.Handler) slog.Handler { return handler{to} }

type handler struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h handler) Handle(ctx context.Context, line slog.Record) error {
	if of := otel.SpanContextFromContext(ctx); of.IsSampled() {
		line = line.Clone()
		line.AddAttrs(slog.String(LogTrace, of.TraceID().String()), slog.String(LogSpan, of.SpanID().String()))
	}
	return h.Handler.Handle(ctx, line)
}

// WithAttrs implements [slog.Handler].
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
