package control

import (
	"os"
	"testing"

	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/integration/soak"
)

func TestMain(m *testing.M) { os.Exit(soak.Main(servers{m}, 30)) }

// servers are tests that share a PostgreSQL.
type servers struct{ *testing.M }

func (m servers) Run() int { return pgtest.Main(m.M) }
