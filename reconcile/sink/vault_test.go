package sink

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/redact/redacttest"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/sink/sinktest"
)

const (
	vaultToken = "hvs.CAESIJ-the-token-of-seawall-itself"
	dnsPath    = "seawall/team/dns"
)

var inVault = desired.Sink{Name: "v", Key: "team/dns"}

func fakeVault(t *testing.T) *sinktest.Vault {
	v := sinktest.NewVault()
	t.Cleanup(v.Close)
	v.Tokens[vaultToken] = sinktest.AllRights
	return v
}

func vaultConfig(address string) Vault {
	return Vault{Address: address, Prefix: "seawall", Auth: VaultAuth{Token: constant(vaultToken)}}
}

func constant(value string) func() (edge.Secret, error) {
	return func() (edge.Secret, error) { return edge.NewSecret(value), nil }
}

func vaultSinks(t *testing.T, c Vault) *Sinks {
	t.Helper()
	return mustNew(t, map[string]Config{"v": {Vault: &c}})
}

func mustDeliver(t *testing.T, s *Sinks, where desired.Sink) {
	t.Helper()
	must.Do(t, errors.Join(s.Check(where), s.Deliver(t.Context(), where, secret)))
}

func wantCalls(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

const (
	read  = "GET secret/data/" + dnsPath
	write = "PUT secret/data/" + dnsPath
	patch = "PATCH secret/data/" + dnsPath
)

// TestVault: a secret is written once and proved, and the same one makes no new
// version, however often it comes.
func TestVault(t *testing.T) {
	v := fakeVault(t)
	s := vaultSinks(t, vaultConfig(v.URL))
	mustDeliver(t, s, inVault)
	wantCalls(t, v.Calls(), read, write, read)
	mustDeliver(t, s, inVault)
	wantCalls(t, v.Calls(), read)
	want := []sinktest.Version{{Data: map[string]any{"token": secret.Reveal()}}}
	if diff := cmp.Diff(want, v.Versions(dnsPath)); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
}

// TestVaultCheckAsksNobody: a plan may be made where Vault is out of reach.
func TestVaultCheckAsksNobody(t *testing.T) {
	v := fakeVault(t)
	if err := vaultSinks(t, vaultConfig(v.URL)).Check(inVault); err != nil {
		t.Error(err)
	}
	wantCalls(t, v.Calls())
}

// TestVaultKeepsOthers: fields of others stay, by each of the ways to write.
func TestVaultKeepsOthers(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*sinktest.Vault)
		calls  []string
	}{
		"patch":        {func(*sinktest.Vault) {}, []string{read, patch, read}},
		"no right":     {func(v *sinktest.Vault) { v.Tokens[vaultToken] = "read create update" }, []string{read, patch, write, read}},
		"older server": {func(v *sinktest.Vault) { v.NoPatch = true }, []string{read, patch, read, write, read}},
	} {
		t.Run(name, func(t *testing.T) {
			v := fakeVault(t)
			test.change(v)
			v.Put(dnsPath, sinktest.Version{Data: map[string]any{"token": "an older one", "owner": "ada", "since": 12345678901234567.0}})
			mustDeliver(t, vaultSinks(t, vaultConfig(v.URL)), inVault)
			wantCalls(t, v.Calls(), test.calls...)
			versions := v.Versions(dnsPath)
			want := map[string]any{"token": secret.Reveal(), "owner": "ada", "since": 12345678901234567.0}
			if diff := cmp.Diff(want, versions[len(versions)-1].Data); len(versions) != 2 || diff != "" {
				t.Errorf("%d versions, the last (-want +got):\n%s", len(versions), diff)
			}
		})
	}
}

// TestVaultDeleted: a deleted version is no reason to begin at none.
func TestVaultDeleted(t *testing.T) {
	v := fakeVault(t)
	v.Put(dnsPath, sinktest.Version{Deleted: true})
	mustDeliver(t, vaultSinks(t, vaultConfig(v.URL)), inVault)
	wantCalls(t, v.Calls(), read, write, read)
}

