package sink

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/sink/sinktest"
)

const (
	podToken = "eyJhbGciOiJSUzI1NiJ9.token-of-the-service-account.sig"

	readDNS   = "GET apps/secrets/dns"
	createDNS = "POST apps/secrets"
	patchDNS  = "PATCH apps/secrets/dns"
)

var (
	inCluster = desired.Sink{Name: "k", Key: "dns"}
	ours      = map[string]string{ownerLabel: owner, "team": "edge"}
)

func fakeCluster(t *testing.T) *sinktest.Kubernetes {
	k := sinktest.NewKubernetes()
	t.Cleanup(k.Close)
	k.Token = podToken
	return k
}

// inPod gives the sinks the surroundings of a pod of the cluster.
func inPod(t *testing.T, k *sinktest.Kubernetes, c Kubernetes) *Sinks {
	t.Helper()
	u, err := url.Parse(k.URL)
	must.Do(t, err)
	host, port, err := net.SplitHostPort(u.Host)
	must.Do(t, err)
	t.Setenv("KUBERNETES_SERVICE_HOST", host)
	t.Setenv("KUBERNETES_SERVICE_PORT", port)
	account := t.TempDir()
	writeFile(t, filepath.Join(account, "token"), podToken+"\n")
	writeFile(t, filepath.Join(account, "ca.crt"), string(k.CA()))
	if c.Namespace == "" {
		c.Namespace = "apps"
	}
	s := mustNew(t, map[string]Config{"k": {Kubernetes: &c}})
	to := s.byName["k"].(server)
	to.remote = cluster{to.remote.(cluster).Kubernetes, account}
	s.byName["k"] = to
	return s
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
}

// TestKubernetes: a Secret is made once and proved, and nothing is sent for what
// is there.
func TestKubernetes(t *testing.T) {
	k := fakeCluster(t)
	s := inPod(t, k, Kubernetes{})
	mustDeliver(t, s, inCluster)
	wantCalls(t, k.Calls(), readDNS, createDNS, readDNS)
	mustDeliver(t, s, inCluster)
	wantCalls(t, k.Calls(), readDNS)
	want := map[string]sinktest.Secret{"dns": {
		Labels: map[string]string{ownerLabel: owner}, Type: "Opaque", Version: "1",
		Data: map[string][]byte{"token": []byte(secret.Reveal())},
	}}
	if diff := cmp.Diff(want, k.Secrets()); diff != "" {
		t.Errorf("Secrets (-want +got):\n%s", diff)
	}
}

// TestKubernetesCheckAsksNobody: a plan may be made outside of the cluster.
func TestKubernetesCheckAsksNobody(t *testing.T) {
	s := mustNew(t, map[string]Config{"k": {Kubernetes: &Kubernetes{Namespace: "apps", Kubeconfig: "/nowhere"}}})
	if err := s.Check(inCluster); err != nil {
		t.Error(err)
	}
}

// TestKubernetesKeepsOthers: one entry changes, and nothing else does.
func TestKubernetesKeepsOthers(t *testing.T) {
	k := fakeCluster(t)
	k.Put("dns", sinktest.Secret{Labels: ours, Type: "acme/kind", Data: map[string][]byte{"token": []byte("old"), "zone": {0xff, 0}}})
	mustDeliver(t, inPod(t, k, Kubernetes{}), desired.Sink{Name: "k", Key: "dns/api.token"})
	wantCalls(t, k.Calls(), readDNS, patchDNS, readDNS)
	want := sinktest.Secret{
		Labels: ours, Type: "acme/kind", Version: "2",
		Data: map[string][]byte{"token": []byte("old"), "zone": {0xff, 0}, "api.token": []byte(secret.Reveal())},
	}
	if diff := cmp.Diff(want, k.Secrets()["dns"]); diff != "" {
		t.Errorf("the Secret (-want +got):\n%s", diff)
	}
}

// TestKubernetesNotOurs: a Secret that nobody handed over is not written, and not
// even compared.
func TestKubernetesNotOurs(t *testing.T) {
	for name, labels := range map[string]map[string]string{"none": nil, "another's": {ownerLabel: "Helm"}, "alike": {ownerLabel: "Seawall"}} {
		k := fakeCluster(t)
		s := inPod(t, k, Kubernetes{})
		before := sinktest.Secret{Labels: labels, Data: map[string][]byte{"token": []byte(secret.Reveal())}}
		k.Put("dns", before)
		err := s.Deliver(t.Context(), inCluster, secret)
		wantError(t, err, "kubectl -n apps label secret dns app.kubernetes.io/managed-by=seawall")
		wantCalls(t, k.Calls(), readDNS)
		k.Put("dns", sinktest.Secret{Labels: ours})
		if err := s.Deliver(t.Context(), inCluster, secret); err != nil {
			t.Errorf("%s: handed over: %v", name, err)
		}
	}
}

