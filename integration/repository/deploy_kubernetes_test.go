package repository

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"
)

// TestDeployKustomizationIsWhole: every manifest is listed and every listed
// file is there.
func TestDeployKustomizationIsWhole(t *testing.T) {
	folder := filepath.Join(deploy, "kubernetes")
	kustomization := readYAML[struct {
		Resources          []string
		ConfigMapGenerator []struct {
			Name  string
			Files []string
		} `yaml:"configMapGenerator"`
	}](t, filepath.Join(folder, "kustomization.yaml"))[0]

	listed := append([]string{"kustomization.yaml"}, kustomization.Resources...)
	for _, name := range filesUnder(t, folder, ".yaml") {
		if !slices.Contains(listed, filepath.Base(name)) {
			t.Errorf("kustomization.yaml does not list %s", filepath.Base(name))
		}
	}
	for _, generator := range kustomization.ConfigMapGenerator {
		listed = append(listed, generator.Files...)
	}
	for _, name := range listed {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Errorf("kustomization.yaml lists a file that is not there: %v", err)
		}
	}
}

// deployment is what the daemon's safety in a cluster hangs on.
type deployment struct {
	Spec struct {
		Replicas int
		Strategy struct{ Type string }
		Template struct {
			Spec struct {
				AutomountServiceAccountToken *bool          `yaml:"automountServiceAccountToken"`
				SecurityContext              map[string]any `yaml:"securityContext"`
				Containers                   []container
				Volumes                      []volume
			}
		}
	}
}

type container struct {
	Args            []string
	Env, EnvFrom    []any
	SecurityContext struct {
		AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
		Capabilities             struct{ Drop []string }
	} `yaml:"securityContext"`
	LivenessProbe  probe `yaml:"livenessProbe"`
	ReadinessProbe probe `yaml:"readinessProbe"`
	VolumeMounts   []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
	} `yaml:"volumeMounts"`
	Ports []struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
}

type volume struct {
	Name   string
	Secret struct{ Items []struct{ Path string } }
}

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

func TestDeployKubernetesIsRestricted(t *testing.T) {
	d := readYAML[deployment](t, filepath.Join(deploy, "kubernetes", "deployment.yaml"))[0]
	pod := d.Spec.Template.Spec
	if len(pod.Containers) != 1 || len(pod.Containers[0].Ports) != 1 {
		t.Fatalf("want one container with one port: %+v", pod.Containers)
	}
	c := pod.Containers[0]
	for what, ok := range map[string]bool{
		"one replica":                       d.Spec.Replicas == 1,
		"strategy Recreate":                 d.Spec.Strategy.Type == "Recreate",
		"no service account token":          pod.AutomountServiceAccountToken != nil && !*pod.AutomountServiceAccountToken,
		"not root":                          pod.SecurityContext["runAsNonRoot"] == true,
		"default seccomp profile":           hasMember(pod.SecurityContext["seccompProfile"], "type", "RuntimeDefault"),
		"no privilege escalation":           c.SecurityContext.AllowPrivilegeEscalation != nil && !*c.SecurityContext.AllowPrivilegeEscalation,
		"read-only root file system":        c.SecurityContext.ReadOnlyRootFilesystem,
		"no capability":                     slices.Equal(c.SecurityContext.Capabilities.Drop, []string{"ALL"}),
		"liveness by /healthz":              c.LivenessProbe.HTTPGet == struct{ Path, Port string }{"/healthz", "http"},
		"readiness by /readyz":              c.ReadinessProbe.HTTPGet == struct{ Path, Port string }{"/readyz", "http"},
		"port 8710":                         c.Ports[0].Name == "http" && c.Ports[0].ContainerPort == 8710,
		"no credential in the environment":  len(c.Env) == 0 && len(c.EnvFrom) == 0,
		"credentials, config, state, a tmp": len(pod.Volumes) == 4,
	} {
		if !ok {
			t.Errorf("deploy/kubernetes/deployment.yaml: missing: %s", what)
		}
	}
}

// mountedCredentials returns the paths at which the container finds the files of
// the Secret, sorted.
func mountedCredentials(t *testing.T) []string {
	t.Helper()
	pod := readYAML[deployment](t, filepath.Join(deploy, "kubernetes", "deployment.yaml"))[0].Spec.Template.Spec
	var paths []string
	for _, v := range pod.Volumes {
		for _, m := range pod.Containers[0].VolumeMounts {
			for _, item := range v.Secret.Items {
				if m.Name == v.Name {
					paths = append(paths, path.Join(m.MountPath, item.Path))
				}
			}
		}
	}
	slices.Sort(paths)
	return paths
}

func hasMember(object any, name string, value any) bool {
	m, ok := object.(map[string]any)
	return ok && m[name] == value
}
