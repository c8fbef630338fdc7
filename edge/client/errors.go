package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
)

const concealed = "[secret]"

// decodeConcealed decodes an answer. A failure is decoded a second time with
// the credential blacked out, because a server may echo the request's header.
func decodeConcealed(answer wire.Response, token edge.Secret, decode func(wire.Response) error) error {
	err := decode(answer)
	if err == nil {
		return nil
	}
	body := blackOut(answer.Body, []byte(token.Reveal()))
	if bytes.Equal(body, answer.Body) {
		return err
	}
	answer.Body = body
	if err := decode(answer); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", answer.Call, edge.ErrUnreadable)
}

// shortestBeginning is how much of a credential at the end of a body is taken
// for one that was cut off.
const shortestBeginning = 8

// blackOut returns body without the credential, and without the beginning of
// one at its end.
func blackOut(body, token []byte) []byte {
	body = bytes.ReplaceAll(body, token, []byte(concealed))
	for n := len(token) - 1; n >= shortestBeginning; n-- {
		if rest, found := bytes.CutSuffix(body, token[:n]); found {
			return append(bytes.Clone(rest), concealed...)
		}
	}
	return body
}

func conceal(text string, token edge.Secret) string {
	return strings.ReplaceAll(text, token.Reveal(), concealed)
}

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
