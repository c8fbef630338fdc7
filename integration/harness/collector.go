package harness

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// CollectorKey is the header without which a [Collector] takes nothing.
const CollectorKey = "a-key-of-the-collector-Qx7-0001"

// Collector takes traces as a collector of OpenTelemetry does, over OTLP/HTTP.
type Collector struct {
	*httptest.Server
	T testing.TB
	// Answer, where it is set, answers each request instead.
	Answer atomic.Pointer[http.HandlerFunc]
	Asked  atomic.Int32 // requests

	mu       sync.Mutex
	received bytes.Buffer // all that was sent, unpacked
	spans    []*Span
}

// Span is a span as a collector has it.
type Span struct {
	Trace, ID, Parent string // in hexadecimal
	Name              string
	Attributes        map[string]string
	Error             string
	Links             []string // spans
}

// StartCollector starts a collector. It ends with the test.
func StartCollector(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{T: t}
	c.Server = httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(c.Close)
	return c
}

// Config is the configuration of traces that go to the collector, for a service.
func (c *Collector) Config(s *Service) string {
	s.Write("collector-key", CollectorKey+"\n")
	return fmt.Sprintf("traces: {endpoint: %q, headers: \"x-api-key\": file: %q}\n", c.URL, filepath.Join(s.Dir, "collector-key"))
}

func (c *Collector) serve(w http.ResponseWriter, r *http.Request) {
	c.Asked.Add(1)
	if answer := c.Answer.Load(); answer != nil {
		(*answer)(w, r)
		return
	}
	if r.URL.Path != "/v1/traces" || r.Header.Get("X-Api-Key") != CollectorKey || r.Header.Get("Content-Type") != "application/x-protobuf" {
		c.T.Errorf("not a request with traces: %s %s %v", r.Method, r.URL, r.Header)
	}
	packed, err := gzip.NewReader(r.Body)
	if err != nil {
		c.T.Errorf("the traces are not packed: %v", err)
		return
	}
	body, err := io.ReadAll(packed)
	var request otlp.TracesData // on the wire the same as an ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil {
		c.T.Errorf("the traces cannot be read: %v", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.received.Write(body)
	for _, resource := range request.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				c.spans = append(c.spans, read(span))
			}
		}
	}
}

func read(of *otlp.Span) *Span {
	s := &Span{
		Trace: hex.EncodeToString(of.GetTraceId()), ID: hex.EncodeToString(of.GetSpanId()), Parent: hex.EncodeToString(of.GetParentSpanId()),
		Name: of.GetName(), Attributes: map[string]string{},
	}
	for _, a := range of.GetAttributes() {
		s.Attributes[a.GetKey()] = a.GetValue().GetStringValue()
		if n, number := a.GetValue().GetValue().(*common.AnyValue_IntValue); number {
			s.Attributes[a.GetKey()] = fmt.Sprint(n.IntValue)
		}
	}
	if of.GetStatus().GetCode() == otlp.Status_STATUS_CODE_ERROR {
		s.Error = of.GetStatus().GetMessage()
	}
	for _, link := range of.GetLinks() {
		s.Links = append(s.Links, hex.EncodeToString(link.GetSpanId()))
	}
	return s
}

// Received is all that was sent, unpacked.
func (c *Collector) Received() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.received.Bytes())
}

// Spans are those that were received, in the order in which they ended.
func (c *Collector) Spans() []*Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Find returns the first span with a name and an attribute; nil where there is none. An empty
// key asks for no attribute.
func (c *Collector) Find(name, key, value string) *Span {
	for _, s := range c.Spans() {
		if s.Name == name && (key == "" || s.Attributes[key] == value) {
			return s
		}
	}
	return nil
}

// Within reports whether a span, or one around it, is in another one.
func (c *Collector) Within(s, around *Span) bool {
	byID := map[string]*Span{}
	for _, each := range c.Spans() {
		byID[each.ID] = each
	}
	for s != nil && s.ID != around.ID {
		s = byID[s.Parent]
	}
	return s != nil
}
