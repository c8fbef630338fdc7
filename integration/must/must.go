// Package must ends a test at an error that it has no use for.
package must

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
