package sink

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/client-go/transport"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/outbound"
	"github.com/seawall-dev/seawall/edge/trace"
)

// access says where an API server is and who asks it.
type access struct {
	server string
	how    transport.Config
}

// caller calls one API server.
type caller struct {
	server *url.URL
	client *http.Client
}

func newCaller(a access) (*caller, error) {
	server, err := outbound.Address(a.server)
	if err != nil {
		return nil, fmt.Errorf("the API server: %w", err)
	}
	a.how.UserAgent = "seawall"
	carrier, err := transport.New(&a.how)
	if err != nil {
		return nil, fmt.Errorf("the API server: %w", err)
	}
	for _, credential := range []string{a.how.BearerToken, a.how.Password, string(a.how.TLS.KeyData)} {
		_ = edge.NewSecret(credential) // no error repeats it from now on
	}
	return &caller{server, &http.Client{Transport: trace.Transport(trace.SinkCall, carrier), CheckRedirect: outbound.Stay}}, nil
}

// call sends one request. An answer of any status is no error.
func (c *caller) call(ctx context.Context, method, path, form string, body any) (status int, answer []byte, err error) {
	var sent []byte
	if body != nil {
		if sent, err = json.Marshal(body); err != nil {
			return 0, nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.server.String(), "/")+path, bytes.NewReader(sent))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", form)
	}
	response, err := c.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return response.StatusCode, answer, err
}

// failed makes an error for a person of one that came instead of an answer.
func (c *caller) failed(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	return errors.New(doing + ": " + redacted(err.Error()))
}
