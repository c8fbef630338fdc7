package setup

import (
	"fmt"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/forge"
)

// NewForge makes the client of the configured forge; ref is the followed branch.
func NewForge(f schema.Forge, ref string) (*forge.Forge, error) {
	made, err := forge.New(forge.Config{
		Kind: forge.Kind(f.Kind), URL: f.URL, Project: f.Project, Branch: ref, CAFile: f.CAFile,
		Token: func() (edge.Secret, error) { return ReadSecret(f.Token) },
	})
	if err != nil {
		return nil, cli.Fail(fmt.Errorf("forge: %w", err), "see forge in the configuration")
	}
	return made, nil
}
