package source

import (
	"context"
	"errors"
	"strings"

	"github.com/seawall-dev/seawall/edge/lazyregexp"
	"github.com/seawall-dev/seawall/reconcile"
)

// numbers are those of goroutines and addresses, which differ each time that one fault crashes a process.
var numbers = lazyregexp.New(`0x[0-9a-f]+|[0-9]+`)

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
	printed, before := strings.Join(all, "\n"), s.printed
	s.printed = numbers().ReplaceAllString(printed, "0")
	if printed != "" && s.printed != before {
		s.Log.WarnContext(ctx, "a worker process has crashed", "commit", p.Commit, "printed", printed,
			"hint", "please report it with what the process has printed; it is tried again")
	}
}
