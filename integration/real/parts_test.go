package real_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// needs skips a test where programs are missing that a package of Debian has.
func needs(t testing.TB, debian string, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("this test needs %s: %v; apt-get install %s", program, err, debian)
		}
	}
}

// seawall is the program of `make build`.
func seawall(t testing.TB) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(harness.Root, "seawall"))
	must.Do(t, err)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v; run make build", err)
	}
	return path
}

// freeAddress is an address of this machine at which nothing listens.
func freeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

// said is what a program prints, for a test that reads it while the program runs.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// part is a program that runs beside the test and ends with it.
type part struct {
	*said
	t       testing.TB
	command *exec.Cmd
	ended   chan struct{}
}

func start(t testing.TB, command *exec.Cmd) *part {
	t.Helper()
	p := &part{&said{}, t, command, make(chan struct{})}
	command.Stdout, command.Stderr = p.said, p.said
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	command.SysProcAttr.Setpgid = true
	command.WaitDelay = 10 * time.Second
	must.Do(t, command.Start())
	go func() {
		_ = command.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(command.Path), p)
		}
	})
	return p
}

// stop ends the program and what it has started, at first by asking.
func (p *part) stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(20 * time.Second):
	}
	_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL)
	<-p.ended
}

// until waits for what must come while the program runs. The probe returns what is
// missing; nil when all is there.
func (p *part) until(what string, probe func() error) {
	p.t.Helper()
	for late := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		err := probe()
		if err == nil {
			return
		}
		select {
		case <-p.ended:
			p.t.Fatalf("%s has ended before %s: %v", p.command.Path, what, err)
		default:
		}
		if time.Now().After(late) {
			p.t.Fatalf("never: %s: %v", what, err)
		}
	}
}

// listens waits until the program takes connections.
func (p *part) listens(network, address string) {
	p.t.Helper()
	p.until("listening at "+address, func() error {
		conn, err := net.Dial(network, address)
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

// answers is a probe of whether a page is there.
func answers(url string) func() error {
	return func() error {
		answer, err := http.Get(url)
		if err != nil {
			return err
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return errors.New(answer.Status)
		}
		return nil
	}
}

// run runs a program to its end, which must be a success, and returns what it printed.
func run(t testing.TB, command *exec.Cmd) string {
	t.Helper()
	code, out := outcome(t, command)
	if code != 0 {
		t.Fatalf("%s ended with %d:\n%s", strings.Join(command.Args, " "), code, out)
	}
	return out
}

// outcome runs a program to its end within the patience of these tests.
func outcome(t testing.TB, command *exec.Cmd) (code int, out string) {
	t.Helper()
	var text bytes.Buffer
	command.Stdout, command.Stderr, command.WaitDelay = &text, &text, 10*time.Second
	must.Do(t, command.Start())
	timer := time.AfterFunc(patience, func() { _ = command.Process.Kill() })
	defer timer.Stop()
	var exit *exec.ExitError
	if err := command.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v\n%s", strings.Join(command.Args, " "), err, text.String())
	}
	return command.ProcessState.ExitCode(), text.String()
}

// authority is a certificate authority of a test's own.
type authority struct {
	t    testing.TB
	dir  string
	ca   *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // its certificate, in PEM
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir(), key: newKey(t)}
	a.ca = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Authority of a test"},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, a.ca, a.ca, a.key.Public(), a.key)
	must.Do(t, err)
	a.file = filepath.Join(a.dir, "ca.pem")
	writePEM(t, a.file, "CERTIFICATE", der)
	return a
}

// issue makes a certificate for names or addresses, which ends at a time. It returns the
// files of the certificate and of its key.
func (a *authority) issue(end time.Time, names ...string) (certificate, key string) {
	a.t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: names[0]},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: end,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	private := newKey(a.t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.ca, private.Public(), a.key)
	must.Do(a.t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	must.Do(a.t, err)
	folder, err := os.MkdirTemp(a.dir, "issued-")
	must.Do(a.t, err)
	certificate, key = filepath.Join(folder, "certificate.pem"), filepath.Join(folder, "key.pem")
	writePEM(a.t, certificate, "CERTIFICATE", der)
	writePEM(a.t, key, "PRIVATE KEY", secret)
	return certificate, key
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.Do(t, err)
	return key
}

func writePEM(t testing.TB, name, kind string, der []byte) {
	t.Helper()
	writeFile(t, name, string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
}

// writeFile writes a file that only its owner may read.
func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// planner runs `seawall plan` of a source against the simulator.
type planner struct {
	t        testing.TB
	dir      string
	platform platform
}

func newPlanner(t testing.TB) planner {
	t.Helper()
	return planner{t, t.TempDir(), startSimulator(t, seawall(t))}
}

// wanted is a zone of the simulator with a deployment that it does not have.
const wanted = `package edge

account: prod: {
	id: "0123456789abcdef0123456789abcdef"
	ruleset: core: name: "Core Ruleset"
	zone: "shop.example": {id: "00000000000000000000000000000a01", waf: core: {paranoia: %d, unmanaged: "remove"}}
}
`

// plan begins each time without a copy of the repository.
func (p planner) plan(t testing.TB, source string, env ...string) (code int, out string) {
	t.Helper()
	config := writeFile(t, filepath.Join(t.TempDir(), "config.cue"), fmt.Sprintf(
		"source: {%s}\nplatform: base_url: %q\ncredentials: rulesets: env: \"PLATFORM_TOKEN\"\nstate: dir: %q\n",
		source, p.platform.BaseURL, t.TempDir()))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, seawall(t), "plan", "--config", config)
	command.Dir = p.dir
	command.Env = append(append(os.Environ(), "XDG_STATE_HOME="+p.dir, "NO_COLOR=1", "PLATFORM_TOKEN="+p.platform.Rulesets), env...)
	return outcome(t, command)
}
