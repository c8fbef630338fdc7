package real_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/vault/api"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// vaultModule: Vault is developed with the folders api and sdk of its repository, which the
// module does not contain. Of the published versions of sdk, v0.20.0 lacks what Vault 1.21.4
// calls, and v0.21.0 has a callback with one parameter more than it takes, and a method
// with one result less.
var vaultModule = module{
	path: "github.com/hashicorp/vault", version: "v1.21.4", program: "github.com/hashicorp/vault", cgo: "0",
	goMod: func(own string) string {
		own = regexp.MustCompile(`(?m)^replace \S+ => \./.*$`).ReplaceAllString(own, "")
		return module{path: "github.com/hashicorp/vault", version: "v1.21.4"}.asOwn(own) + "replace github.com/hashicorp/vault/sdk => ./edited\n"
	},
	edit: &edited{
		path: "github.com/hashicorp/vault/sdk", version: "v0.21.0", lines: []line{
			{
				"framework/backend.go",
				"ActivationFunc func(context.Context, *logical.Request, string) error",
				"ActivationFunc func(context.Context, *logical.Request) error",
			},
			{
				"helper/keysutil/lock_manager.go",
				"RestorePolicy" + restore + " error {",
				"RestorePolicy" + restore + " (string, error) {\n\treturn name, lm.restore(ctx, storage, name, backup, force)\n}\n\nfunc (lm *LockManager) restore" + restore + " error {",
			},
		},
	},
}

// restore are the parameters of the method.
const restore = "(ctx context.Context, storage logical.Storage, name, backup string, force bool)"

// vaultServer is a server of Vault over TLS, with what it stores in memory and an engine
// of type KV, version 2, at secret.
type vaultServer struct {
	t       testing.TB
	ca      *authority
	address string
	admin   *api.Client // as root
	key     string      // that opens the seal
	running *part
}

func startVault(t testing.TB) *vaultServer {
	t.Helper()
	program := filepath.Join(vaultModule.build(t), "vault")
	v := &vaultServer{t: t, ca: newAuthority(t), address: freeAddress(t)}
	certificate, key := v.ca.issue(time.Now().Add(24*time.Hour), "127.0.0.1")
	config := writeFile(t, filepath.Join(t.TempDir(), "vault.hcl"), fmt.Sprintf(`storage "inmem" {}
disable_mlock = true
api_addr      = "https://%[1]s"
listener "tcp" {
  address       = %[1]q
  tls_cert_file = %[2]q
  tls_key_file  = %[3]q
}
`, v.address, certificate, key))
	v.running = start(t, exec.Command(program, "server", "-config", config))
	v.running.listens("tcp", v.address)
	v.admin = v.client("")
	v.setUp()
	return v
}

func (v *vaultServer) url() string { return "https://" + v.address }

// client is one with a token. It knows nothing of the environment.
func (v *vaultServer) client(token string) *api.Client {
	v.t.Helper()
	config := api.DefaultConfig()
	config.Address = v.url()
	must.Do(v.t, errors.Join(config.Error, config.ConfigureTLS(&api.TLSConfig{CACert: v.ca.file})))
	client, err := api.NewClient(config)
	must.Do(v.t, err)
	client.SetToken(token)
	client.ClearNamespace()
	return client
}

// setUp is what an administrator does with a new server, with the policy of the documents.
func (v *vaultServer) setUp() {
	v.t.Helper()
	answer, err := v.admin.Sys().InitWithContext(v.t.Context(), &api.InitRequest{SecretShares: 1, SecretThreshold: 1})
	must.Do(v.t, err)
	v.admin.SetToken(answer.RootToken)
	v.key = answer.Keys[0]
	v.unseal()
	policy := regexp.MustCompile("(?s)```hcl\n(.*?)```").FindStringSubmatch(harness.ReadText(v.t, filepath.Join(harness.Root, "docs", "sinks.md")))
	if policy == nil {
		v.t.Fatal("docs/sinks.md has no policy")
	}
	v.policy("seawall", policy[1])
	v.do(v.admin.Sys().MountWithContext(v.t.Context(), "secret", &api.MountInput{Type: "kv", Options: map[string]string{"version": "2"}}))
	v.running.until("the engine is there", func() error { // it converts itself from version 1
		_, err := v.admin.KVv2("secret").Get(v.t.Context(), "none")
		if errors.Is(err, api.ErrSecretNotFound) {
			return nil
		}
		return err
	})
	v.do(v.admin.Sys().EnableAuthWithOptionsWithContext(v.t.Context(), "approle", &api.EnableAuthOptions{Type: "approle"}))
	v.write("auth/approle/role/seawall", map[string]any{"token_policies": "seawall", "token_ttl": "10m"})
	v.write("auth/approle/role/seawall/role-id", map[string]any{"role_id": "seawall"})
}

func (v *vaultServer) do(err error) {
	v.t.Helper()
	must.Do(v.t, err)
}

func (v *vaultServer) unseal() {
	v.t.Helper()
	_, err := v.admin.Sys().UnsealWithContext(v.t.Context(), v.key)
	v.do(err)
	v.running.until("it is the active server", func() error {
		answer, err := v.admin.Sys().HealthWithContext(v.t.Context())
		if err == nil && (answer.Sealed || answer.Standby) {
			err = fmt.Errorf("sealed: %v, standby: %v", answer.Sealed, answer.Standby)
		}
		return err
	})
}

