package evaluate

import (
	"os"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/desired/worker"
	"github.com/seawall-dev/seawall/desired/worker/sandbox/restrict"
	"github.com/seawall-dev/seawall/integration/soak"
)

// The jobs run in real workers: this binary, started anew.
func TestMain(m *testing.M) {
	worker.Main(Jobs, restrict.Process)
	gittest.Isolate()
	os.Exit(soak.Main(m, 0))
}
