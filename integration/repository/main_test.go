package repository

import (
	"os"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
)

func TestMain(m *testing.M) {
	gittest.Isolate()
	os.Exit(m.Run())
}
