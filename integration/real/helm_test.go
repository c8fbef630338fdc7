package real_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/seawall-dev/seawall/integration/harness"
)

var helmModule = module{path: "helm.sh/helm/v3", version: "v3.22.0", program: "helm.sh/helm/v3/cmd/helm", cgo: "0"}

// helm is a command of the helm of the machine, or of one that is built. Values that the
// chart requires are set.
func helm(t testing.TB, command string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := exec.LookPath("helm")
	if err != nil {
		m := helmModule
		m.goMod = m.asOwn
		program = filepath.Join(m.build(t), "helm")
	}
	return exec.Command(program, append([]string{command, "--set-file", "config=" + filepath.Join(harness.Root, "deploy", "kubernetes", "config.cue")}, args...)...)
}

// several are the values of several pods over a database.
func several() []string {
	return []string{
		"--set-file", "config=" + filepath.Join(harness.Root, "deploy", "kubernetes-several", "config.cue"), "--set=postgres.enabled=true",
		"--set=credentials.keys={rulesets-token,git-token,postgres-password,seal-key}",
	}
}

var chart = filepath.Join(harness.Root, "deploy", "helm", "seawall")

// TestHelmChart compares what the chart renders with the manifests of deploy/kubernetes.
func TestHelmChart(t *testing.T) {
	only(t)
	check(t, 0, run(t, helm(t, "lint", "--strict", chart)), 0, "0 chart(s) failed")
	rendered := objects(t, run(t, helm(t, "template", "--namespace=seawall", "seawall", chart)))
	for _, name := range []string{"serviceaccount", "storage", "deployment", "networkpolicy"} {
		for key, want := range objects(t, harness.ReadText(t, filepath.Join(harness.Root, "deploy", "kubernetes", name+".yaml"))) {
			got, ok := rendered[key]
			if !ok {
				t.Errorf("the chart has no %s", key)
				continue
			}
			same(t, key, plain(want), plain(got))
			delete(rendered, key)
		}
	}
	if left := slices.Sorted(maps.Keys(rendered)); !slices.Equal(left, []string{"ConfigMap seawall-config"}) {
		t.Errorf("beside the manifests, the chart has %q", left)
	}
	config := rendered["ConfigMap seawall-config"]["data"].(map[string]any)["config.cue"]
	if config != harness.ReadText(t, filepath.Join(harness.Root, "deploy", "kubernetes", "config.cue")) {
		t.Errorf("the configuration is %q", config)
	}

	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"no image":        {[]string{"--set=image.repository="}, "set image.repository"},
		"no config":       {[]string{"--set-file=config=/dev/null"}, "set config"},
		"unknown value":   {[]string{"--set=replicas=2"}, "replicas"},
		"two on a volume": {[]string{"--set=replicas=2", "--skip-schema-validation"}, "replicas must be 1"},
		"no database":     {[]string{"--set=postgres.enabled=true"}, "needs state: postgres"},
		"only a database": {several()[:2], "set postgres.enabled=true"},
		"no such digest":  {[]string{"--set=image.digest=sha256:1"}, "digest"},
	} {
		code, out := outcome(t, helm(t, "template", append(test.args, "seawall", chart)...))
		if code == 0 || !strings.Contains(out, test.says) {
			t.Errorf("%s: exit code %d\n%s", name, code, out)
		}
	}
	digest := "sha256:" + strings.Repeat("a", 64)
	pinned := run(t, helm(t, "template", "--set=image.digest="+digest, "seawall", chart))
	if !strings.Contains(pinned, `image: "ghcr.io/seawall-dev/seawall@`+digest+`"`) {
		t.Errorf("the image is not that of the digest:\n%s", pinned)
	}
}

