package setup

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"golang.org/x/time/rate"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired/trusted"
	"github.com/seawall-dev/seawall/edge/outbound"
	"github.com/seawall-dev/seawall/edge/trace"
	"github.com/seawall-dev/seawall/reconcile/outage"
)

const (
	// tracesTimeout bounds one try to send spans, and tracesEnd the last one, at the end of
	// the daemon.
	tracesTimeout = 10 * time.Second
	tracesEnd     = 2 * time.Second
	// mostSpans wait to be sent: further ones are dropped.
	mostSpans = 4096
	// mostAttributes of a span are kept.
	mostAttributes = 32
	// mostAnswered bounds what is read of an answer of the collector, in bytes.
	mostAnswered = 64 << 10
)

// Traces sends the spans of a daemon to a collector. Nil makes none.
type Traces struct {
	config  schema.Traces
	client  *http.Client
	outages *outage.Tracker // of the collector alone
	log     *slog.Logger
}

// NewTraces prepares what a configuration says of traces; nil where it says nothing. It sends
// nothing. That the collector does not answer is logged as an outage, and is nothing else:
// nothing waits for it.
func NewTraces(c *schema.Traces, log *slog.Logger) (*Traces, error) {
	if c == nil {
		return nil, nil
	}
	var pem []byte
	if c.CAFile != "" {
		var err error
		if pem, err = trusted.ReadSmall(c.CAFile, mostCAFile); err != nil {
			return nil, fmt.Errorf("reading traces.ca_file: %w", err)
		}
	}
	transport, err := outbound.Transport(pem)
	if err != nil {
		return nil, fmt.Errorf("traces.ca_file: %s: %w", c.CAFile, err)
	}
	return &Traces{
		config:  *c,
		client:  &http.Client{Transport: transport, CheckRedirect: outbound.Stay, Timeout: tracesTimeout},
		outages: outage.New(outage.Config{Now: time.Now, Tell: outage.Log(log)}), log: log,
	}, nil
}

// Begin returns a context in which spans are recorded and sent, until end, which sends those
// that are left within two seconds.
func (t *Traces) Begin(ctx context.Context) (_ context.Context, end func()) {
	if t == nil {
		return ctx, func() {}
	}
	odd := rate.Sometimes{First: 1, Interval: refusedTracesEvery}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		odd.Do(func() { t.log.Warn("the library for traces has met an error", "error", err.Error()) })
	}))
	sending, stop := context.WithCancel(context.WithoutCancel(ctx))
	to := collector{t.config.URL(), t.config.Headers, t.client, sending, t.outages}
	provider := sdk.NewTracerProvider(
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(t.config.Sample))),
		sdk.WithResource(t.resource(ctx)),
		sdk.WithRawSpanLimits(sdk.SpanLimits{
			AttributeCountLimit: mostAttributes, AttributeValueLengthLimit: trace.Longest, LinkCountLimit: 1, EventCountLimit: 1, AttributePerEventCountLimit: 1, AttributePerLinkCountLimit: 1,
		}),
		sdk.WithBatcher(otlptrace.NewUnstarted(to), sdk.WithMaxQueueSize(mostSpans), sdk.WithMaxExportBatchSize(512),
			sdk.WithBatchTimeout(5*time.Second), sdk.WithExportTimeout(2*tracesTimeout)),
	)
	return trace.With(ctx, provider.Tracer("github.com/seawall-dev/seawall")), func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tracesEnd)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			t.log.Warn("the last traces could not be sent", "error", err.Error())
		}
		stop() // whatever still hangs
		t.client.CloseIdleConnections()
	}
}

// refusedTracesEvery is how often at most an error is logged that is no failure to send.
const refusedTracesEvery = 10 * time.Minute

// resource says who sends the spans. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say more,
// or otherwise: they describe the process, and an operator of Kubernetes sets them.
func (t *Traces) resource(ctx context.Context) *resource.Resource {
	r, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "seawall"), attribute.String("service.version", cli.ThisVersion().Version), attribute.String("host.name", host()),
	), resource.WithFromEnv())
	if err != nil {
		t.log.Warn("OTEL_RESOURCE_ATTRIBUTES cannot be read", "error", err.Error())
	}
	return r
}
