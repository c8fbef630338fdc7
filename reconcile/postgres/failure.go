package postgres

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// Oldest is the oldest version of PostgreSQL that is used.
const Oldest = 14

var (
	// ErrOldServer is a server older than [Oldest].
	ErrOldServer = errors.New("the server is too old")
	// ErrEncryption is a server that does not encrypt, or whose certificate is not trusted.
	ErrEncryption = errors.New("the connection is not encrypted as it must be")
)

// plain is an error of the driver in words for people: once, without the driver's own. What has caused
// it is still what it was.
type plain struct {
	text  string
	cause error
}

func (p plain) Error() string { return p.text }
func (p plain) Unwrap() error { return p.cause }

// plainly tells why no connection was made, or what the server has said.
func plainly(err error) error {
	var connecting *pgconn.ConnectError
	var said *pgconn.PgError
	switch {
	case errors.As(err, &connecting):
		tries := triesOf(connecting.Unwrap(), "")
		text := make([]string, 0, len(tries))
		several := slices.ContainsFunc(tries, func(t try) bool { return t.host != tries[0].host })
		for _, t := range tries {
			if several && t.host != "" {
				t.text = t.host + ": " + t.text
			}
			if !slices.Contains(text, t.text) {
				text = append(text, t.text)
			}
		}
		if unencrypted(err) {
			err = errors.Join(ErrEncryption, err)
		}
		return plain{strings.Join(text, "; "), err}
	case errors.As(err, &said):
		return plain{said.Error(), err}
	}
	return err
}

// Answered reports whether the server has said itself what is wrong.
func Answered(err error) bool {
	said := (*pgconn.PgError)(nil)
	return errors.As(err, &said)
}

// Told is what has gone wrong with a connection, for people: what the server has said, or what has become
// of the way to it, without the words of the driver.
func Told(err error) string {
	if already := (plain{}); errors.As(err, &already) {
		return err.Error()
	}
	if said := (*pgconn.PgError)(nil); errors.As(err, &said) {
		return err.Error()
	}
	return triesOf(err, "")[0].text
}

// try is one of those to connect: a URL may name several hosts, and a host have several addresses.
type try struct{ host, text string }

// tried is how the driver begins with the address, and the host, that it has tried.
var tried = regexp.MustCompile(`^\S+ \(([^()]+)\): `)

func triesOf(err error, host string) (all []try) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			all = append(all, triesOf(one, host)...)
		}
		return all
	}
	if found := tried.FindStringSubmatch(err.Error()); found != nil {
		host = found[1]
	}
	if text, known := known(err); known {
		return []try{{host, text}}
	}
	if inner := errors.Unwrap(err); inner != nil {
		return triesOf(inner, host)
	}
	return []try{{host, err.Error()}}
}

// known is what is said of an error, where that is not what it says itself.
func known(err error) (string, bool) {
	switch e := err.(type) { //nolint:errorlint // each level is looked at by itself
	case *pgconn.PgError:
		return e.Message, true
	case *net.DNSError:
		if e.IsNotFound {
			return "no such host: " + e.Name, true
		}
		return "looking up " + e.Name + ": " + e.Err, true
	case *tls.CertificateVerificationError:
		return "its certificate is not trusted: " + strings.TrimPrefix(e.Err.Error(), "x509: "), true
	case syscall.Errno:
		return e.Error(), true
	}
	var network net.Error
	switch {
	case err.Error() == noTLS:
		return "it does not offer TLS", true
	case errors.As(err, &network) && network.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "it does not answer", true
	case slices.ContainsFunc([]error{io.ErrUnexpectedEOF, io.EOF, net.ErrClosed, driver.ErrBadConn, pgconn.ErrConnClosed}, func(end error) bool { return errors.Is(err, end) }):
		return "it has closed the connection", true
	}
	return "", false
}

// unencrypted reports whether an error is one of the encryption, not of the way to the server.
func unencrypted(err error) bool {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	return errors.As(err, &certificate) || errors.As(err, &record) || errors.As(err, &alert) || strings.Contains(err.Error(), noTLS)
}

// noTLS is what the driver says of a server that does not encrypt: it has no error of its own.
const noTLS = "server refused TLS connection"

// newEnough refuses a server by its version, as "15.3 (Debian 15.3-1)"; one that says none is not.
func newEnough(version string) error {
	digits := strings.IndexFunc(version, func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		digits = len(version)
	}
	if major, err := strconv.Atoi(version[:digits]); err == nil && major < Oldest {
		return fmt.Errorf("%w: it is PostgreSQL %s", ErrOldServer, version)
	}
	return nil
}
