package setup

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired/worker/sandbox"
)

// The values of workers.sandbox, beside "auto".
const (
	sandboxRequired = "required"
	sandboxOff      = "off"
)

// SandboxHint says how to get a complete sandbox.
const SandboxHint = "use a newer kernel, or a container runtime that allows it"

// CheckSandbox returns an error where a sandbox is required that this machine does not
// have.
func CheckSandbox(w schema.Workers, here sandbox.Support) error {
	missing := here.Missing()
	if w.Sandbox != sandboxRequired || len(missing) == 0 {
		return nil
	}
	return cli.Fail(fmt.Errorf("workers.sandbox is required, and this machine lacks %s", strings.Join(missing, " and ")),
		SandboxHint, "or set workers.sandbox to \"auto\"")
}

// SandboxOff reports whether workers run without a sandbox.
func SandboxOff(w schema.Workers) bool { return w.Sandbox == sandboxOff }

// LogSandbox logs, once at start, what the sandbox of workers lacks.
func LogSandbox(w schema.Workers, here sandbox.Support, log *slog.Logger) {
	switch missing := here.Missing(); {
	case w.Sandbox == sandboxOff:
		log.Warn("workers run without a sandbox", "setting", "workers.sandbox")
	case len(missing) > 0:
		log.Warn("the sandbox of workers is incomplete", "missing", strings.Join(missing, ", "), "have", here.String(), "hint", SandboxHint)
	}
}
