package repository

import (
	"os"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/soak"
)

func TestMain(m *testing.M) {
	gittest.Isolate()
	code := soak.Main(m, 0)
	_ = os.RemoveAll(listsFolder) // does nothing where there is none
	os.Exit(code)
}
