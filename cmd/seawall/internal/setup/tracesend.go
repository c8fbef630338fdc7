package setup

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/outage"
)

// collector sends spans over OTLP/HTTP. It is an otlptrace.Client: that of OpenTelemetry
// itself, otlptracehttp, brings all of gRPC into the binary, follows variables of the
// environment, and reads the headers once.
type collector struct {
	url     string
	headers map[string]schema.SecretRef
	client  *http.Client
	until   context.Context // ends whatever hangs
	outages *outage.Tracker
}

// Start implements otlptrace.Client.
func (c collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c collector) Stop(context.Context) error { return nil }

// UploadTraces implements otlptrace.Client. What cannot be sent is lost, and noted.
func (c collector) UploadTraces(ctx context.Context, spans []*otlp.ResourceSpans) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.until, cancel)() //nolint:contextcheck // it ends with the daemon, too
	if err := c.send(ctx, spans); err != nil {
		c.outages.Failed(reconcile.OutageTraces, "", "send", err)
	} else {
		c.outages.Worked(reconcile.OutageTraces, "", "send")
	}
	return nil
}

func (c collector) send(ctx context.Context, spans []*otlp.ResourceSpans) error {
	// On the wire it is an ExportTraceServiceRequest, whose package needs gRPC.
	data, err := proto.Marshal(&otlp.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	var body bytes.Buffer
	packed := gzip.NewWriter(&body)
	if _, err = packed.Write(data); err == nil {
		err = packed.Close()
	}
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, &body)
	if err != nil {
		return err
	}
	for name, ref := range c.headers {
		value, err := ReadSecret(ref)
		if err != nil {
			return fmt.Errorf("traces.headers.%s: %w", name, err)
		}
		r.Header.Set(name, value.Reveal())
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "gzip")
	r.Header.Set("User-Agent", "seawall/"+cli.ThisVersion().Version)
	answer, err := c.client.Do(r)
	if inner := (*url.Error)(nil); errors.As(err, &inner) {
		return fmt.Errorf("the collector of traces: %w", inner.Err)
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, mostAnswered)) // so that the connection is used again
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the collector of traces answers %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	}
	return nil
}
