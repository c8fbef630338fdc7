package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/wneessen/go-mail"

	"github.com/seawall-dev/seawall/edge/outbound"
)

// SMTP sends mail. The password goes over TLS alone.
type SMTP struct {
	Host     string
	Port     int
	TLS      string // starttls, implicit, or none, which only this machine may be asked with
	From     string
	To       []string
	Username string // empty: without a login
	Password Secret
	PEM      []byte // authorities; nil for the system's
}

// Send implements [Sender].
func (s *SMTP) Send(ctx context.Context, m Message) error {
	mail, err := s.message(m)
	if err != nil {
		return err
	}
	client, err := s.client()
	if err != nil {
		return err
	}
	err = bounded(ctx, func() error { return client.DialAndSendWithContext(ctx, mail) })
	if refused := (*sendError)(nil); errors.As(err, &refused) && !refused.IsTemp() && refused.ErrorCode() >= 550 {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

type sendError = mail.SendError

// bounded returns when ctx ends, as the library heeds a context no longer once it is connected.
// What goes on then ends by the timeout of its connection.
func bounded(ctx context.Context, send func() error) error {
	sent := make(chan error, 1)
	go func() { sent <- send() }()
	select {
	case err := <-sent:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// message has headers by which a mail program shows the beginning and the end of a cause as
// one conversation.
func (s *SMTP) message(m Message) (*mail.Msg, error) {
	msg := mail.NewMsg()
	if err := errors.Join(msg.From(s.From), msg.To(s.To...)); err != nil {
		return nil, err
	}
	msg.Subject("[seawall] " + m.Heading())
	msg.SetDateWithValue(m.At)
	msg.SetMessageIDWithValue(m.ID + "@seawall")
	if m.State == Ends {
		begin := "<" + idOf(m.Route, m.Cause, Begins, m.Since) + "@seawall>"
		msg.SetGenHeader(mail.HeaderInReplyTo, begin)
		msg.SetGenHeader(mail.HeaderReferences, begin)
	}
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // no answer of a machine comes back
	msg.SetBodyString(mail.TypeTextPlain, m.Text+"\n")
	return msg, nil
}

func (s *SMTP) client() (*mail.Client, error) {
	config := &tls.Config{ServerName: s.Host, MinVersion: tls.VersionTLS12}
	if s.PEM != nil {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(s.PEM) {
			return nil, outbound.ErrNoCertificate
		}
	}
	options := []mail.Option{mail.WithPort(s.Port), mail.WithTimeout(timeout), mail.WithTLSConfig(config), mail.WithTLSPolicy(mail.TLSMandatory)}
	switch s.TLS {
	case "implicit":
		options = append(options, mail.WithSSL())
	case "none":
		if !outbound.Loopback(s.Host) {
			return nil, errors.New("mail without TLS goes to this machine only")
		}
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
	}
	if s.Username != "" {
		password, err := s.Password()
		if err != nil {
			return nil, err
		}
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(s.Username), mail.WithPassword(password.Reveal()))
	}
	return mail.NewClient(s.Host, options...)
}