func (v *vaultServer) seal() { v.t.Helper(); v.do(v.admin.Sys().SealWithContext(v.t.Context())) }

func (v *vaultServer) policy(name, text string) {
	v.t.Helper()
	v.do(v.admin.Sys().PutPolicyWithContext(v.t.Context(), name, text))
}

func (v *vaultServer) write(path string, data map[string]any) *api.Secret {
	v.t.Helper()
	answer, err := v.admin.Logical().WriteWithContext(v.t.Context(), path, data)
	v.do(err)
	return answer
}

// secretID is a credential of the role of Seawall.
func (v *vaultServer) secretID(options map[string]any) string {
	v.t.Helper()
	id, _ := v.write("auth/approle/role/seawall/secret-id", options).Data["secret_id"].(string)
	return id
}

// token is one with a policy and a time to live.
func (v *vaultServer) token(policy, ttl string) string {
	v.t.Helper()
	answer, err := v.admin.Auth().Token().CreateWithContext(v.t.Context(), &api.TokenCreateRequest{Policies: []string{policy}, TTL: ttl})
	v.do(err)
	return answer.Auth.ClientToken
}

// tokens counts the tokens that are valid, that of root too.
func (v *vaultServer) tokens() int {
	v.t.Helper()
	answer, err := v.admin.Logical().ListWithContext(v.t.Context(), "auth/token/accessors")
	v.do(err)
	all, _ := answer.Data["keys"].([]any)
	return len(all)
}

// version is the newest version at a path of the engine; 0 without data where there is none.
func (v *vaultServer) version(path string) (number int, data map[string]any) {
	v.t.Helper()
	found, err := v.admin.KVv2("secret").Get(v.t.Context(), path)
	if errors.Is(err, api.ErrSecretNotFound) {
		return 0, nil
	}
	v.do(err)
	return found.VersionMetadata.Version, found.Data
}

// TestVaultSink delivers tokens of a daemon into Vault, with the login and the policy of
// the documents.
func TestVaultSink(t *testing.T) {
	only(t)
	v := startVault(t)
	repo := gittest.New(t)
	declared := fmt.Sprintf(wanted, 4) + inStore("ci-dns", "team/dns", "2099")
	repo.Commit("edge.cue", declared)
	d := newDaemon(t, "")
	secretID := writeFile(t, filepath.Join(d.dir, "secret-id"), v.secretID(nil)+"\n")
	d.configure(fmt.Sprintf(`source: url: %q
credentials: tokens: file: %q
sinks: store: vault: {
	address: %q
	ca_file: %q
	prefix:  "seawall"
	auth: approle: {role_id: "seawall", secret_id: file: %q}
}
schedule: {sync: "@every 1s", sweep: "@every 1h"}
`, "file://"+repo.Dir, filepath.Join(d.dir, "tokens"), v.url(), v.ca.file, secretID))
	t.Logf("token init: %s", d.command("token", "init"))
	before := v.tokens()
	d.start()
	first := v.wantVersion(d, "team/dns", 1)

	_, err := v.admin.KVv2("secret").Patch(t.Context(), "seawall/team/dns", map[string]any{"owner": "ada"})
	v.do(err)
	repo.Commit("edge.cue", fmt.Sprintf(wanted, 4)+inStore("ci-dns", "team/dns", "2098")) // another token
	if second := v.wantVersion(d, "team/dns", 3); second["token"] == first["token"] || second["owner"] != "ada" {
		t.Errorf("version 3 has owner %q, and the secret is another one: %v", second["owner"], second["token"] != first["token"])
	}

	v.seal()
	repo.Commit("edge.cue", fmt.Sprintf(wanted, 4)+inStore("ci-dns", "team/dns", "2098")+inStore("ci-late", "late", "2099"))
	d.until("the delivery fails", func() error {
		if !strings.Contains(d.String(), "unseal it") {
			return errors.New("the log does not contain it")
		}
		return d.says("ci-late", " undelivered ")
	})
	check(t, 0, d.String(), 0, "Vault is sealed")
	v.unseal()
	d.again()
	v.wantVersion(d, "late", 1)
	if after := v.tokens(); after != before {
		t.Errorf("%d tokens of logins are left", after-before)
	}
	for _, path := range []string{"team/dns", "late"} {
		_, data := v.version("seawall/" + path)
		if secret, _ := data["token"].(string); secret == "" || strings.Contains(d.String(), secret) {
			t.Errorf("the log contains the secret of %s, or there is none", path)
		}
	}
}

// inStore declares a token that ends in a year, with its secret in the sink of Vault.
func inStore(name, key, year string) string {
	return strings.NewReplacer(`"apps"`, `"store"`, "2099", year).Replace(fmt.Sprintf(tokenOf, name, key))
}

// wantVersion waits for a version at a path of Seawall, and returns its data.
func (v *vaultServer) wantVersion(d *daemon, path string, number int) (data map[string]any) {
	v.t.Helper()
	d.until(fmt.Sprintf("%s has version %d", path, number), func() error {
		var got int
		if got, data = v.version("seawall/" + path); got != number {
			return fmt.Errorf("it has version %d", got)
		}
		return nil
	})
	return data
}
