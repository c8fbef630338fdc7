package control

import (
	"os"
	"testing"

	"github.com/seawall-dev/seawall/integration/soak"
)

func TestMain(m *testing.M) { os.Exit(soak.Main(m, 30)) }