// TestVaultConcurrent: what somebody writes between reading and writing is not
// lost. Once is taken in; who keeps doing it is told.
func TestVaultConcurrent(t *testing.T) {
	for _, begin := range []string{"empty", "kept"} {
		for times, wantErr := range map[int]bool{1: false, 2: true} {
			v := fakeVault(t)
			if begin == "kept" {
				v.Put(dnsPath, sinktest.Version{Data: map[string]any{"token": "old"}})
			}
			left := times
			v.Before = func(method, _ string) {
				if method != http.MethodGet && left > 0 {
					left--
					v.Put(dnsPath, sinktest.Version{Data: map[string]any{"token": "old", "theirs": "precious"}})
				}
			}
			err := vaultSinks(t, vaultConfig(v.URL)).Deliver(t.Context(), inVault, secret)
			if wantErr {
				wantError(t, err, "another client changed it at the same time")
			} else if err != nil {
				t.Error(err)
			}
			versions := v.Versions(dnsPath)
			if last := versions[len(versions)-1].Data; last["theirs"] != "precious" || (last["token"] == secret.Reveal()) == wantErr {
				t.Errorf("%s, %d times: the last version is %v", begin, times, last)
			}
		}
	}
}

// TestVaultProves: what was accepted is not yet what is there.
func TestVaultProves(t *testing.T) {
	v := fakeVault(t)
	written := false
	v.Before = func(method, _ string) {
		if method == http.MethodGet && written {
			v.Put(dnsPath, sinktest.Version{Data: map[string]any{"token": strings.ToUpper(secret.Reveal())}}) // as long
		}
		written = method != http.MethodGet
	}
	err := vaultSinks(t, vaultConfig(v.URL)).Deliver(t.Context(), inVault, secret)
	wantError(t, err, "reading it back gives something else")
}

// TestVaultLost: the answer to a write is lost after it was done. The library
// asks again, and what is there by then is enough.
func TestVaultLost(t *testing.T) {
	t.Parallel()
	v := fakeVault(t)
	cut := true
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && cut {
			cut = false
			v.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		v.ServeHTTP(w, r)
	}))
	t.Cleanup(between.Close)
	mustDeliver(t, vaultSinks(t, vaultConfig(between.URL)), inVault)
	if n := len(v.Versions(dnsPath)); n != 1 || cut {
		t.Errorf("%d versions, want 1", n)
	}
}

// TestVaultLogins: each way in, and the token that it gave is given back.
func TestVaultLogins(t *testing.T) {
	for name, auth := range map[string]VaultAuth{
		"approle":    {AppRole: &AppRole{RoleID: "seawall", SecretID: constant("the-secret-id-0123456789")}},
		"kubernetes": {Kubernetes: &VaultKubernetes{Role: "seawall", JWT: constant("eyJh.the-token-of-a-pod.xyz")}},
	} {
		t.Run(name, func(t *testing.T) {
			v := fakeVault(t)
			v.SecretIDs["seawall"], v.JWTs["seawall"] = "the-secret-id-0123456789", "eyJh.the-token-of-a-pod.xyz"
			v.Issued, v.Rights = "hvs.issued-by-a-login-to-seawall", sinktest.AllRights
			c := vaultConfig(v.URL)
			c.Auth = auth
			mustDeliver(t, vaultSinks(t, c), inVault)
			wantCalls(t, v.Calls(), "PUT auth/"+name+"/login", read, write, read, "PUT auth/token/revoke-self")
			v.SecretIDs["seawall"], v.JWTs["seawall"], v.Echo = "another", "another", true
			err := vaultSinks(t, c).Deliver(t.Context(), inVault, secret)
			wantError(t, err, `logging in at auth/`+name+`: Vault answered 400 and said "invalid role or secret ID; `)
			wantError(t, err, `check that role "seawall" exists`)
			wantNothing(t, err, "the-secret-id-0123456789", "eyJh.the-token-of-a-pod.xyz")
		})
	}
}

// wantNothing holds an error to repeat none of these, plain or in Base64.
func wantNothing(t *testing.T, err error, values ...string) {
	t.Helper()
	if found := redacttest.For(append(values, secret.Reveal())...).In([]byte(err.Error())); found != "" {
		t.Errorf("the error repeats %s", found)
	}
}

