package setup

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/status"
)

// pair is a certificate for 127.0.0.1 that signs itself, and its key, as files have them.
type pair struct {
	tls.Certificate
	certificate, key []byte
}

func newPair(t *testing.T, name string) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.Do(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must.Do(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must.Do(t, err)
	p := pair{certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})}
	p.Certificate, err = tls.X509KeyPair(p.certificate, p.key)
	must.Do(t, err)
	return p
}

// TestListenTLS: new files are served from the next connection on, and what cannot be used
// leaves the old ones; clients of another authority are refused.
func TestListenTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := schema.Web{
		TLS:   &schema.TLS{Certificate: filepath.Join(dir, "c.pem"), Key: filepath.Join(dir, "k.pem")},
		Login: &schema.Login{Certificates: &schema.Certificates{CA: filepath.Join(dir, "ca.pem")}},
	}
	later := time.Now()
	write := func(file string, data []byte) {
		must.Do(t, os.WriteFile(file, data, 0o600))
		later = later.Add(time.Second) // file systems have coarse times
		must.Do(t, os.Chtimes(file, later, later))
	}
	first, second, people, others := newPair(t, "first"), newPair(t, "second"), newPair(t, "people"), newPair(t, "others")
	if _, err := ListenTLS(w, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "web.tls.certificate") {
		t.Fatalf("without files: %v", err)
	}
	write(w.TLS.Certificate, first.certificate)
	write(w.TLS.Key, second.key)
	write(w.Login.Certificates.CA, people.certificate)
	if _, err := ListenTLS(w, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "private key does not match") {
		t.Fatalf("with the key of another: %v", err)
	}
	write(w.TLS.Key, first.key)
	var log strings.Builder
	began, passed := time.Now(), atomic.Int64{}
	config, err := listenTLS(w, slog.New(slog.NewTextHandler(&log, nil)), func() time.Time { return began.Add(time.Duration(passed.Load())) })
	must.Do(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- status.Serve(ctx, tls.NewListener(listener, config), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, r.Proto)
			for _, c := range r.TLS.VerifiedChains {
				io.WriteString(w, " "+c[0].Subject.CommonName)
			}
		}))
	}()
	ask := func(server pair, client *pair, most uint16) (string, error) {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(server.certificate)
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MaxVersion: most}, ForceAttemptHTTP2: true}
		defer transport.CloseIdleConnections()
		if client != nil {
			transport.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &client.Certificate, nil }
		}
		response, err := (&http.Client{Transport: transport}).Get("https://" + listener.Addr().String())
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return string(body), err
	}
	says := func(server pair, client *pair, want string) {
		t.Helper()
		if got, err := ask(server, client, 0); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	refuses := func(server pair, client *pair, most uint16) {
		t.Helper()
		if got, err := ask(server, client, most); err == nil {
			t.Errorf("got %q", got)
		}
	}
	changed := func(from pair) {
		t.Helper()
		passed.Add(int64(lookAgain - 1))
		says(from, nil, "HTTP/2.0") // it is not looked at so soon
		passed.Add(1)
	}

	says(first, nil, "HTTP/2.0")
	says(first, &people, "HTTP/2.0 people")
	refuses(first, &others, 0)
	refuses(first, nil, tls.VersionTLS11)

	write(w.TLS.Certificate, second.certificate) // the key comes a moment later
	changed(first)
	says(first, nil, "HTTP/2.0")
	write(w.TLS.Key, second.key)
	write(w.Login.Certificates.CA, others.certificate)
	changed(first)
	says(second, &others, "HTTP/2.0 others")
	refuses(second, &people, 0)
	refuses(first, nil, 0)
	must.Do(t, os.Remove(w.Login.Certificates.CA))
	changed(second)
	says(second, &others, "HTTP/2.0 others")
	stop()
	must.Do(t, <-served)
	if text := log.String(); strings.Count(text, "was read again") != 1 || strings.Count(text, "cannot be used; the old one stays") != 2 {
		t.Errorf("the log:\n%s", text)
	}
}
