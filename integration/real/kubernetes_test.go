package real_test

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

var kubernetesModule = module{
	path: "k8s.io/kubernetes", version: "v1.36.3", program: "k8s.io/kubernetes/cmd/kube-apiserver", cgo: "0",
	goMod: stagedModules,
}

// stagedModules is a go.mod that may build Kubernetes: it requires the modules that are
// developed within it at v0.0.0, and replaces them by its own folders, which the module has
// not. Each is published with the version of Kubernetes.
func stagedModules(own string) string {
	text := "module scratch\n\ngo 1.26\n\nrequire k8s.io/kubernetes v1.36.3\n"
	for _, line := range regexp.MustCompile(`(?m)^\s*(k8s\.io/\S+) v0\.0\.0$`).FindAllStringSubmatch(own, -1) {
		text += fmt.Sprintf("replace %[1]s => %[1]s v0.36.3\n", line[1])
	}
	return text
}

// cluster is an API server of Kubernetes with etcd: everything but the programs that would
// run pods.
type cluster struct {
	t       testing.TB
	dir     string
	address string
	ca      *authority
	server  func() *part
	running *part
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	needs(t, "etcd-server", "etcd")
	needs(t, "kubernetes-client", "kubectl")
	program := filepath.Join(kubernetesModule.build(t), "kube-apiserver")
	c := &cluster{t: t, dir: t.TempDir(), address: freeAddress(t), ca: newAuthority(t)}
	client, peer := "http://"+freeAddress(t), "http://"+freeAddress(t)
	etcd := exec.Command("etcd", "--data-dir", filepath.Join(c.dir, "etcd"), "--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer)
	start(t, etcd).listens("tcp", strings.TrimPrefix(client, "http://"))

	certificate, key := c.ca.issue(time.Now().Add(24*time.Hour), "127.0.0.1", "localhost")
	der, err := x509.MarshalECPrivateKey(newKey(t))
	must.Do(t, err)
	issuer := filepath.Join(c.dir, "issuer.pem")
	writePEM(t, issuer, "EC PRIVATE KEY", der)
	people := writeFile(t, filepath.Join(c.dir, "people.csv"), "s3cret-admin,admin,1,\"system:masters\"\n")
	host, port, err := net.SplitHostPort(c.address)
	must.Do(t, err)
	c.server = func() *part {
		return start(t, exec.Command(program, "--etcd-servers="+client, "--bind-address="+host, "--secure-port="+port,
			"--tls-cert-file="+certificate, "--tls-private-key-file="+key, "--cert-dir="+c.dir, "--token-auth-file="+people, "--authorization-mode=RBAC",
			"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+issuer, "--service-account-signing-key-file="+issuer,
			"--service-cluster-ip-range=10.0.0.0/24", "--v=0"))
	}
	writeFile(t, c.config("admin"), c.kubeconfig("s3cret-admin"))
	c.begin()
	return c
}

// begin starts the API server and waits until it is ready.
func (c *cluster) begin() {
	c.t.Helper()
	c.running = c.server()
	c.running.until("the API server is ready", func() error {
		code, out := outcome(c.t, c.kubectl("get", "--raw", "/readyz"))
		if code != 0 {
			return errors.New(out)
		}
		return nil
	})
	c.running.until("the namespace default is there", func() error { // the last that it makes for itself
		if code, out := outcome(c.t, c.kubectl("get", "namespace", "default")); code != 0 {
			return errors.New(out)
		}
		return nil
	})
}

func (c *cluster) config(who string) string { return filepath.Join(c.dir, who+".kubeconfig") }

func (c *cluster) kubeconfig(token string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: real, cluster: {server: "https://%s", certificate-authority: %q}}]
users: [{name: me, user: {token: %q}}]
contexts: [{name: real, context: {cluster: real, user: me}}]
current-context: real
`, c.address, c.ca.file, token)
}

func (c *cluster) kubectl(args ...string) *exec.Cmd {
	command := exec.Command("kubectl", append([]string{"--kubeconfig", c.config("admin")}, args...)...)
	command.Env = append(os.Environ(), "HOME="+c.dir, "KUBECONFIG=")
	return command
}

// apply creates what a text declares.
func (c *cluster) apply(text string, args ...string) string {
	c.t.Helper()
	command := c.kubectl(append([]string{"apply", "-f", "-"}, args...)...)
	command.Stdin = strings.NewReader(text)
	return run(c.t, command)
}

// TestKubernetesManifests lets the API server judge what deploy/kubernetes and the chart
// declare, in a namespace that takes only restricted pods.
func TestKubernetesManifests(t *testing.T) {
	only(t)
	c := startCluster(t)
	folder := filepath.Join(harness.Root, "deploy", "kubernetes")
	run(t, c.kubectl("apply", "-f", filepath.Join(folder, "namespace.yaml")))
	run(t, c.kubectl("-n", "seawall", "create", "secret", "generic", "seawall-credentials", "--from-literal=rulesets-token=x", "--from-literal=git-token=x"))
	run(t, c.kubectl("-n", "seawall", "create", "serviceaccount", "default")) // a controller's work
	check(t, 0, run(t, c.kubectl("apply", "--dry-run=server", "--validate=strict", "-k", folder)), 0, "deployment.apps/seawall created (server dry run)")
	run(t, c.kubectl("apply", "--validate=strict", "-k", folder))
	c.wantPod("seawall")
	more := filepath.Join(harness.Root, "deploy", "kubernetes-several")
	run(t, c.kubectl("-n", "seawall", "delete", "deployment", "seawall"))
	run(t, c.kubectl("apply", "--validate=strict", "-k", more))
	c.wantPod("seawall")

	t.Run("helm", func(t *testing.T) {
		command := helm(t, "template", "seawall", chart, "--namespace", "charted")
		text := run(t, command)
		c := &cluster{t: t, dir: c.dir, address: c.address, ca: c.ca, running: c.running}
		c.apply("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: charted\n  labels: {pod-security.kubernetes.io/enforce: restricted}\n")
		c.apply(text, "--namespace", "charted", "--dry-run=server", "--validate=strict")
		c.apply(text, "--namespace", "charted", "--validate=strict")
		c.wantPod("charted")
		text = run(t, helm(t, "template", append(several(), "--namespace=charted", "seawall", chart)...))
		c.apply(text, "--namespace", "charted", "--dry-run=server", "--validate=strict")
	})
}

// wantPod: the pod of the deployment is taken by a namespace that enforces the restricted
// standard, and is not if it asks for more.
func (c *cluster) wantPod(namespace string) {
	c.t.Helper()
	var deployment struct {
		Spec struct {
			Template struct{ Metadata, Spec map[string]any }
		}
	}
	out := run(c.t, c.kubectl("-n", namespace, "get", "deployment", "seawall", "-o", "json"))
	must.Do(c.t, json.Unmarshal([]byte(out), &deployment))
	create := func() (int, string) {
		pod := deployment.Spec.Template
		pod.Metadata["name"] = "seawall-0"
		text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": pod.Metadata, "spec": pod.Spec})
		must.Do(c.t, err)
		command := c.kubectl("-n", namespace, "create", "--dry-run=server", "-f", "-")
		command.Stdin = bytes.NewReader(text)
		return outcome(c.t, command)
	}
	if code, out := create(); code != 0 {
		c.t.Errorf("the pod is refused:\n%s", out)
	}
	delete(deployment.Spec.Template.Spec, "securityContext")
	if code, out := create(); code == 0 || !strings.Contains(out, "violates PodSecurity") {
		c.t.Errorf("a pod that may be root is taken:\n%s", out)
	}
}

const tokenOf = `token: %[1]q: {
	policies: [{effect: "allow", resources: "com.vendor.api.account.zone.*": "*", permission_groups: [{id: "4755a26eedb94da69e1066d98aa820be"}]}]
	expires_on: "2099-01-01T00:00:00Z"
	sink: {name: "apps", key: %[2]q}
}
`

// TestKubernetesSink delivers tokens into Secrets, with the Role of the documents.
func TestKubernetesSink(t *testing.T) {
	only(t)
	c := startCluster(t)
	for _, namespace := range []string{"seawall", "apps"} {
		run(t, c.kubectl("create", "namespace", namespace))
	}
	run(t, c.kubectl("-n", "seawall", "create", "serviceaccount", "seawall"))
	role := regexp.MustCompile("(?s)```yaml\n(apiVersion: rbac.authorization.k8s.io/v1\n.*?)```").FindStringSubmatch(harness.ReadText(t, filepath.Join(harness.Root, "docs", "sinks.md")))
	if role == nil {
		t.Fatal("docs/sinks.md has no Role")
	}
	c.apply(role[1])
	writeFile(t, c.config("seawall"), c.kubeconfig(strings.TrimSpace(run(t, c.kubectl("-n", "seawall", "create", "token", "seawall", "--duration=2h")))))
	run(t, c.kubectl("-n", "apps", "create", "secret", "generic", "others", "--from-literal=mine=kept"))

	repo := gittest.New(t)
	declared := fmt.Sprintf(wanted, 4) + fmt.Sprintf(tokenOf, "ci-dns", "dns/api-token") + fmt.Sprintf(tokenOf, "ci-others", "others/api-token")
	repo.Commit("edge.cue", declared)
	d := newDaemon(t, "")
	d.configure(fmt.Sprintf(`source: url: %q
