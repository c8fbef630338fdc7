package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/outbound"
	"github.com/seawall-dev/seawall/edge/trace"
)

// ErrRefused: the other side has refused a message, and would refuse it again.
var ErrRefused = errors.New("the message was refused")

// timeout bounds one try to send one message.
const timeout = 20 * time.Second

// mostAnswer bounds what is read of an answer.
const mostAnswer = 64 << 10

// Secret reads a secret anew each time, so that a rotated one is picked up.
type Secret func() (edge.Secret, error)

// poster sends JSON to an address that may be a secret: no error repeats it.
type poster struct{ client *http.Client }

// newPoster believes the authorities in pem, or those of the system where it is nil.
func newPoster(pem []byte) (poster, error) {
	transport, err := outbound.Transport(pem)
	if err != nil {
		return poster{}, err
	}
	return poster{&http.Client{Transport: trace.Transport(trace.NotificationCall, transport), CheckRedirect: outbound.Stay, Timeout: timeout}}, nil
}

func (p poster) post(ctx context.Context, address Secret, body any, sign func(http.Header, []byte) error) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := newRequest(ctx, http.MethodPost, address, bytes.NewReader(data))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if sign != nil {
		if err := sign(request.Header, data); err != nil {
			return err
		}
	}
	return p.do(request)
}

var errAddress = errors.New("the address must be a URL with https, or http to this machine")

func newRequest(ctx context.Context, method string, address Secret, body io.Reader) (*http.Request, error) {
	to, err := address()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, to.Reveal(), body)
	if err != nil {
		return nil, errAddress // the error repeats the address
	}
	if u := request.URL; u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !outbound.Loopback(u.Hostname())) {
		return nil, errAddress
	}
	request.Header.Set("User-Agent", "seawall")
	return request, nil
}

func (p poster) do(request *http.Request) error {
	response, err := p.client.Do(request)
	if err != nil {
		if inner := (*url.Error)(nil); errors.As(err, &inner) {
			return inner.Err // without the address
		}
		return err
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, mostAnswer)) // so that the connection is used again
	if response.StatusCode/100 == 2 {
		return nil
	}
	err = fmt.Errorf("the answer is %d %s", response.StatusCode, http.StatusText(response.StatusCode))
	if slices.Contains([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}, response.StatusCode) {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}
