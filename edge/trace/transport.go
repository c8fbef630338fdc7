package trace

import (
	"net/http"

	"go.opentelemetry.io/otel/codes"
)

// Transport returns a transport that has a span for each request: its method, the host and
// the status of the answer; to a forge also the path, and never the query. The
// instrumentation of OpenTelemetry itself (otelhttp) always shows the whole address, which
// may be the secret, as that of a webhook is.
func Transport(name Name, to http.RoundTripper) http.RoundTripper { return transport{to, name} }

type transport struct {
	http.RoundTripper
	name Name
}

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, span := Start(r.Context(), t.name)
	if !span.Recorded() {
		return t.RoundTripper.RoundTrip(r)
	}
	span.Text(Method, r.Method)
	span.Text(Host, r.URL.Host)
	if t.name == ForgeCall {
		span.Text(Path, r.URL.Path)
	}
	answer, err := t.RoundTripper.RoundTrip(r.WithContext(ctx))
	if err == nil {
		span.Answered(answer.StatusCode)
	}
	span.End(err)
	return answer, err
}

// Answered sets the status of an answer. That of a failure is an error.
func (s Span) Answered(status int) {
	s.Count(Status, status)
	if s.span != nil && status >= http.StatusBadRequest {
		s.span.SetStatus(codes.Error, http.StatusText(status))
	}
}
