package sink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/hashicorp/vault/api"

	"github.com/seawall-dev/seawall/edge/outbound"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/edge/trace"
)

// client returns one that knows the configuration alone: the library would also
// follow a dozen variables of the environment.
func (v vault) client() (*api.Client, error) {
	transport, err := v.transport()
	if err != nil {
		return nil, err
	}
	client, err := api.NewClient(&api.Config{
		Address:          v.Address,
		HttpClient:       &http.Client{Transport: transport, CheckRedirect: outbound.Stay},
		DisableRedirects: true,
		ReadYourWrites:   true, // of standbys that answer reads themselves
		MaxRetries:       retry.Vault.Attempts - 1,
		MinRetryWait:     retry.Vault.First,
		MaxRetryWait:     retry.Vault.Most,
		CheckRetry:       repeats,
	})
	if err != nil {
		return nil, fmt.Errorf("%w; check the VAULT_ variables in the environment", err)
	}
	client.SetToken("")
	client.SetHeaders(http.Header{api.RequestHeaderName: {"true"}, "User-Agent": {"seawall"}})
	client.SetNamespace(v.Namespace)
	client.SetWrappingLookupFunc(func(string, string) string { return "" })
	return client, nil
}

func (v vault) transport() (*strict, error) {
	var authorities []byte
	if v.CAFile != "" {
		var err error
		if authorities, err = readFile(v.CAFile); err != nil {
			return nil, err
		}
	}
	transport, err := outbound.Transport(authorities)
	if err != nil {
		return nil, fmt.Errorf("%s %w", v.CAFile, err)
	}
	transport.IdleConnTimeout = time.Second // the next delivery has a client of its own
	return &strict{transport}, nil
}

// strict refuses to be sent elsewhere, where credential and secret would go
// along, and to read without end.
type strict struct{ *http.Transport }

var errMoved = errors.New("the address redirects")

func (s *strict) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := trace.Transport(trace.SinkCall, s.Transport).RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if to := answer.Header.Get("Location"); answer.StatusCode/100 == 3 {
		_ = answer.Body.Close()
		return nil, fmt.Errorf("%w to %q: configure the address of the server itself", errMoved, to)
	}
	answer.Body = bounded{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	return answer, nil
}

// bounded is a body with an end.
type bounded struct {
	io.Reader
	io.Closer
}

func repeats(ctx context.Context, answer *http.Response, err error) (bool, error) {
	if errors.Is(err, errMoved) {
		return false, err
	}
	return api.DefaultRetryPolicy(ctx, answer, err)
}
