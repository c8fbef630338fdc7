package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// allowed are the licences, by their SPDX names, that a module of the program may have.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0"}

// marks are phrases that only one licence has, in the order in which they are looked for;
// all of one line are needed.
var marks = []struct {
	licence string
	phrases []string
}{
	{"AGPL", []string{"gnu affero general public license"}},
	{"LGPL", []string{"gnu lesser general public license"}},
	{"GPL", []string{"gnu general public license"}},
	{"Apache-2.0", []string{"apache license", "version 2.0"}},
	{"MPL-2.0", []string{"mozilla public license", "2.0"}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "neither the name"}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "names of its contributors"}},
	{"BSD-2-Clause", []string{"redistribution and use in source and binary forms"}},
	{"MIT", []string{"permission is hereby granted, free of charge"}},
	{"ISC", []string{"permission to use, copy, modify, and"}},
}

var identifier = regexp.MustCompile(`SPDX-License-Identifier: ([A-Za-z0-9. -]*[A-Za-z0-9])`)

// classify returns the SPDX name of a licence's text, empty for one that is not known. MPL
// 2.0 names the GPL as a secondary licence, so the title decides where there is one.
func classify(text string) string {
	// Where a project offers several licences, the first that is allowed is ours.
	if found := identifier.FindStringSubmatch(text); found != nil {
		for one := range strings.SplitSeq(found[1], " OR ") {
			if slices.Contains(allowed, one) {
				return one
			}
		}
	}
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	if head := text[:min(len(text), 200)]; strings.Contains(head, "mozilla public license") {
		return "MPL-2.0"
	} else if strings.Contains(head, "apache license") {
		return "Apache-2.0"
	}
	for _, mark := range marks {
		if !slices.ContainsFunc(mark.phrases, func(phrase string) bool { return !strings.Contains(text, phrase) }) {
			return mark.licence
		}
	}
	return ""
}

// licenceOf reads the licence of a module in a folder.
func licenceOf(folder string) (string, error) {
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "COPYING*", "License*", "license*"} {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue // a folder of licences
			}
			if licence := classify(string(text)); licence != "" {
				return licence, nil
			}
		}
	}
	return "", fmt.Errorf("%s has no licence that is known", folder)
}

// module is one of another project in the build.
type module struct{ path, version, folder string }

// platforms are those that releases are built for: what is linked depends on them.
var platforms = []string{"linux", "darwin"}

// modules are those that the program is made of, by their path, on any platform.
func modules(root string) (map[string]module, error) {
	found := map[string]module{}
	for _, platform := range platforms {
		list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/seawall")
		list.Dir, list.Env = root, append(os.Environ(), "GOOS="+platform, "CGO_ENABLED=0")
		var stderr bytes.Buffer
		list.Stderr = &stderr
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("listing modules: %w: %s", err, stderr.String())
		}
		for line := range strings.Lines(string(out)) {
			if parts := strings.Split(strings.TrimSpace(line), "\t"); len(parts) == 3 {
				found[parts[0]] = module{parts[0], parts[1], parts[2]}
			}
		}
	}
	return found, nil
}

// licencesPage is docs/licences.md.
func licencesPage() ([]byte, error) {
	all, err := modules(".")
	if err != nil {
		return nil, err
	}
	return licencesOf(all)
}

func licencesOf(all map[string]module) ([]byte, error) {
	var page bytes.Buffer
	page.WriteString("# Licences\n\nThe modules that are compiled into `seawall`, and the licence of each by its SPDX name. " +
		"`go run ./integration/supply licences` writes this page from the module cache; a test compares it, and fails for a licence that is not one of: " +
		strings.Join(allowed, ", ") + ". [Dependencies](dependencies.md) says what the direct ones are for.\n\n| module | licence |\n|---|---|\n")
	for _, path := range slices.Sorted(maps.Keys(all)) {
		licence, err := licenceOf(all[path].folder)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if !slices.Contains(allowed, licence) {
			return nil, fmt.Errorf("%s has the licence %s, which is not allowed", path, licence)
		}
		fmt.Fprintf(&page, "| `%s` | %s |\n", path, licence)
	}
	return page.Bytes(), nil
}
