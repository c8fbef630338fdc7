package setup

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired/trusted"
	"github.com/seawall-dev/seawall/edge/outbound"
)

// lookAgain is how often the files of a certificate are looked at, at most.
const lookAgain = time.Second

// mostCertificate bounds each of these files, in bytes.
const mostCertificate = 1 << 20

// ListenTLS is how listen speaks TLS; nil where it does not. The files are read again when they
// change: while new ones cannot be used, the old ones stay.
func ListenTLS(w schema.Web, log *slog.Logger) (*tls.Config, error) {
	return listenTLS(w, log, time.Now)
}

func listenTLS(w schema.Web, log *slog.Logger, clock func() time.Time) (*tls.Config, error) {
	if w.TLS == nil {
		return nil, nil
	}
	f := &tlsFiles{web: w, log: log, clock: clock}
	config, err := f.read()
	if err != nil {
		return nil, err
	}
	f.config, f.seen, f.looked = config, f.stamps(), f.clock()
	outer := config.Clone()
	outer.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return f.current(), nil }
	return outer, nil
}

// tlsFiles is the certificate of listen, and the authorities of its clients.
type tlsFiles struct {
	web   schema.Web
	log   *slog.Logger
	clock func() time.Time

	mu     sync.Mutex
	config *tls.Config
	seen   [3]stamp // of the files that config is from, or of those that could not be used
	looked time.Time
}

// stamp tells one state of a file from another.
type stamp struct {
	changed time.Time
	size    int64
}

func (f *tlsFiles) files() [3]string {
	list := [3]string{f.web.TLS.Certificate, f.web.TLS.Key}
	if l := f.web.Login; l != nil && l.Certificates != nil {
		list[2] = l.Certificates.CA
	}
	return list
}

func (f *tlsFiles) stamps() (list [3]stamp) {
	for i, file := range f.files() {
		if info, err := os.Stat(file); err == nil { // an error: as if it were empty
			list[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return list
}

// current is the configuration from the files as they are now, if they can be used.
func (f *tlsFiles) current() *tls.Config {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.clock()
	if at.Sub(f.looked) < lookAgain {
		return f.config
	}
	f.looked = at
	now := f.stamps()
	if now == f.seen {
		return f.config
	}
	f.seen = now
	config, err := f.read()
	if err != nil {
		f.log.Error("the new certificate of listen cannot be used; the old one stays", "error", err.Error())
		return f.config
	}
	f.log.Info("the certificate of listen was read again", "certificate", f.web.TLS.Certificate)
	f.config = config
	return config
}

// read reads the files. Sessions of TLS are not resumed: each connection shows a certificate
// that the authorities of now have issued.
func (f *tlsFiles) read() (*tls.Config, error) {
	certificate, err := trusted.ReadSmall(f.web.TLS.Certificate, mostCertificate)
	if err != nil {
		return nil, fmt.Errorf("web.tls.certificate: %w", err)
	}
	key, err := trusted.ReadSmall(f.web.TLS.Key, mostCertificate)
	if err != nil {
		return nil, fmt.Errorf("web.tls.key: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, cli.Fail(fmt.Errorf("web.tls: %w", err), "certificate and key are files in PEM, and belong together")
	}
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}, SessionTicketsDisabled: true,
	}
	ca := f.files()[2]
	if ca == "" {
		return config, nil
	}
	authorities, err := ReadAuthorities(ca)
	if err != nil {
		return nil, fmt.Errorf("web.login.certificates.ca: %w", err)
	}
	config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
	if !config.ClientCAs.AppendCertsFromPEM(authorities) {
		return nil, fmt.Errorf("web.login.certificates.ca: %s %w", ca, outbound.ErrNoCertificate)
	}
	return config, nil
}
