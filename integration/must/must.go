// Package must ends a test at an error that it has no use for.
package must

import (
	"encoding/json"
	"os"
)

// T is what *testing.T, *testing.B and *rapid.T have in common.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Do ends the test at the first error of those.
func Do(t T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatalf("%v", err)
		}
	}
}

// JSON is what a file says.
func JSON[V any](t T, file string) (says V) {
	t.Helper()
	data, err := os.ReadFile(file)
	Do(t, err)
	Do(t, json.Unmarshal(data, &says))
	return says
}
