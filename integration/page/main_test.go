// Package page runs the real program and asks for its pages and /api/v1.
package page

import (
	"os"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m, nil)) }
