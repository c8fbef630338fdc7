package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge/outbound"
	"github.com/seawall-dev/seawall/edge/visible"
)

// ErrUnread: the daemon has not read its records yet, so it does not know what is declared.
var ErrUnread = errors.New("the daemon does not know yet")

// ErrNoAnswer: the daemon does not answer, or what answers is none.
var ErrNoAnswer = errors.New("the daemon does not answer")

// ErrNoZone: the commit in force declares no such zone. The error is a [*NoZoneError].
var ErrNoZone = errors.New("no such zone is declared")

// NoZoneError says which name may have been meant; empty for none.
type NoZoneError struct{ Zone, Near string }

func (e *NoZoneError) Error() string { return fmt.Sprintf("no zone %q is declared", e.Zone) }

// Is makes it an [ErrNoZone].
func (e *NoZoneError) Is(target error) bool { return target == ErrNoZone }

// Client asks a daemon. The zero value asks no one.
type Client struct {
	HTTP *http.Client
	Base string // without a slash at its end
}

const (
	askTimeout = 10 * time.Second
	mostAnswer = 16 << 20 // bytes
)

// OnSocket asks the daemon of a state folder on this host.
func OnSocket(dir string) Client {
	path := SocketPath(dir)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	return Client{&http.Client{Timeout: askTimeout, Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}, "http://daemon"}
}

// At asks the daemon that serves at an address: http://host:port, or https. Of https it believes
// the authorities in pem, or those of the system where it is nil.
func At(address string, pem []byte) (Client, error) {
	if strings.Contains(address, "@") { // which is not quoted: it may have a password
		return Client{}, errors.New("the address must have neither user nor password, such as http://127.0.0.1:8710")
	}
	at, err := url.Parse(address)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.RawQuery != "" {
		return Client{}, fmt.Errorf("%q is not an address such as http://127.0.0.1:8710", address)
	}
	transport, err := outbound.Transport(pem)
	if err != nil {
		return Client{}, err
	}
	return Client{&http.Client{Timeout: askTimeout, Transport: transport}, strings.TrimSuffix(at.String(), "/")}, nil
}

// Status asks how the daemon is.
func (c Client) Status(ctx context.Context) (s Status, err error) {
	err = c.get(ctx, statusPath, &s)
	if err == nil && s.Version != Version {
		err = newer(s.Version)
	}
	return s, err
}

// Zones asks for the zones that a word means; ErrNoZone where none is declared.
func (c Client) Zones(ctx context.Context, word string) (l ZoneList, err error) {
	err = c.get(ctx, zonePath+"?"+url.Values{zoneParam: {word}}.Encode(), &l)
	var none *NoZoneError
	switch {
	case errors.As(err, &none):
		none.Zone = word
	case err == nil && l.Version != Version:
		err = newer(l.Version)
	}
	return l, err
}

func newer(version int) error {
	return fmt.Errorf("%w: its status has version %d, but this program reads version %d", ErrNoAnswer, version, Version)
}

// get asks for a path and reads the answer into a value.
func (c Client) get(ctx context.Context, path string, value any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Base+path, nil)
	if err != nil {
		return err
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		return fmt.Errorf("%w: %s answers %s, which is not a status", ErrNoAnswer, c.Base, response.Status)
	}
	var r refusal
	if response.StatusCode != http.StatusOK && json.Unmarshal(body, &r) == nil && r.Error != "" {
		switch response.StatusCode {
		case http.StatusNotFound:
			return &NoZoneError{Near: r.Near}
		case http.StatusServiceUnavailable:
			return fmt.Errorf("%w: %s", ErrUnread, visible.Text(r.Error))
		}
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s answers %s", ErrNoAnswer, c.Base, response.Status)
	}
	if err := json.Unmarshal(body, value); err != nil {
		return fmt.Errorf("%w: its answer cannot be read: %w", ErrNoAnswer, err)
	}
	return nil
}
