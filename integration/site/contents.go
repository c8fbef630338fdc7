package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// page is one page of the site.
type page struct {
	Source string // path of its Markdown file, from the top of the repository
	Name   string // of its file in the site
	Title  string // its first heading
}

// section is a part of the table of contents.
type section struct {
	Title string
	Pages []page
}

// contents are the sections, and the files of each. A page of docs/ that is in none goes to
// the reference.
var contents = []struct {
	title string
	files []string
}{
	{"Tutorials", []string{"README.md", "examples/README.md"}},
	{"How-to guides", []string{
		"deploy/README.md", "docs/adopt-a-fleet.md", "docs/add-a-zone.md", "docs/exceptions.md", "docs/from-terraform.md", "docs/staged-rollout.md", "docs/pull-requests.md", "docs/webhooks.md",
		"docs/operations.md", "docs/incident.md", "docs/token-trouble.md", "docs/rotate-credentials.md", "docs/upgrade.md", "docs/backup-and-restore.md", "docs/disaster.md", "docs/several-machines.md",
	}},
	{reference, []string{
		"docs/page.md", "docs/configuration.md", "docs/git.md", "docs/login.md", "docs/desired-state.md", "docs/deploying.md", "docs/rules.md", "docs/expressions.md", "docs/skip-rules.md", "docs/cli.md", "docs/guards.md",
		"docs/tokens.md", "docs/sinks.md", "docs/token-rights.md", "docs/deprecations.md",
		"docs/history.md", "docs/radar.md", "docs/logging.md", "docs/log-messages.md", "docs/metrics.md", "docs/alerts.md", "docs/notifications.md", "docs/traces.md", "docs/simulator.md", "docs/glossary.md", "docs/dependencies.md", "docs/licences.md", "CHANGELOG.md",
	}},
	{"Explanation", []string{
		"ARCHITECTURE.md", "docs/reliability.md", faultsSource, "docs/threat-model.md", "docs/threat-model-machine.md", "docs/performance.md", "docs/adr/README.md", "CONTRIBUTING.md", "SECURITY.md",
	}},
}

const (
	reference = "Reference"
	// faultsSource stands for the page that is made of docs/reliability.md.
	faultsSource = "docs/what-happens-when.md"
)

// listed returns the sections with the files that are there. Those of adr/ that its index
// links to are pages, and in no section.
func listed(root string) (sections []section, others []page, err error) {
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return nil, nil, err
	}
	records, err := filepath.Glob(filepath.Join(root, "docs", "adr", "[0-9]*.md"))
	if err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	for _, c := range contents {
		s := section{Title: c.title}
		for _, file := range c.files {
			known[file] = true
			if _, err := os.Stat(filepath.Join(root, file)); err == nil || file == faultsSource {
				s.Pages = append(s.Pages, page{Source: file, Name: nameOf(file)})
			}
		}
		sections = append(sections, s)
	}
	at := slices.IndexFunc(sections, func(s section) bool { return s.Title == reference })
	for _, path := range docs {
		if file := "docs/" + filepath.Base(path); !known[file] {
			sections[at].Pages = append(sections[at].Pages, page{Source: file, Name: nameOf(file)})
		}
	}
	for _, path := range records {
		file := "docs/adr/" + filepath.Base(path)
		others = append(others, page{Source: file, Name: nameOf(file)})
	}
	return sections, others, nil
}

// nameOf is the file of a page: docs/tokens.md is tokens.html, deploy/README.md deploy.html.
func nameOf(source string) string {
	name := strings.TrimSuffix(strings.TrimPrefix(source, "docs/"), ".md")
	switch name = strings.TrimSuffix(name, "/README"); name {
	case "README":
		name = "index"
	default:
		name = strings.ToLower(strings.ReplaceAll(name, "/", "-"))
	}
	return name + ".html"
}