// TestKubernetesConcurrent: what somebody writes between reading and writing is
// not lost, and a label that is taken away counts at once.
func TestKubernetesConcurrent(t *testing.T) {
	theirs := sinktest.Secret{Labels: ours, Data: map[string][]byte{"theirs": []byte("precious")}}
	for name, test := range map[string]struct {
		begin  *sinktest.Secret
		change func(*sinktest.Kubernetes)
		times  int
		want   string
	}{
		"made":        {nil, func(k *sinktest.Kubernetes) { k.Put("dns", theirs) }, 1, ""},
		"changed":     {&sinktest.Secret{Labels: ours}, func(k *sinktest.Kubernetes) { k.Put("dns", theirs) }, 1, ""},
		"for ever":    {&sinktest.Secret{Labels: ours}, func(k *sinktest.Kubernetes) { k.Put("dns", theirs) }, 2, "another client changed it"},
		"deleted":     {&theirs, func(k *sinktest.Kubernetes) { k.Delete("dns") }, 1, ""},
		"taken away":  {&theirs, func(k *sinktest.Kubernetes) { k.Put("dns", sinktest.Secret{Data: theirs.Data}) }, 1, "is not written: it does not have the label"},
		"made by one": {nil, func(k *sinktest.Kubernetes) { k.Put("dns", sinktest.Secret{Data: theirs.Data}) }, 1, "is not written: it does not have the label"},
	} {
		t.Run(name, func(t *testing.T) {
			k := fakeCluster(t)
			s := inPod(t, k, Kubernetes{})
			if test.begin != nil {
				k.Put("dns", *test.begin)
			}
			left := test.times
			k.Before = func(method, _ string) {
				if method != http.MethodGet && left > 0 {
					left--
					test.change(k)
				}
			}
			err := s.Deliver(t.Context(), inCluster, secret)
			got := k.Secrets()["dns"]
			if test.want != "" {
				wantError(t, err, test.want)
			} else if err != nil || string(got.Data["token"]) != secret.Reveal() {
				t.Errorf("got %v, %v", got, err)
			}
			if name != "deleted" && string(got.Data["theirs"]) != "precious" {
				t.Error("what somebody else wrote is lost")
			}
			if _, there := got.Data["token"]; there && test.want != "" {
				t.Error("it was written all the same")
			}
		})
	}
}

// TestKubernetesRefuses goes through what can go wrong, with a server that
// repeats in its errors all that it was sent, and looks for it.
func TestKubernetesRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*sinktest.Kubernetes, *Kubernetes)
		want   string
	}{
		"no right to read":   {func(k *sinktest.Kubernetes, _ *Kubernetes) { k.Rights = map[string]bool{} }, "reading Secret apps/dns: Kubernetes answered 403"},
		"no right to create": {func(k *sinktest.Kubernetes, _ *Kubernetes) { k.Rights = map[string]bool{"get": true} }, "its Role needs get, create and patch on secrets in namespace apps"},
		"no right to patch": {func(k *sinktest.Kubernetes, _ *Kubernetes) {
			k.Rights = map[string]bool{"get": true, "create": true}
			k.Put("dns", sinktest.Secret{Labels: ours})
		}, "writing Secret apps/dns: Kubernetes answered 403"},
		"another's token": {func(k *sinktest.Kubernetes, _ *Kubernetes) { k.Token = "another" }, "the credential is not valid or has expired"},
		"no namespace":    {func(_ *sinktest.Kubernetes, c *Kubernetes) { c.Namespace = "other" }, "check that the namespace other exists"},
		"immutable": {func(k *sinktest.Kubernetes, _ *Kubernetes) {
			k.Put("dns", sinktest.Secret{Labels: ours, Immutable: true})
		}, "it is immutable: delete it"},
		"down":         {func(k *sinktest.Kubernetes, _ *Kubernetes) { k.Down = 503 }, "Kubernetes answered 503"},
		"elsewhere":    {func(k *sinktest.Kubernetes, _ *Kubernetes) { k.Down = 307 }, "Kubernetes answered 307"},
		"nonsense":     {func(k *sinktest.Kubernetes, _ *Kubernetes) { k.Down = 200 }, "the answer is not a Secret"},
		"nobody there": {func(k *sinktest.Kubernetes, _ *Kubernetes) { k.Close() }, "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			k := fakeCluster(t)
			k.Echo = true
			var c Kubernetes
			test.change(k, &c)
			err := inPod(t, k, c).Deliver(t.Context(), inCluster, secret)
			wantError(t, err, test.want)
			wantNothing(t, err, podToken)
		})
	}
}

