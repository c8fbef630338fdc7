package evaluate

import (
	"os"
	"testing"

	"github.com/seawall-dev/seawall/desired/worker"
)

// The jobs run in real workers: this binary, started anew.
func TestMain(m *testing.M) {
	worker.Main(Jobs)
	os.Exit(m.Run())
}
