package real_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/hashicorp/vault/api"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/sink"
)

// sinkOf is a sink of Seawall at this server, with a token that never changes.
func (v *vaultServer) sinkOf(token string) sink.Vault {
	return sink.Vault{
		Address: v.url(), Prefix: "seawall", CAFile: v.ca.file,
		Auth: sink.VaultAuth{Token: func() (edge.Secret, error) { return edge.NewSecret(token), nil }},
	}
}

func (v *vaultServer) roleOf(secretID string) sink.Vault {
	config := v.sinkOf("")
	config.Auth = sink.VaultAuth{AppRole: &sink.AppRole{
		RoleID: "seawall", SecretID: func() (edge.Secret, error) { return edge.NewSecret(secretID), nil },
	}}
	return config
}

// deliver delivers one secret.
func deliver(t testing.TB, config sink.Vault, key, secret string) error {
	t.Helper()
	sinks, err := sink.New(map[string]sink.Config{"store": {Vault: &config}})
	must.Do(t, err)
	return sinks.Deliver(t.Context(), desired.Sink{Name: "store", Key: key}, edge.NewSecret(secret))
}

// TestVaultVersions: the same secret makes no version, another one makes one, and what
// others write is kept, also what they write at the same moment, and after a deletion.
func TestVaultVersions(t *testing.T) {
	only(t)
	v := startVault(t)
	config := v.sinkOf(v.token("seawall", "1h"))
	want := func(key string, number int, fields map[string]string) {
		t.Helper()
		got, data := v.version("seawall/" + key)
		for name, value := range fields {
			if data[name] != value {
				t.Errorf("%s of %s is %v, want %s", name, key, data[name], value)
			}
		}
		if got != number || len(data) != len(fields) {
			t.Errorf("%s has version %d with %d fields, want %d with %d", key, got, len(data), number, len(fields))
		}
	}
	for _, secret := range []string{"the-first-of-two", "the-first-of-two", "the-second-of-two"} {
		v.do(deliver(t, config, "a", secret))
	}
	want("a", 2, map[string]string{"token": "the-second-of-two"})

	v.do(v.admin.KVv2("secret").Delete(t.Context(), "seawall/a"))
	v.do(deliver(t, config, "a", "after-a-deletion"))
	want("a", 3, map[string]string{"token": "after-a-deletion"})
	v.do(v.admin.KVv2("secret").Destroy(t.Context(), "seawall/a", []int{3}))
	v.do(deliver(t, config, "a", "after-a-destruction"))
	want("a", 4, map[string]string{"token": "after-a-destruction"})
	v.do(v.admin.KVv2("secret").DeleteMetadata(t.Context(), "seawall/a"))
	v.do(deliver(t, config, "a", "from-the-beginning"))
	want("a", 1, map[string]string{"token": "from-the-beginning"})

	v.policy("no-patch", `path "secret/data/seawall/*" { capabilities = ["create", "read", "update"] }`)
	noPatch := v.sinkOf(v.token("no-patch", "1h"))
	for key, config := range map[string]sink.Vault{"patched": config, "put": noPatch} {
		_, err := v.admin.KVv2("secret").Put(t.Context(), "seawall/"+key, map[string]any{"owner": "ada"})
		v.do(err)
		others := 1 // writes of another client that come between the look and the write
		config.Address, config.CAFile = v.between(t, func(r *http.Request) {
			if r.Method != http.MethodGet && others > 0 {
				others--
				_, err := v.admin.KVv2("secret").Put(context.Background(), "seawall/"+key, map[string]any{"owner": "eve"})
				if err != nil {
					t.Error(err)
				}
			}
		}), ""
		v.do(deliver(t, config, key, "beside-what-others-write"))
		want(key, 3, map[string]string{"owner": "eve", "token": "beside-what-others-write"})
		others = 9
		err = deliver(t, config, key, "never-in-time")
		wantText(t, "raced", err, "another client changed it at the same time, twice in a row")
	}
}

