package repository

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/seawall-dev/seawall/integration/harness"
)

var deploy = filepath.Join(harness.Root, "deploy")

// TestDeployYAMLParses reads every document of every YAML file under deploy/.
func TestDeployYAMLParses(t *testing.T) {
	files := filesUnder(t, deploy, ".yaml")
	if len(files) < 9 {
		t.Fatalf("found %d YAML files under deploy/: %v", len(files), files)
	}
	for _, name := range files {
		if strings.Contains(name, filepath.Join("helm", "seawall", "templates")) {
			continue // YAML once Helm has rendered it; integration/real does that
		}
		for _, document := range readYAML[map[string]any](t, name) {
			if len(document) == 0 {
				t.Errorf("%s holds an empty document", name)
			}
		}
	}
}

// TestDeployBuildsWithTheGoOfTheModule keeps the image and the recipes at the
// version go.mod asks for.
func TestDeployBuildsWithTheGoOfTheModule(t *testing.T) {
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(harness.ReadText(t, filepath.Join(harness.Root, "go.mod")))[1]
	for name, want := range map[string]string{
		"container/Dockerfile": "FROM docker.io/library/golang:" + version + "@sha256:",
	} {
		if !strings.Contains(harness.ReadText(t, filepath.Join(deploy, name)), want) {
			t.Errorf("deploy/%s does not say %q", name, want)
		}
	}
}

// TestDeployImagesArePinned: a tag can be moved to another image, a digest cannot.
func TestDeployImagesArePinned(t *testing.T) {
	pinned := regexp.MustCompile(`^FROM [a-z.]+/[a-z/0-9-]+:[a-z0-9.]+@sha256:[0-9a-f]{64}( AS [a-z]+)?$`)
	for line := range strings.Lines(harness.ReadText(t, filepath.Join(deploy, "container", "Dockerfile"))) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "FROM ") && !pinned.MatchString(line) {
			t.Errorf("no full name with a digest: %s", line)
		}
	}
}

// TestDeployImageIsNotRoot looks at the last stage of the image.
func TestDeployImageIsNotRoot(t *testing.T) {
	text := harness.ReadText(t, filepath.Join(deploy, "container", "Dockerfile"))
	last := text[strings.LastIndex(text, "\nFROM "):]
	for _, want := range []string{"FROM gcr.io/distroless/static-", "\nUSER 65532:65532\n", "\nSTOPSIGNAL SIGTERM\n", "\nEXPOSE 8710\n"} {
		if !strings.Contains(last, want) {
			t.Errorf("the last stage of the image does not say %q", want)
		}
	}
}

// readYAML decodes every document of a file.
func readYAML[T any](t *testing.T, name string) []T {
	t.Helper()
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(harness.ReadText(t, name))))
	var documents []T
	for {
		var document T
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) && len(documents) > 0 {
			return documents
		}
		if err != nil {
			t.Fatalf("reading %s: %v", name, err)
		}
		documents = append(documents, document)
	}
}
