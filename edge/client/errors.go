package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"

	"github.com/seawall-dev/seawall/edge"
)

// redacted returns an error without the secrets that a server has put into its text. What
// it is stays.
func redacted(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*edge.Error); ok { //nolint:errorlint // one that is wrapped keeps its text, which is made new below
		clean := e.WithDetails(func(d edge.ErrorDetail) edge.ErrorDetail {
			d.Message, d.Source.Pointer, d.DocumentationURL = edge.Redact(d.Message), edge.Redact(d.Source.Pointer), edge.Redact(d.DocumentationURL)
			return d
		})
		clean.Body = edge.Redact(e.Body)
		return clean
	}
	if text := edge.Redact(err.Error()); text != err.Error() {
		return &redactedError{text, err}
	}
	return err
}

// redactedError is an error with another text. It has no Unwrap, which would give the old one
// away.
type redactedError struct {
	text string
	err  error
}

func (o *redactedError) Error() string        { return o.text }
func (o *redactedError) Is(target error) bool { return errors.Is(o.err, target) }

// reason says in few words what a transport's error is about. Addresses appear
// as host and port only, never as a URL.
func (c *Client) reason(err error) string {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var op *net.OpError
	var lookup *net.DNSError
	switch {
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return fmt.Sprintf("connecting to the proxy that HTTPS_PROXY or HTTP_PROXY names: %s", proxyFailure(op.Err))
	case errors.As(err, &lookup):
		return fmt.Sprintf("looking up %s: %s", lookup.Name, lookup.Err)
	case errors.Is(err, context.DeadlineExceeded), os.IsTimeout(err):
		return fmt.Sprintf("no answer from %s within %s", c.host, c.config.Timeout)
	case errors.As(err, &op) && op.Op == "dial":
		return fmt.Sprintf("connecting to %s: %s", c.host, root(op.Err))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the answer is cut short"
	case errors.Is(err, io.EOF):
		return fmt.Sprintf("%s closed the connection without an answer", c.host)
	case errors.Is(err, syscall.ECONNRESET):
		return fmt.Sprintf("%s reset the connection", c.host)
	}
	return err.Error()
}

// proxyFailure says with its address why a proxy cannot be reached.
func proxyFailure(err error) string {
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" && dial.Addr != nil {
		return fmt.Sprintf("%s: %s", dial.Addr, root(dial.Err))
	}
	return root(err).Error()
}

// root returns the innermost error, "connection refused" without "connect:".
func root(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}