// TestHelmChartOfSeveral compares what the chart renders for several pods with the changes of
// deploy/kubernetes-several.
func TestHelmChartOfSeveral(t *testing.T) {
	only(t)
	rendered := objects(t, run(t, helm(t, "template", append(several(), "--namespace=seawall", "seawall", chart)...)))
	folder := filepath.Join(harness.Root, "deploy", "kubernetes-several")
	declared := func(name, key string) map[string]any {
		return objects(t, harness.ReadText(t, filepath.Join(folder, name+".yaml")))[key]
	}
	got, want := rendered["Deployment seawall"]["spec"].(map[string]any), declared("deployment", "Deployment seawall")["spec"].(map[string]any)
	same(t, "strategy", want["strategy"], got["strategy"])
	same(t, "replicas", want["replicas"], got["replicas"])
	gotPod, wantPod := podOf(got), podOf(want)
	for _, v := range wantPod["volumes"].([]any) {
		volume := plain(v).(map[string]any)
		delete(volume, "persistentVolumeClaim") // null: what the patch takes out
		name := volume["name"]
		i := slices.IndexFunc(gotPod["volumes"].([]any), func(v any) bool { return v.(map[string]any)["name"] == name })
		found := gotPod["volumes"].([]any)[i].(map[string]any)
		if secret, ok := found["secret"].(map[string]any); ok {
			delete(secret, "secretName")
			delete(secret, "defaultMode")
		}
		same(t, name.(string), volume, found)
	}
	for _, constraint := range gotPod["topologySpreadConstraints"].([]any) {
		delete(constraint.(map[string]any)["labelSelector"].(map[string]any)["matchLabels"].(map[string]any), "app.kubernetes.io/instance")
	}
	same(t, "topologySpreadConstraints", wantPod["topologySpreadConstraints"], gotPod["topologySpreadConstraints"])
	key := "PodDisruptionBudget seawall"
	same(t, key, plain(declared("disruption", key)), plain(rendered[key]))
	egress := func(object map[string]any) any { return object["spec"].(map[string]any)["egress"] }
	same(t, "egress", egress(declared("networkpolicy", "NetworkPolicy seawall")), egress(rendered["NetworkPolicy seawall"]))
	if rendered["PersistentVolumeClaim seawall-state"] != nil {
		t.Error("several pods have a volume")
	}
}

// podOf is the specification of the pod in that of a deployment.
func podOf(deployment map[string]any) map[string]any {
	return deployment["template"].(map[string]any)["spec"].(map[string]any)
}

// objects are those of a stream of YAML, by kind and name.
func objects(t testing.TB, text string) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	for {
		var object map[string]any
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if len(object) > 0 {
			name, _ := object["metadata"].(map[string]any)["name"].(string)
			found[object["kind"].(string)+" "+name] = object
		}
	}
}

// plain is an object without what either way of installing adds: its labels, and how a
// changed configuration replaces the pod.
func plain(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		if list, ok := value.([]any); ok {
			for i := range list {
				list[i] = plain(list[i])
			}
		}
		return value
	}
	for name, member := range object {
		object[name] = plain(member)
	}
	for _, added := range []string{
		"labels", "imagePullPolicy", "checksum/config", "helm.sh/resource-policy",
		"app.kubernetes.io/instance", "app.kubernetes.io/part-of",
	} {
		delete(object, added)
	}
	if metadata, ok := object["annotations"].(map[string]any); ok && len(metadata) == 0 {
		delete(object, "annotations")
	}
	if image, ok := object["image"].(string); ok {
		object["image"] = strings.TrimSuffix(strings.TrimPrefix(image, "ghcr.io/seawall-dev/"), ":0.1.0") // kustomization.yaml sets both
	}
	return object
}

func same(t testing.TB, key string, want, got any) {
	t.Helper()
	if reflect.DeepEqual(want, got) {
		return
	}
	a, errA := yaml.Marshal(want)
	b, errB := yaml.Marshal(got)
	t.Errorf("%s of the chart is\n%s\nand of the kustomization\n%s%v", key, b, a, errors.Join(errA, errB))
}