// between is the address of a proxy that calls a function before each request.
func (v *vaultServer) between(t testing.TB, before func(*http.Request)) string {
	t.Helper()
	target, err := url.Parse(v.url())
	must.Do(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = v.admin.CloneConfig().HttpClient.Transport
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before(r)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestVaultRefuses reads the errors of a real server as a person would.
func TestVaultRefuses(t *testing.T) {
	only(t)
	v := startVault(t)
	token := v.token("seawall", "1h")
	v.policy("read-only", `path "secret/data/seawall/*" { capabilities = ["read"] }`)
	v.do(v.admin.Sys().MountWithContext(t.Context(), "old", &api.MountInput{Type: "kv", Options: map[string]string{"version": "1"}}))
	v.policy("old", `path "old/*" { capabilities = ["create", "read", "update", "patch"] }`)

	const rights = "its policy allows read, create, update and patch on secret/data/seawall/*"
	const credential = `check that role "seawall" exists and that its credential is valid`
	used := v.secretID(map[string]any{"num_uses": 1})
	v.do(deliver(t, v.roleOf(used), "used", "once"))
	for name, test := range map[string]struct {
		config sink.Vault
		change func(*sink.Vault)
		want   []string
	}{
		"wrong token":     {v.sinkOf("hvs.wrong-token-wrong-token"), nil, []string{"Vault answered 403", "invalid token", "check that the credential is valid"}},
		"expired token":   {v.sinkOf(v.expired()), nil, []string{"Vault answered 403", "check that the credential is valid"}},
		"no right":        {v.sinkOf(v.token("default", "1h")), nil, []string{"reading secret/data/seawall/a", "permission denied", rights}},
		"may only read":   {v.sinkOf(v.token("read-only", "1h")), nil, []string{"writing secret/data/seawall/a", "permission denied", rights}},
		"wrong secret id": {v.roleOf("wrong-secret-id"), nil, []string{"logging in at auth/approle", "invalid", credential}},
		"used secret id":  {v.roleOf(used), nil, []string{"logging in at auth/approle", "invalid", credential}},
		"no such role": {v.roleOf(v.secretID(nil)), func(c *sink.Vault) { c.Auth.AppRole.RoleID = "seawal" }, []string{
			"logging in at auth/approle", `check that role "seawal" exists`,
		}},
		"no such method": {v.roleOf(v.secretID(nil)), func(c *sink.Vault) { c.Auth.AppRole.Mount = "approles" }, []string{"logging in at auth/approles"}},
		"no such engine": {v.sinkOf(v.admin.Token()), func(c *sink.Vault) { c.Mount = "elsewhere" }, []string{"elsewhere"}},
		"version 1":      {v.sinkOf(v.token("old", "1h")), func(c *sink.Vault) { c.Mount = "old" }, []string{"of type KV, version 2"}},
		"other authority": {v.sinkOf(token), func(c *sink.Vault) { c.CAFile = newAuthority(t).file }, []string{
			"certificate signed by unknown authority", "ca_file",
		}},
		"no authority": {v.sinkOf(token), func(c *sink.Vault) { c.CAFile = "" }, []string{"certificate signed by unknown authority", "ca_file"}},
		"other name": {v.sinkOf(token), func(c *sink.Vault) { c.Address = strings.Replace(c.Address, "127.0.0.1", "localhost", 1) }, []string{
			"localhost",
		}},
		"not Vault":     {v.sinkOf(token), func(c *sink.Vault) { c.Address = notVault(t) }, []string{"check that"}},
		"nothing there": {v.sinkOf(token), func(c *sink.Vault) { c.Address = "https://" + freeAddress(t) }, []string{"connection refused"}},
	} {
		if test.change != nil {
			test.change(&test.config)
		}
		wantText(t, name, deliver(t, test.config, "a", "never-delivered"), test.want...)
	}
	v.seal()
	wantText(t, "sealed", deliver(t, v.sinkOf(token), "a", "never-delivered"), "Vault answered 503", "Vault is sealed", "unseal it")
	wantText(t, "sealed, login", deliver(t, v.roleOf("x"), "a", "never-delivered"), "Vault answered 503", "Vault is sealed", "unseal it")
	v.unseal()
	v.do(deliver(t, v.sinkOf(token), "a", "delivered-after-all"))
}

// expired is a token whose time is over.
func (v *vaultServer) expired() string {
	v.t.Helper()
	token := v.token("seawall", "1s")
	v.running.until("the token has expired", func() error {
		if _, err := v.client(token).Auth().Token().LookupSelfWithContext(v.t.Context()); err == nil {
			return errors.New("it is valid")
		}
		return nil
	})
	return token
}

// notVault is a server that answers with a page.
func notVault(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.Copy(w, bytes.NewBufferString("<html><title>Welcome</title></html>"))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// wantText: the error is one line that says all of this, and contains no secret.
func wantText(t testing.TB, name string, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: there is no error", name)
		return
	}
	t.Logf("%s: %v", name, err)
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%s: nothing says %q", name, text)
		}
	}
	for _, text := range []string{"\n", "never-delivered", "hvs.", "wrong-secret-id"} {
		if strings.Contains(err.Error(), text) {
			t.Errorf("%s: the error contains %q", name, text)
		}
	}
}
