package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

// writeSBOM writes what Go recorded in a binary as a CycloneDX document: the program with
// its hash, and each module with its version, its hash of go.sum and its licence. The same
// binary has the same document.
func writeSBOM(w io.Writer, binary string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("reading what Go recorded in %s: %w", binary, err)
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	all, err := modules(".")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	program := cyclonedx.Component{
		BOMRef: purl(info.Main.Path, info.Main.Version), Type: cyclonedx.ComponentTypeApplication, Name: info.Main.Path, Version: info.Main.Version,
		PackageURL: purl(info.Main.Path, info.Main.Version),
		Hashes:     &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
		Licenses:   &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
	}
	components := []cyclonedx.Component{{
		BOMRef: purl("std", info.GoVersion), Type: cyclonedx.ComponentTypeLibrary, Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"),
		PackageURL: purl("std", strings.TrimPrefix(info.GoVersion, "go")), Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "BSD-3-Clause"}}},
	}}
	needed := []string{components[0].BOMRef}
	for _, dep := range info.Deps {
		component, err := componentOf(dep, all)
		if err != nil {
			return err
		}
		components, needed = append(components, component), append(needed, component.BOMRef)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &program}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: program.BOMRef, Dependencies: &needed}}
	return cyclonedx.NewBOMEncoder(w, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cyclonedx.SpecVersion1_6)
}

func componentOf(dep *debug.Module, all map[string]module) (cyclonedx.Component, error) {
	if dep.Replace != nil {
		dep = dep.Replace
	}
	component := cyclonedx.Component{
		BOMRef: purl(dep.Path, dep.Version), Type: cyclonedx.ComponentTypeLibrary, Name: dep.Path, Version: dep.Version, PackageURL: purl(dep.Path, dep.Version),
	}
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(dep.Sum, "h1:")); err == nil && len(sum) == sha256.Size {
		component.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	}
	known, ok := all[dep.Path]
	if !ok || known.version != dep.Version {
		return component, fmt.Errorf("the binary has %s %s, and the source has %s: it was built from another commit", dep.Path, dep.Version, known.version)
	}
	licence, err := licenceOf(known.folder)
	component.Licenses = &cyclonedx.Licenses{{License: &cyclonedx.License{ID: licence}}}
	return component, err
}

func purl(path, version string) string { return "pkg:golang/" + path + "@" + version }
