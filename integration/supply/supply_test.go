package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// The page lists the licence of every module of the program, and each is one that is
// allowed.
func TestLicencesAreListed(t *testing.T) {
	t.Chdir("../..")
	page, err := licencesPage()
	must.Do(t, err)
	have := harness.ReadText(t, "docs/licences.md")
	if string(page) != have {
		t.Error("docs/licences.md is not up to date; write it with: go run ./integration/supply licences")
	}
}

func TestLicencesThatAreNotAllowed(t *testing.T) {
	for text, want := range map[string]string{
		"GNU GENERAL PUBLIC LICENSE\nVersion 3":                                      "which is not allowed",
		"This program is free software under the GNU Affero General\nPublic License": "which is not allowed",
		"All rights reserved.":                                                       "has no licence that is known",
		"":                                                                           "has no licence that is known",
	} {
		folder := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(folder, "LICENSE"), []byte(text), 0o600))
		if _, err := licencesOf(map[string]module{"example.com/a": {"example.com/a", "v1.0.0", folder}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// The document names each module of a binary with version, hash and licence.
func TestSBOM(t *testing.T) {
	t.Chdir("../..")
	binary := filepath.Join(t.TempDir(), "seawall")
	must.Do(t, harness.Build(binary))
	var first, second bytes.Buffer
	must.Do(t, writeSBOM(&first, binary))
	if err := writeSBOM(&second, binary); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("the same binary has another document: %v", err)
	}
	var document struct {
		BOMFormat   string
		SpecVersion string
		Components  []struct {
			Name, Version, Purl string
			Hashes              []struct{ Content string }
			Licenses            []struct{ License struct{ ID string } }
		}
	}
	must.Do(t, json.Unmarshal(first.Bytes(), &document))
	if document.BOMFormat != "CycloneDX" || document.SpecVersion != "1.6" || len(document.Components) < 30 {
		t.Errorf("%s %s with %d components", document.BOMFormat, document.SpecVersion, len(document.Components))
	}
	for _, c := range document.Components {
		if c.Version == "" || !strings.HasPrefix(c.Purl, "pkg:golang/") || len(c.Licenses) != 1 || c.Licenses[0].License.ID == "" || c.Name != "std" && len(c.Hashes) != 1 {
			t.Errorf("%+v", c)
		}
	}
	if err := writeSBOM(&first, "go.mod"); err == nil {
		t.Error("a file that is no binary has a document")
	}
}