// TestVaultRefuses goes through what can go wrong, with a server that repeats in
// its errors all that it was sent, and looks for it.
func TestVaultRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*sinktest.Vault, *Vault)
		want   string
	}{
		"no right to read":  {func(v *sinktest.Vault, _ *Vault) { v.Tokens[vaultToken] = "" }, "reading secret/data/" + dnsPath + ": Vault answered 403"},
		"no right to write": {func(v *sinktest.Vault, _ *Vault) { v.Tokens[vaultToken] = "read" }, "its policy allows read, create, update and patch on secret/data/seawall/*"},
		"token is over":     {func(v *sinktest.Vault, _ *Vault) { delete(v.Tokens, vaultToken) }, "check that the credential is valid"},
		"sealed":            {func(v *sinktest.Vault, _ *Vault) { v.Sealed = true }, "Vault answered 503 and said \"Vault is sealed; "},
		"no engine":         {func(_ *sinktest.Vault, c *Vault) { c.Mount = "elsewhere" }, "writing elsewhere/data/" + dnsPath + ": Vault answered 404"},
		"version 1":         {func(v *sinktest.Vault, _ *Vault) { v.OldKind = true }, "check the engine at secret"},
		"other namespace":   {func(v *sinktest.Vault, c *Vault) { c.Namespace = "acme" }, "no such namespace"},
		"nobody there":      {func(v *sinktest.Vault, _ *Vault) { v.Close() }, "connection refused"},
		"no credential": {func(_ *sinktest.Vault, c *Vault) {
			c.Auth.Token = func() (edge.Secret, error) { return edge.Secret{}, errors.New("no such file") }
		}, "the credential for Vault: no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := fakeVault(t)
			v.Echo = true
			c := vaultConfig(v.URL)
			test.change(v, &c)
			err := vaultSinks(t, c).Deliver(t.Context(), inVault, secret)
			wantError(t, err, test.want)
			wantNothing(t, err, vaultToken)
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %v", err)
			}
		})
	}
}

// TestVaultComesBack: nothing of a failed delivery is in the way of the next.
func TestVaultComesBack(t *testing.T) {
	t.Parallel()
	v := fakeVault(t)
	s := vaultSinks(t, vaultConfig(v.URL))
	v.Sealed = true
	wantError(t, s.Deliver(t.Context(), inVault, secret), "unseal it; the next run tries again")
	v.Sealed = false
	mustDeliver(t, s, inVault)
}

// TestVaultTimeout holds for all of a delivery, the library's retries included.
func TestVaultTimeout(t *testing.T) {
	t.Parallel()
	v := fakeVault(t)
	stop := make(chan struct{})
	v.Before = func(string, string) { <-stop }
	t.Cleanup(func() { close(stop) })
	c := vaultConfig(v.URL)
	c.Timeout = 50 * time.Millisecond
	begin := time.Now()
	wantError(t, vaultSinks(t, c).Deliver(t.Context(), inVault, secret), "it took longer than 50ms")
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := vaultSinks(t, c).Deliver(ctx, inVault, secret); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
}

// TestVaultIgnoresEnvironment: the configuration is the truth.
func TestVaultIgnoresEnvironment(t *testing.T) {
	other := fakeVault(t)
	for name, value := range map[string]string{
		"VAULT_ADDR": other.URL, "VAULT_AGENT_ADDR": other.URL, "VAULT_TOKEN": "hvs.another", "VAULT_NAMESPACE": "another",
		"VAULT_SKIP_VERIFY": "true", "VAULT_CACERT": "/nowhere", "VAULT_HEADERS": `{"X-Other": "x"}`, "VAULT_WRAP_TTL": "60s",
		"VAULT_PROXY_ADDR": other.URL, "VAULT_MAX_RETRIES": "9", "VAULT_CLIENT_TIMEOUT": "1ns", "VAULT_RATE_LIMIT": "0.0001:0",
	} {
		if name != "VAULT_CACERT" { // the library reads the file before it can be told not to
			t.Setenv(name, value)
		}
	}
	v := fakeVault(t)
	v.SecretIDs["seawall"], v.Issued, v.Rights = "the-secret-id-0123456789", "hvs.issued", sinktest.AllRights
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"X-Other", "X-Vault-Wrap-Ttl", "X-Vault-Namespace"} {
			if r.Header.Get(name) != "" {
				t.Errorf("the environment set %s", name)
			}
		}
		if token := r.Header.Get("X-Vault-Token"); token == "hvs.another" {
			t.Error("the token of the environment was sent")
		}
		v.ServeHTTP(w, r)
	}))
	t.Cleanup(between.Close)
	c := vaultConfig(between.URL)
	c.Auth = VaultAuth{AppRole: &AppRole{RoleID: "seawall", SecretID: constant("the-secret-id-0123456789")}}
	mustDeliver(t, vaultSinks(t, c), inVault)
	wantCalls(t, other.Calls())
}

