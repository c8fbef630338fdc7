package setup

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/notify"
)

// TestTheHostOfARouteIsNoSecret: a chat server in one's own domain takes the names of one's
// zones out of no text.
func TestTheHostOfARouteIsNoSecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(file, []byte("https://chat.shop-of-bea.example/hooks/pa1h-in-the-address\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := schema.SecretRef{File: file}
	routes, err := NotifyRoutes(schema.Notify{Routes: map[string]schema.Route{
		"a": {To: schema.Recipient{Slack: &schema.Address{URL: url}}}, "b": {To: schema.Recipient{Alertmanager: &schema.Address{URL: url}}},
	}}, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop() // the address is read, and nothing is asked
	for _, r := range routes {
		if err := r.Send(ctx, notify.TestMessage(r.Name, time.Now())); err == nil {
			t.Error("a message was sent")
		}
	}
	if got := edge.Redact("www.shop-of-bea.example, pa1h-in-the-address"); got != "www.shop-of-bea.example, [secret]" {
		t.Errorf("got %s", got)
	}
}