// TestKubernetesComesBack: nothing of a failed delivery is in the way of the
// next, and a token that the kubelet has replaced counts at once.
func TestKubernetesComesBack(t *testing.T) {
	k := fakeCluster(t)
	s := inPod(t, k, Kubernetes{})
	k.Token = "the-token-of-the-next-hour"
	wantError(t, s.Deliver(t.Context(), inCluster, secret), "answered 401")
	writeFile(t, filepath.Join(s.byName["k"].(server).remote.(cluster).account, "token"), k.Token)
	mustDeliver(t, s, inCluster)
}

func TestKubernetesTimeout(t *testing.T) {
	k := fakeCluster(t)
	stop := make(chan struct{})
	k.Before = func(string, string) { <-stop }
	t.Cleanup(func() { close(stop) })
	s := inPod(t, k, Kubernetes{Timeout: 50 * time.Millisecond})
	wantError(t, s.Deliver(t.Context(), inCluster, secret), "reading Secret apps/dns: it took longer than 50ms")
}

// TestKubernetesConfined: no key leads out of the Secrets of the namespace, and
// no two keys to one place.
func TestKubernetesConfined(t *testing.T) {
	k := fakeCluster(t)
	s := inPod(t, k, Kubernetes{})
	keys := append(slices.Clone(outside), "A", "-a", "a-", "a..b", ".a", "a/b/c", "a/..", "a/..b", "a/b c", "a/"+strings.Repeat("e", 254), strings.Repeat("n", 254), "a_b", "dns/token")
	for _, key := range keys {
		where := desired.Sink{Name: "k", Key: key}
		if s.Check(where) == nil || s.Deliver(t.Context(), where, secret) == nil {
			t.Errorf("key %q is taken", key)
		}
	}
	wantCalls(t, k.Calls())
	for _, key := range []string{"a", "a.b-c.0/.dockerconfigjson", "a/A_b-c.d", strings.Repeat("n", 253) + "/" + strings.Repeat("e", 253)} {
		mustDeliver(t, s, desired.Sink{Name: "k", Key: key})
	}
	for _, call := range k.Calls() {
		if _, path, _ := strings.Cut(call, " "); path != "apps/secrets" && !strings.HasPrefix(path, "apps/secrets/") {
			t.Errorf("%s is outside", call)
		}
	}
}

func TestKubernetesConfiguration(t *testing.T) {
	for want, c := range map[string]Kubernetes{
		`the namespace ""`:          {},
		`the namespace "a/b"`:       {Namespace: "a/b"},
		`the namespace "nnn`:        {Namespace: strings.Repeat("n", 64)},
		"a context needs":           {Namespace: "a", Context: "c"},
		"must be an absolute path":  {Namespace: "a", Kubeconfig: "c"},
		"the timeout -1ns is below": {Namespace: "a", Timeout: -1},
	} {
		_, err := New(map[string]Config{"k": {Kubernetes: &c}})
		wantError(t, err, want)
	}
}

// TestNoPod: outside of a pod it is said what is missing.
func TestNoPod(t *testing.T) {
	k := fakeCluster(t)
	s := inPod(t, k, Kubernetes{})
	must.Do(t, os.Remove(filepath.Join(s.byName["k"].(server).remote.(cluster).account, "token")))
	wantError(t, s.Deliver(t.Context(), inCluster, secret), "check that the pod mounts its service account")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	wantError(t, s.Deliver(t.Context(), inCluster, secret), "this is not a pod")
}

// kubeconfigs are files, and what comes of each: "" is a delivery.
var kubeconfigs = map[string]struct {
	change map[string]string
	want   string
}{
	"as it is":         {},
	"token file":       {change: map[string]string{"token: TOKEN": "tokenFile: token"}},
	"certificate":      {change: map[string]string{"certificate-authority: ca.pem": "certificate-authority-data: CADATA"}},
	"another user":     {change: map[string]string{"token: TOKEN": "token: another"}, want: "answered 401"},
	"no authority":     {change: map[string]string{"certificate-authority: ca.pem": ""}, want: "certificate signed by unknown authority"},
	"insecure":         {change: map[string]string{"certificate-authority: ca.pem": "insecure-skip-tls-verify: true"}, want: "insecure-skip-tls-verify would expose the secret"},
	"in the clear":     {change: map[string]string{"SERVER": "http://api.example"}, want: "the API server: the address http://api.example must be https"},
	"no address":       {change: map[string]string{"SERVER": "apiserver"}, want: "the API server: the address is not a URL"},
	"program":          {change: map[string]string{"token: TOKEN": "exec: {command: aws}"}, want: "its user needs exec, auth-provider or as"},
	"somebody else":    {change: map[string]string{"token: TOKEN": "as: root"}, want: "its user needs exec, auth-provider or as"},
	"no such context":  {change: map[string]string{"current-context: main": "current-context: gone"}, want: `it has no context "gone"`},
	"no such user":     {change: map[string]string{"user: me": "user: gone"}, want: `it has no user "gone"`},
	"no such cluster":  {change: map[string]string{"cluster: here": "cluster: gone"}, want: `it has no cluster "gone"`},
	"no such file":     {change: map[string]string{"ca.pem": "gone.pem"}, want: "gone.pem: no such file"},
	"not Base64":       {change: map[string]string{"certificate-authority: ca.pem": "certificate-authority-data: '!'"}, want: "is not Base64"},
	"no YAML":          {change: map[string]string{"apiVersion: v1": "apiVersion: [" + podToken}, want: "it is not YAML"},
	"another form":     {change: map[string]string{"token: TOKEN": "token: [TOKEN]"}, want: "in the form of a kubeconfig"},
	"half certificate": {change: map[string]string{"token: TOKEN": "client-certificate: ca.pem"}, want: "client-certificate needs client-key, and the other way round"},
}