// TestVaultStays: neither credential nor secret follows a redirect.
func TestVaultStays(t *testing.T) {
	other := fakeVault(t)
	moved := httptest.NewServer(http.RedirectHandler(other.URL+"/v1/secret/data/"+dnsPath, http.StatusTemporaryRedirect))
	t.Cleanup(moved.Close)
	err := vaultSinks(t, vaultConfig(moved.URL)).Deliver(t.Context(), inVault, secret)
	wantError(t, err, "the address redirects to")
	wantCalls(t, other.Calls())
}

// TestVaultTLS: the authorities that are named count, and no others.
func TestVaultTLS(t *testing.T) {
	v := sinktest.NewTLSVault()
	t.Cleanup(v.Close)
	v.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are to fail
	v.Tokens[vaultToken], v.Namespace = sinktest.AllRights, "acme/edge"
	c := vaultConfig(v.URL)
	c.Namespace = "acme/edge"
	wantError(t, vaultSinks(t, c).Deliver(t.Context(), inVault, secret), "certificate signed by unknown authority; set ca_file to")
	c.CAFile = filepath.Join(t.TempDir(), "ca.pem")
	wantError(t, vaultSinks(t, c).Deliver(t.Context(), inVault, secret), "no such file")
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: v.Certificate().Raw})
	for _, test := range []struct {
		pem  []byte
		want string
	}{{[]byte("nothing"), "holds no certificate"}, {authority, ""}} {
		must.Do(t, os.WriteFile(c.CAFile, test.pem, 0o600))
		if err := vaultSinks(t, c).Deliver(t.Context(), inVault, secret); test.want != "" {
			wantError(t, err, test.want)
		} else if err != nil {
			t.Error(err)
		}
	}
}

// outside are keys of which none may lead anywhere.
var outside = []string{
	"", "..", "../x", "a/../../x", "/etc/x", "/", "a//b", "a/", "./a", `a\b`, "a\x00b", "a\nb",
	"..%2fx", "%2e%2e/x", "a%2Fb", "a?version=1", "a#b", "a*", "+", "tökèn", "ｅ", "a b", " a", "a;b", strings.Repeat("k/", 300) + "k", strings.Repeat("k", 500),
}

func TestVaultConfined(t *testing.T) {
	v := fakeVault(t)
	s := vaultSinks(t, vaultConfig(v.URL))
	for _, key := range outside {
		where := desired.Sink{Name: "v", Key: key}
		if s.Check(where) == nil || s.Deliver(t.Context(), where, secret) == nil {
			t.Errorf("key %q is taken", key)
		}
	}
	wantCalls(t, v.Calls())
	for _, key := range []string{"a", "data/..a/...", "x@y:1,2=3~-_.z", strings.Repeat("k", 380)} {
		mustDeliver(t, s, desired.Sink{Name: "v", Key: key})
	}
	for _, call := range v.Calls() {
		if _, path, _ := strings.Cut(call, " "); !strings.HasPrefix(path, "secret/data/seawall/") {
			t.Errorf("%s is outside", call)
		}
	}
	for _, path := range v.Paths() {
		if !strings.HasPrefix(path, "seawall/") {
			t.Errorf("%s is outside", path)
		}
	}
}

func TestVaultConfiguration(t *testing.T) {
	good := vaultConfig("https://vault.example:8200")
	for want, change := range map[string]func(*Vault){
		"":                           func(*Vault) {},
		"must be https":              func(c *Vault) { c.Address = "http://vault.example" },
		"must have neither user":     func(c *Vault) { c.Address = "https://a:b@vault.example" },
		"the address is not a URL":   func(c *Vault) { c.Address = "vault" },
		`"": the key is empty`:       func(c *Vault) { c.Prefix = "" },
		`"../x": the key has a part`: func(c *Vault) { c.Prefix = "../x" },
		`"a?b": a path in Vault may contain only`: func(c *Vault) { c.Mount = "a?b" },
		"exactly one of token, approle and":       func(c *Vault) { c.Auth.Kubernetes = &VaultKubernetes{} },
		"approle needs a role and a secret":       func(c *Vault) { c.Auth = VaultAuth{AppRole: &AppRole{}} },
		"kubernetes needs a role":                 func(c *Vault) { c.Auth = VaultAuth{Kubernetes: &VaultKubernetes{}} },
		"must be an absolute path":                func(c *Vault) { c.CAFile = "ca.pem" },
		"below zero":                              func(c *Vault) { c.Timeout = -1 },
	} {
		c := good
		change(&c)
		_, err := New(map[string]Config{"v": {Vault: &c}})
		if want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		wantError(t, err, want)
	}
}
