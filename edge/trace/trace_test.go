package trace_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/trace"
)

// recording returns a context in which spans are recorded, and those that have ended.
func recording(t *testing.T, sample sdk.Sampler) (context.Context, func() tracetest.SpanStubs) {
	t.Helper()
	kept := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(kept), sdk.WithSampler(sample))
	return trace.With(t.Context(), provider.Tracer("test")), kept.GetSpans
}

func attributes(of tracetest.SpanStub) map[trace.Attribute]attribute.Value {
	all := map[trace.Attribute]attribute.Value{}
	for _, a := range of.Attributes {
		all[trace.Attribute(a.Key)] = a.Value
	}
	return all
}

type other struct{}

// TestOffCostsNothing: in a context without a tracer nothing is allocated, whatever is done
// with the span.
func TestOffCostsNothing(t *testing.T) {
	ctx := context.WithValue(t.Context(), other{}, "other")
	failed := errors.New("failed")
	allocated := testing.AllocsPerRun(100, func() {
		within, span := trace.Start(ctx, trace.Zone)
		span.Text(trace.ZoneID, "id")
		span.Count(trace.Changes, 1)
		span.Took(trace.Waited, time.Second)
		span.Link(trace.OriginOf(within))
		span.Answered(200)
		trace.Past(within, trace.Verify, time.Time{}, time.Time{}, failed)
		span.End(failed)
		if within != ctx || span.Recorded() {
			t.Error("it is another context")
		}
	})
	if allocated > 0 {
		t.Errorf("%v allocations", allocated)
	}
}

func BenchmarkOff(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, span := trace.Start(b.Context(), trace.Zone)
		span.Text(trace.ZoneID, "id")
		span.End(nil)
	}
}

func TestSpans(t *testing.T) {
	secret := "s3cret-of-the-platform-0001"
	_ = edge.NewSecret(secret)
	ctx, spans := recording(t, sdk.AlwaysSample())
	within, look := trace.Start(ctx, trace.Look)
	began := time.Now().Add(-time.Hour)
	trace.Past(within, trace.Verify, began, began.Add(time.Second), errors.New("not signed"))
	origin := trace.OriginOf(within)
	look.End(nil)
	_, zone := trace.Start(ctx, trace.Zone)
	zone.Link(origin)
	zone.Link(trace.Origin{})
	zone.Text(trace.Reason, "you sent\n"+secret+" and "+strings.Repeat("é", 500))
	zone.Text(trace.ZoneName, "")
	zone.Took(trace.Waited, 1500*time.Millisecond)
	zone.Took(trace.Waited, 0)
	zone.End(errors.New("refused: " + secret))

	got := spans()
	if len(got) != 3 || got[0].Name != "git.verify" || got[0].Parent.SpanID() != got[1].SpanContext.SpanID() || got[0].EndTime.Sub(got[0].StartTime) != time.Second {
		t.Fatalf("got %+v", got)
	}
	last := got[2]
	if len(last.Links) != 1 || last.Links[0].SpanContext.SpanID() != got[1].SpanContext.SpanID() {
		t.Errorf("linked to %v", last.Links)
	}
	if last.Status.Code != codes.Error || last.Status.Description != "refused: [secret]" {
		t.Errorf("the error is %q", last.Status.Description)
	}
	all := attributes(last)
	reason := all[trace.Reason].AsString()
	if !strings.HasPrefix(reason, "you sent [secret] and é") || len(reason) > trace.Longest || !strings.HasSuffix(reason, "…") {
		t.Errorf("the reason is %q", reason)
	}
	if len(all) != 2 || all[trace.Waited].AsFloat64() != 1.5 {
		t.Errorf("the attributes are %v", all)
	}
}

// TestTransport: what is shown of a request, and what is sent along with it.
func TestTransport(t *testing.T) {
	var header http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	for name, path := range map[trace.Name]string{trace.NotificationCall: "", trace.SinkCall: "", trace.ForgeCall: "/hooks/in-the-path"} {
		ctx, spans := recording(t, sdk.AlwaysSample())
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/hooks/in-the-path?key=in-the-query", http.NoBody)
		answer, err := (&http.Client{Transport: trace.Transport(name, http.DefaultTransport)}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		got := spans()[0]
		all := attributes(got)
		if all[trace.Path].AsString() != path || all[trace.Status].AsInt64() != http.StatusTeapot || all[trace.Host].AsString() != strings.TrimPrefix(server.URL, "http://") {
			t.Errorf("%s: %v", name, all)
		}
		if got.Status.Code != codes.Error || header.Get("Traceparent") != "" {
			t.Errorf("%s: status %v, headers %v", name, got.Status, header)
		}
	}
}

// TestLog: lines written within a span have its ids, if it is sampled.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(trace.Handler(slog.NewTextHandler(&out, nil))).With("a", 1)
	for name, sample := range map[string]sdk.Sampler{"sampled": sdk.AlwaysSample(), "not sampled": sdk.NeverSample()} {
		out.Reset()
		ctx, _ := recording(t, sample)
		log.InfoContext(ctx, "outside")
		within, span := trace.Start(ctx, trace.Zone)
		log.InfoContext(within, "inside")
		span.End(nil)
		want := 0
		if name == "sampled" {
			want = 1
		}
		if n := strings.Count(out.String(), "trace_id="); n != want || strings.Contains(strings.SplitN(out.String(), "\n", 2)[0], "trace_id") {
			t.Errorf("%s: %s", name, out.String())
		}
	}
}
