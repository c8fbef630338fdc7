package worker

import (
	"os"
	"os/exec"
	"testing"
)

const limitedEnv = "SEAWALL_TEST_LIMITED"

// A worker starts also where the limit of the service is below its own, as with LimitAS of systemd.
func TestAWorkerStartsBelowAnotherLimit(t *testing.T) {
	if os.Getenv(limitedEnv) != "" {
		if err := limitProcess(3 << 30); err != nil {
			t.Fatal(err)
		}
		return
	}
	limited := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -v 2900000 && exec "$0" -test.run '^TestAWorkerStartsBelowAnotherLimit$'`, os.Args[0])
	limited.Env = append(os.Environ(), limitedEnv+"=1")
	if out, err := limited.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
