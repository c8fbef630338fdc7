package mem_test

import (
	"testing"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/redact"
)

// Where the values of the seeded tokens are redacted, names of files, fields and variables
// stay readable.
func TestSeededTokensShareNoWordsWithNames(t *testing.T) {
	for _, token := range mem.DefaultTokens() {
		r := redact.New(1)
		r.Add(token.Value)
		for _, name := range []string{
			"/etc/seawall/credentials/rulesets-token", "tokens-token", "rulesets.token", "sim-rulesets-token", "sim-tokens",
			"SEAWALL_RULESETS_TOKEN", "SEAWALL_TOKENS_TOKEN", "credentials.rulesets", `"tokens_token":`, "simulator-token",
		} {
			if got := r.String(name); got != name {
				t.Errorf("with token %s, %q is shown as %q", token.Name, name, got)
			}
		}
		if got := r.String("sent " + token.Value); got != "sent "+redact.Mark {
			t.Errorf("the value is shown: %s", got)
		}
	}
}