const kubeconfigText = `apiVersion: v1
kind: Config
current-context: main
contexts:
- name: other
  context: {cluster: there, user: nobody}
- name: main
  context: {cluster: here, user: me, namespace: kube-system}
clusters:
- name: here
  cluster:
    server: SERVER
    certificate-authority: ca.pem
users:
- name: me
  user:
    token: TOKEN
preferences: {}
`

func TestKubeconfig(t *testing.T) {
	t.Parallel()
	for name, test := range kubeconfigs {
		t.Run(name, func(t *testing.T) {
			k := fakeCluster(t)
			dir, text := t.TempDir(), kubeconfigText
			for _, old := range slices.Sorted(maps.Keys(test.change)) {
				text = strings.ReplaceAll(text, old, test.change[old])
			}
			text = strings.NewReplacer("SERVER", k.URL, "TOKEN", podToken, "CADATA", base64Of(k.CA())).Replace(text)
			writeFile(t, filepath.Join(dir, "config"), text)
			writeFile(t, filepath.Join(dir, "ca.pem"), string(k.CA()))
			writeFile(t, filepath.Join(dir, "token"), podToken+"\n")
			s := mustNew(t, map[string]Config{"k": {Kubernetes: &Kubernetes{Namespace: "apps", Kubeconfig: filepath.Join(dir, "config")}}})
			err := s.Deliver(t.Context(), inCluster, secret)
			if test.want != "" {
				wantError(t, err, test.want)
				wantNothing(t, err, podToken)
				return
			}
			must.Do(t, err)
			wantCalls(t, k.Calls(), readDNS, createDNS, readDNS) // the sink's namespace, not the file's
			other := mustNew(t, map[string]Config{"k": {Kubernetes: &Kubernetes{Namespace: "apps", Kubeconfig: filepath.Join(dir, "config"), Context: "other"}}})
			wantError(t, other.Deliver(t.Context(), inCluster, secret), `it has no cluster "there"`)
		})
	}
}

// TestKubeconfigCertificate: the user is known by a certificate, or asks by way of
// a proxy on the own machine that speaks plain HTTP.
func TestKubeconfigCertificate(t *testing.T) {
	k := fakeCluster(t)
	k.Token = ""
	known := ""
	k.TLS.ClientAuth = tls.RequestClientCert
	inner := k.Config.Handler
	k.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) > 0 {
			known = r.TLS.PeerCertificates[0].Subject.Organization[0]
		}
		inner.ServeHTTP(w, r)
	})
	cert, key := pair(t)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "ca.pem"), string(k.CA()))
	text := strings.NewReplacer("SERVER", k.URL, "token: TOKEN", "client-certificate-data: "+base64Of(cert)+"\n    client-key-data: "+base64Of(key)).Replace(kubeconfigText)
	writeFile(t, filepath.Join(dir, "config"), text)
	s := mustNew(t, map[string]Config{"k": {Kubernetes: &Kubernetes{Namespace: "apps", Kubeconfig: filepath.Join(dir, "config")}}})
	mustDeliver(t, s, inCluster)
	if known != "Seawall of the tests" {
		t.Errorf("the server saw %q", known)
	}

	plain := httptest.NewServer(k) // as kubectl proxy does
	t.Cleanup(plain.Close)
	writeFile(t, filepath.Join(dir, "config"), strings.NewReplacer("SERVER", plain.URL, "certificate-authority: ca.pem", "", "token: TOKEN", "token: ''").Replace(kubeconfigText))
	if err := s.Deliver(t.Context(), inCluster, edge.NewSecret("another-secret-of-a-token")); err != nil {
		t.Error(err)
	}
}

func base64Of(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// pair makes a certificate and its key, in PEM.
func pair(t *testing.T) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.Do(t, err)
	who := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{Organization: []string{"Seawall of the tests"}}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, who, who, &private.PublicKey, private)
	must.Do(t, err)
	secretDER, err := x509.MarshalPKCS8PrivateKey(private)
	must.Do(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secretDER})
}
