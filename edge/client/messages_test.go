package client

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
)

// What the platform says beside its results is logged once for each text, bounded, without
// secrets and without control characters.
func TestMessagesAreTold(t *testing.T) {
	const secret = "k8Jx2vQpLm9ZtR4wYb7NcD1fGh5sKa3eUo6i"
	edge.NewSecret(secret)
	var log bytes.Buffer
	n := 0
	messages := []string{
		`{"code":10020,"message":"maintenance on Sunday"}`, `{"code":10020,"message":"maintenance on Sunday"}`,
		`"deprecated: use\u001b[31m the new call"`, `{"code":"x","message":"` + strings.Repeat("long ", 200) + `"}`,
		`{"message":"seen ` + secret + ` here"}`, `7`, `{}`, `null`,
	}
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		said := fmt.Sprintf(`"messages": [ %s ]`, messages[n%len(messages)])
		if n++; n > 2*len(messages) {
			said = fmt.Sprintf(`"messages":[{"message":"another %d"}]`, n)
		}
		answer(200, strings.Replace(entryJSON, `"messages":[]`, said, 1))(w, r)
	}).client(t, func(config *Config) { config.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	for range 2 * len(messages) {
		check(t, get(c))
	}
	if got := strings.Count(log.String(), "the platform says"); got != 4 {
		t.Errorf("told %d times:\n%s", got, &log)
	}
	for _, want := range []string{`message="maintenance on Sunday" code=10020 call="GET /zones/`, "deprecated: use", "seen " + edge.Redact(secret) + " here"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("not said: %s\n%s", want, &log)
		}
	}
	for _, bad := range []string{secret[20:], "\x1b", `\x1b`, strings.Repeat("long ", 50)} {
		if strings.Contains(log.String(), bad) {
			t.Errorf("it has %q:\n%s", bad, &log)
		}
	}
	for range 2 * mostMessages {
		check(t, get(c))
	}
	if got := strings.Count(log.String(), "the platform says"); got != mostMessages {
		t.Errorf("told %d times in the end", got)
	}
}
