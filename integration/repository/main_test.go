package repository

import (
	"os"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/soak"
)

func TestMain(m *testing.M) {
	gittest.Isolate()
	os.Exit(soak.Main(m, 0))
}
