package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired/worker/sandbox"
)

// sandbox is what this machine offers to restrict workers.
func (d *diagnosis) sandbox(_ context.Context, f *findings) {
	const name = "sandbox"
	here := sandbox.Here()
	missing := strings.Join(here.Missing(), " and ")
	required := setup.CheckSandbox(d.Workers, here)
	switch {
	case setup.SandboxOff(d.Workers):
		f.warn(name, "workers run without one: workers.sandbox is off", "set it to \"auto\"")
	case missing == "":
		f.ok(name, "%s", here)
	case required != nil:
		f.fail(name, required)
	default:
		f.warn(name, fmt.Sprintf("incomplete: this machine lacks %s; it has %s", missing, here), setup.SandboxHint)
	}
}
