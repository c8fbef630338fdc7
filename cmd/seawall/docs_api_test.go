package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/page"
)

// apiOperation is what the description of the API has of one method of a path.
type apiOperation struct {
	Summary     string
	Parameters  []struct{ Name, In, Description string }
	RequestBody struct {
		Content map[string]struct {
			Schema struct{ Required []string }
		}
	}
}

func apiPaths(t *testing.T, method string) map[string]apiOperation {
	var description struct {
		Paths map[string]map[string]apiOperation
	}
	must.Do(t, json.Unmarshal(page.OpenAPI, &description))
	paths := map[string]apiOperation{}
	for path, methods := range description.Paths {
		if operation, ok := methods[method]; ok {
			paths[path] = operation
		}
	}
	return paths
}

// apiDoc is a row for each resource.
func apiDoc(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| `GET` | answers with | parameters |\n|---|---|---|\n")
	paths := apiPaths(t, "get")
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		var query []string
		for _, p := range paths[path].Parameters {
			if p.In == "query" {
				query = append(query, fmt.Sprintf("`%s`: %s", p.Name, p.Description))
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", path, paths[path].Summary, strings.Join(query, "<br>"))
	}
	return b.String()
}

// actionDoc is a row for each action.
func actionDoc(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| `POST` | does | needs |\n|---|---|---|\n")
	paths := apiPaths(t, "post")
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		needs := paths[path].RequestBody.Content["application/json"].Schema.Required
		fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", path, paths[path].Summary, strings.Join(needs, "` `"))
	}
	return b.String()
}
