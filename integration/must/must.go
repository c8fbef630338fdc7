// Package must ends a test at an error that it has no use for.
package must

// T is what *testing.T, *testing.B and *rapid.T have in common.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Do ends the test where there is an error.
func Do(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}