credentials: tokens: file: %q
sinks: apps: kubernetes: {namespace: "apps", kubeconfig: %q}
schedule: {sync: "@every 1s", sweep: "@every 1h"}
`, "file://"+repo.Dir, filepath.Join(d.dir, "tokens"), c.config("seawall")))
	t.Logf("token init: %s", d.command("token", "init"))
	d.start()

	c.wantEntry(d, "dns", "api-token")
	d.until("the Secret without the label is refused", func() error { return d.says("ci-others", " undelivered ") })
	if out := d.command("plan"); !strings.Contains(out, "app.kubernetes.io/managed-by") && !strings.Contains(d.String(), "app.kubernetes.io/managed-by") {
		t.Errorf("nothing says which label is missing:\n%s", out)
	}
	if entry := c.entry("others", "api-token"); entry != "" {
		t.Error("a Secret without the label was changed")
	}
	run(t, c.kubectl("-n", "apps", "label", "secret", "others", "app.kubernetes.io/managed-by=seawall"))
	d.again()
	c.wantEntry(d, "others", "api-token")
	if entry := c.entry("others", "mine"); entry != "kept" {
		t.Errorf("the entry of others is %q", entry)
	}

	c.running.stop()
	repo.Commit("edge.cue", declared+fmt.Sprintf(tokenOf, "ci-late", "late"))
	d.until("the token waits", func() error { return d.says("ci-late", " undelivered ") })
	c.begin()
	d.again()
	c.wantEntry(d, "late", "token")
	if strings.Contains(d.String(), c.entry("late", "token")) {
		t.Error("the log contains a secret")
	}
}

// again starts the daemon anew, so that the test does not wait for the next of its tries.
func (d *daemon) again() {
	d.t.Helper()
	d.stop()
	d.start()
}

// says reports what is missing where the list of tokens has no such line.
func (d *daemon) says(token, state string) error {
	out := d.command("token", "list")
	for line := range strings.Lines(out) {
		if strings.Contains(line, token) && strings.Contains(line, state) {
			return nil
		}
	}
	return fmt.Errorf("the list is\n%s", out)
}

// entry is an entry of a Secret; empty if there is none.
func (c *cluster) entry(secret, name string) string {
	c.t.Helper()
	code, out := outcome(c.t, c.kubectl("-n", "apps", "get", "secret", secret, "-o", "json"))
	if code != 0 {
		return ""
	}
	var read struct{ Data map[string]string }
	must.Do(c.t, json.Unmarshal([]byte(out), &read))
	value, err := base64.StdEncoding.DecodeString(read.Data[name])
	must.Do(c.t, err)
	return string(value)
}

func (c *cluster) wantEntry(d *daemon, secret, name string) {
	c.t.Helper()
	d.until("the Secret "+secret+" has "+name, func() error {
		if c.entry(secret, name) == "" {
			return errors.New("it has no such entry")
		}
		return nil
	})
}
