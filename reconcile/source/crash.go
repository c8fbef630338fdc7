package source

import (
	"context"
	"errors"
	"strings"

	"github.com/seawall-dev/seawall/reconcile"
)

// crashed logs what a process printed that crashed while it fetched or evaluated: once for each crash
// that says something else than the one before. No report has that, as it may quote files.
func (s *Source) crashed(ctx context.Context, p reconcile.Proposal) {
	var all []string
	var crash interface{ Printed() string }
	if errors.As(p.Err, &crash) && crash.Printed() != "" {
		all = append(all, crash.Printed())
	}
	for _, problem := range p.Problems {
		if problem.Printed != "" {
			all = append(all, problem.Message+" ("+problem.Origin.String()+"): "+problem.Printed)
		}
	}
	if len(all) == 0 && p.Err != nil {
		return // nothing shows that it would not crash any more
	}
	before := s.printed
	if s.printed = strings.Join(all, "\n"); s.printed != "" && s.printed != before {
		s.Log.WarnContext(ctx, "a worker process has crashed", "commit", p.Commit, "printed", s.printed,
			"hint", "please report it with what the process has printed; it is tried again")
	}
}
