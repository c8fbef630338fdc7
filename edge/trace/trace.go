// Package trace records what the daemon does as spans of OpenTelemetry.
//
//	ctx, span := trace.Start(ctx, trace.Zone)
//	span.Text(trace.Commit, commit)
//	…
//	span.End(err)
//
// Whether spans are recorded is in the context: [With] puts a tracer there, and only the
// daemon with traces in its configuration does. In any other context a span costs one look
// into the context: it allocates nothing and keeps nothing.
//
// Nothing is sent along with a request to the platform, a forge, a sink or a receiver of
// notifications: no header says which trace it belongs to.
package trace

import (
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	otel "go.opentelemetry.io/otel/trace"

	"github.com/seawall-dev/seawall/edge"
)

type tracerKey struct{}

// With returns a context in which spans are recorded.
func With(ctx context.Context, by otel.Tracer) context.Context {
	return context.WithValue(ctx, tracerKey{}, by)
}

// Span is a span that has begun. The zero value is one that is not recorded. It is not for
// use after End.
type Span struct{ span otel.Span }

// Start begins a span, within that of ctx where there is one.
func Start(ctx context.Context, name Name) (context.Context, Span) {
	by, recorded := ctx.Value(tracerKey{}).(otel.Tracer)
	if !recorded {
		return ctx, Span{}
	}
	kind := otel.SpanKindInternal
	if strings.HasSuffix(string(name), ".call") {
		kind = otel.SpanKindClient
	}
	ctx, span := by.Start(ctx, string(name), otel.WithSpanKind(kind))
	if !span.IsRecording() {
		return ctx, Span{}
	}
	return ctx, Span{span}
}

// Past records a span within that of ctx that is over.
func Past(ctx context.Context, name Name, began, ended time.Time, err error) {
	by, recorded := ctx.Value(tracerKey{}).(otel.Tracer)
	if !recorded {
		return
	}
	_, span := by.Start(ctx, string(name), otel.WithTimestamp(began))
	fail(span, err)
	span.End(otel.WithTimestamp(ended))
}

// Recorded reports whether the span is: what it costs to find an attribute out can be spared
// where it is not.
func (s Span) Recorded() bool { return s.span != nil }

// Text sets an attribute. An empty text is none, and a secret in it is not shown.
func (s Span) Text(key Attribute, value string) {
	if s.span != nil && value != "" {
		s.span.SetAttributes(attribute.String(string(key), bounded(value)))
	}
}

// Count sets an attribute to a number.
func (s Span) Count(key Attribute, n int) {
	if s.span != nil {
		s.span.SetAttributes(attribute.Int(string(key), n))
	}
}

// Took sets an attribute to a duration, in seconds; less than a millisecond is none.
func (s Span) Took(key Attribute, d time.Duration) {
	if s.span != nil && d >= time.Millisecond {
		s.span.SetAttributes(attribute.Float64(string(key), d.Round(time.Millisecond).Seconds()))
	}
}

// End ends the span, with the error that it has come to.
func (s Span) End(err error) {
	if s.span == nil {
		return
	}
	fail(s.span, err)
	s.span.End()
}

func fail(span otel.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, bounded(err.Error()))
	}
}

// Longest is how long the text of an attribute, or of an error, can be, in bytes.
const Longest = 300

// bounded makes a text of one line without secrets.
func bounded(text string) string {
	text = strings.Join(strings.Fields(edge.Redact(text)), " ")
	if len(text) > Longest {
		text = text[:Longest-len("…")] + "…"
	}
	return strings.ToValidUTF8(text, "")
}

// Origin is a span that another one, of another trace, has its reason in. The zero value is
// none.
type Origin struct{ of otel.SpanContext }

// OriginOf is the span of a context.
func OriginOf(ctx context.Context) Origin { return Origin{otel.SpanContextFromContext(ctx)} }

// Link links the span to its origin.
func (s Span) Link(to Origin) {
	if s.span != nil && to.of.IsValid() {
		s.span.AddLink(otel.Link{SpanContext: to.of})
	}
}
