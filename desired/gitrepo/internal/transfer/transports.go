package transfer

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	"golang.org/x/net/proxy"
)

// go-git looks transports up by scheme in a table of its own.
func init() { //nolint:gochecknoinits // the table is a variable of the library, before any connection
	client.InstallProtocol("http", transports{plain: client.Protocols["http"], of: overHTTP})
	client.InstallProtocol("https", transports{plain: client.Protocols["https"], of: overHTTP})
	client.InstallProtocol("ssh", transports{plain: client.Protocols["ssh"], of: overSSH})
	client.InstallProtocol("file", transports{plain: client.Protocols["file"], of: asIs})
	proxy.RegisterDialerType(dialScheme, func(u *url.URL, _ proxy.Dialer) (proxy.Dialer, error) {
		t, ok := running.Load(u.Host)
		if !ok {
			return nil, errors.New("the transfer has ended")
		}
		return sshDialer{t.(*Transfer)}, nil
	})
}

// transports makes sessions for transfers, and go-git's own for anything else.
type transports struct {
	plain transport.Transport
	of    func(*Transfer, *transport.Endpoint, transport.Transport) transport.Transport
}

// NewUploadPackSession implements transport.Transport.
func (p transports) NewUploadPackSession(ep *transport.Endpoint, auth transport.AuthMethod) (transport.UploadPackSession, error) {
	t, ok := auth.(*Transfer)
	if !ok {
		return p.plain.NewUploadPackSession(ep, auth)
	}
	defer t.await()()
	s, err := p.of(t, ep, p.plain).NewUploadPackSession(ep, t.Auth)
	if err != nil {
		return nil, err
	}
	return session{s, t}, nil
}

// NewReceivePackSession implements transport.Transport. Nothing is pushed but by a transfer
// that is for it.
func (p transports) NewReceivePackSession(ep *transport.Endpoint, auth transport.AuthMethod) (transport.ReceivePackSession, error) {
	t, ok := auth.(*Transfer)
	if !ok || !t.Push {
		return nil, errors.New("this transfer is not for pushing")
	}
	defer t.await()()
	s, err := p.of(t, ep, p.plain).NewReceivePackSession(ep, t.Auth)
	if err != nil {
		return nil, err
	}
	return pushSession{s, t}, nil
}

func asIs(_ *Transfer, _ *transport.Endpoint, plain transport.Transport) transport.Transport {
	return plain
}

// dialTimeout bounds reaching one address of a host, of which there may be several.
const dialTimeout = 30 * time.Second

// overHTTP is Go's default way of speaking HTTP, over connections that are
// watched. None of them outlives the transfer.
func overHTTP(t *Transfer, _ *transport.Endpoint, _ transport.Transport) transport.Transport {
	trip := http.DefaultTransport.(*http.Transport).Clone()
	trip.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: t.Roots}
	trip.TLSHandshakeTimeout = 0 // the transfer's own bound counts
	dialer := &net.Dialer{Timeout: dialTimeout}
	trip.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return t.watch(conn), nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanup = append(t.cleanup, trip.CloseIdleConnections)
	return githttp.NewClient(&http.Client{Transport: noPages{trip}})
}

// overSSH has go-git dial by way of a "proxy" that is this package: there is no
// other way to its connections.
func overSSH(t *Transfer, ep *transport.Endpoint, plain transport.Transport) transport.Transport {
	ep.Proxy = transport.ProxyOptions{URL: dialScheme + "://" + t.id}
	return plain
}

// dialScheme is the scheme of that proxy; its host is the transfer's id.
const dialScheme = "seawall-transfer"

var (
	running sync.Map // of transfers by their id
	lastID  atomic.Int64
)

// sshDialer dials as go-git would without it, so that ALL_PROXY is heeded.
type sshDialer struct{ transfer *Transfer }

// Dial implements proxy.Dialer.
func (d sshDialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(d.transfer.ctx, network, address)
}

// DialContext implements proxy.ContextDialer. The context is go-git's, which
// knows nothing of the transfer's.
func (d sshDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.transfer.ctx, cancel)() //nolint:contextcheck // both contexts bound the connection
	conn, err := proxy.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return d.transfer.watch(conn), nil
}
