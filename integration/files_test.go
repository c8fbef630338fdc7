package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func countLines(text string) int { return strings.Count(strings.TrimSpace(text), "\n") + 1 }
