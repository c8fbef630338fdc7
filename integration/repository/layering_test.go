package repository

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// rule forbids imports. Packages of the module are written "./edge"; "./edge/..."
// is a package and all below it. Anything else is an import path: with "/..."
// a whole module, "std" every package of the standard library, "outside" every
// package that is neither ours nor the standard library's.
type rule struct {
	from   []string // who must not
	but    []string // who may all the same: named exceptions
	forbid []string // import what
	allow  []string // exceptions among what is forbidden
	reason string
	// caught is a package and an import that the rule must catch: a rule that
	// forbids nothing would pass for ever.
	caught [2]string
}

// The leaves: the far ends of the house, each behind an interface of whoever
// needs it. Only cmd puts them together.
var leaves = []string{
	"./edge/client", "./edge/mem", "./edge/sim", "./edge/edgetest",
	"./desired/compile", "./desired/evaluate", "./desired/gitrepo", "./desired/unitcache", "./desired/worker",
	"./reconcile/ledger", "./reconcile/sink", "./reconcile/forge", "./reconcile/status",
	"./cue/schema/...",
}

// scanning is what searches files for calls that are deprecated, beside the calendar.
var scanning = []string{"./edge/deprecation/scan/...", "./edge/deprecation/report", "./edge/deprecation/search", "./edge/deprecation/fix"}

var rules = []rule{
	{
		from: []string{"./edge"}, forbid: []string{"./...", "outside"}, allow: []string{"./edge/redact"},
		reason: "the platform's nouns and its contract rest on the standard library alone",
		caught: [2]string{"./edge", "github.com/google/go-cmp/cmp"},
	},
	{
		from: []string{"./edge/redact"}, forbid: []string{"./...", "outside", "context", "log/...", "net", "net/http/...", "os/..."},
		reason: "the redactor knows text and nothing of what it is about",
		caught: [2]string{"./edge/redact", "net/http"},
	},
	{
		from: []string{"./edge/exactjson"}, forbid: []string{"./...", "outside", "context", "log/...", "net", "net/http/...", "os/..."},
		reason: "whether JSON has one meaning is asked of text alone",
		caught: [2]string{"./edge/exactjson", "./edge"},
	},
	{
		from: []string{"./edge/expression"}, forbid: []string{"./...", "outside", "context", "log/...", "net", "net/http/...", "os/..."}, allow: []string{"./edge/nearest"},
		reason: "an expression is text: what a rule does with the requests that it matches is not asked",
		caught: [2]string{"./edge/expression", "./edge"},
	},
	{
		from: []string{"./desired"}, forbid: []string{"./...", "outside"}, allow: []string{"./edge", "./edge/deprecation", "./edge/visible"},
		reason: "what should be is plain types: no CUE, no git",
		caught: [2]string{"./desired", "cuelang.org/go/cue"},
	},
	{
		from: []string{"./edge/..."}, forbid: []string{"./desired/...", "./diff/...", "./reconcile/...", "./cmd/...", "./cue/..."},
		reason: "the platform knows nothing of those who use it",
		caught: [2]string{"./edge/mem", "./desired"},
	},
	{
		from: []string{"./desired/..."}, forbid: []string{"./diff/...", "./reconcile/...", "./cmd/..."},
		reason: "arrows point one way: edge, desired, diff, reconcile, cmd",
		caught: [2]string{"./desired/compile", "./diff"},
	},
	{
		from: []string{"./diff/..."}, forbid: []string{"./reconcile/...", "./cmd/..."},
		reason: "arrows point one way: edge, desired, diff, reconcile, cmd",
		caught: [2]string{"./diff", "./reconcile"},
	},
	{
		from: []string{"./cue/..."}, forbid: []string{"./diff/...", "./reconcile/...", "./cmd/..."},
		reason: "the schema decodes to structs of its own; cmd translates them",
		caught: [2]string{"./cue/schema", "./reconcile"},
	},
	{
		from: []string{"./..."}, but: []string{"./cmd/..."}, forbid: []string{"./cmd/..."},
		reason: "cmd is the top: nothing hangs on it",
		caught: [2]string{"./reconcile", "./cmd/seawall"},
	},
	{
		from: []string{"./..."}, but: []string{"./cmd/...", "./edge/sim", "./desired/compile", "./desired/compile/compiletest", "./desired/evaluate", "./desired/unitcache", "./cue/schema", "./reconcile/forge/forgetest", "./reconcile/reconciletest", "./integration/bench", "./integration/chaos", "./integration/faults", "./integration/harness"}, forbid: leaves,
		reason: "a leaf is put in its place by cmd and by nobody else; consumers declare the small interface they need",
		caught: [2]string{"./reconcile", "./edge/client"},
	},
	{
		from: []string{"./edge/sim"}, forbid: leaves, allow: []string{"./edge/mem"},
		reason: "the simulator is HTTP over the twin in memory, and over nothing else",
		caught: [2]string{"./edge/sim", "./edge/client"},
	},
	{
		from: []string{"./desired/compile"}, forbid: leaves, allow: []string{"./cue/schema/..."},
		reason: "compile evaluates a tree against the schema; where the tree came from is not its business",
		caught: [2]string{"./desired/compile", "./desired/gitrepo"},
	},
	{
		from: []string{"./desired/evaluate"}, forbid: leaves,
		allow:  []string{"./desired/compile", "./desired/gitrepo", "./desired/unitcache", "./desired/worker"},
		reason: "evaluate brings git, CUE, the cache and the workers together; the configuration and the platform are cmd's",
		caught: [2]string{"./desired/evaluate", "./cue/schema"},
	},
	{
		from: []string{"./cmd/seawall/internal/cli"}, forbid: []string{"./cmd/..."},
		reason: "the terminal knows no command",
		caught: [2]string{"./cmd/seawall/internal/cli", "./cmd/seawall/internal/setup"},
	},
	{
		from: []string{"./cmd/seawall/internal/..."}, but: []string{"./cmd/seawall/internal/cli"}, forbid: []string{"./cmd/..."},
		allow:  []string{"./cmd/seawall/internal/cli", "./cmd/seawall/internal/heap", "./cmd/seawall/internal/setup"},
		reason: "what a command does uses the terminal, the heap and the setup, and no other command; package main connects them",
		caught: [2]string{"./cmd/seawall/internal/demo", "./cmd/seawall/internal/daemon"},
	},
	{
		from: []string{"./desired/trusted"}, forbid: []string{"./...", "outside", "net", "net/http/...", "os/exec"},
		reason: "who may write to a file is asked before anything is known of what is in it",
		caught: [2]string{"./desired/trusted", "./desired"},
	},
	{
		from: []string{"./desired/failure"}, forbid: []string{"./...", "outside"},
		reason: "the shape of an error is for every package to use",
		caught: [2]string{"./desired/failure", "./desired"},
	},
	{
		from: []string{"./..."}, but: []string{"./desired/worker/sandbox/..."}, forbid: []string{"github.com/landlock-lsm/...", "github.com/elastic/..."},
		reason: "how a process is restricted is one package's, so that each job says only what it needs",
		caught: [2]string{"./desired/worker", "github.com/landlock-lsm/go-landlock/landlock"},
	},
	{
		from: []string{"./desired/gitrepo/signature"}, forbid: []string{"./...", "github.com/go-git/...", "net", "net/http/..."}, allow: []string{"./desired/failure", "./desired/trusted"},
		reason: "whether a signature counts follows from the bytes and the keys: no repository, no network",
		caught: [2]string{"./desired/gitrepo/signature", "./desired/gitrepo"},
	},
	{
		from: []string{"./desired/unitcache"}, forbid: leaves, allow: []string{"./desired/compile"},
		reason: "the cache keeps what compile makes; it evaluates nothing and knows no git",
		caught: [2]string{"./desired/unitcache", "./desired/worker"},
	},
	{
		from: []string{"./cue/schema"}, forbid: leaves, allow: []string{"./cue/schema/..."},
		reason: "the schema stands alone, with how its errors are told",
		caught: [2]string{"./cue/schema", "./desired/compile"},
	},
	{
		from: []string{"./..."}, but: []string{"./edge/client", "./edge/sim"}, forbid: []string{"./edge/internal/wire"},
		reason: "the wire format is between client and simulator; everyone else speaks the contract",
		caught: [2]string{"./edge/mem", "./edge/internal/wire"},
	},
	{
		from: []string{"./edge/internal/wire"}, forbid: []string{"./...", "outside"}, allow: []string{"./edge", "./edge/exactjson"},
		reason: "the codec knows the nouns it carries and nothing more",
		caught: [2]string{"./edge/internal/wire", "./edge/mem"},
	},
	{
		from: []string{"./edge/access", "./edge/nearest", "./edge/visible"}, forbid: []string{
			"./...", "outside", "context", "log/...", "net", "net/http/...", "os/...", "math/rand/...", "crypto/rand",
		}, allow: []string{"./edge"},
		reason: "what a token may do follows from the token alone: no call, no clock, no matter who asks",
		caught: [2]string{"./edge/access", "./desired"},
	},
	{
		from: []string{library}, forbid: []string{"./...", "outside"},
		reason: "what every package may import needs the standard library only",
		caught: [2]string{library, "./edge"},
	},
	{
		from: []string{"./desired/permission"}, forbid: []string{
			"./...", "outside", "context", "log/...", "net", "net/http/...", "os/...", "math/rand/...", "crypto/rand",
		}, allow: []string{"./edge", "./edge/access", "./edge/nearest", "./desired"},
		reason: "whether a declared token has a permission follows from the declaration alone: no call, no clock, no file",
		caught: [2]string{"./desired/permission", "./desired/evaluate"},
	},
	{
		from: []string{"./edge/deprecation", "./edge/deprecation/report"}, forbid: []string{
			"./...", "outside", "context", "log/...", "net", "net/http/...", "os/...", "math/rand/...", "crypto/rand",
		}, allow: []string{"./edge", "./edge/deprecation", "./edge/visible"},
		reason: "what a request leans on follows from the request, the calendar and the day: no call, no clock, no file",
		caught: [2]string{"./edge/deprecation", "net/http"},
	},
	{
		from: []string{"./..."}, but: append([]string{"./cmd/seawall", "./cmd/seawall/internal/deprecations"}, scanning...), forbid: scanning,
		reason: "files are searched by seawall deprecations alone; everyone else has the calendar, its matcher and its observer",
		caught: [2]string{"./cmd/seawall/internal/setup", "./edge/deprecation/report"},
	},
	{
		from: []string{"./cmd/seawall"}, forbid: scanning, allow: []string{"./edge/deprecation/report"},
		reason: "the command that lists the calendar writes it as a report does, and reads no file",
		caught: [2]string{"./cmd/seawall", "./edge/deprecation/scan"},
	},
	{
		from: []string{"./reconcile/review"}, forbid: []string{"./reconcile/source", "./reconcile/queue", "./reconcile/once", "./reconcile/controller"},
		reason: "a review reads, plans and tells; it has no part in what is applied",
		caught: [2]string{"./reconcile/review", "./reconcile/once"},
	},
	{
		from: []string{"./reconcile/postgres"}, forbid: []string{"./..."},
		reason: "connecting knows nothing of what is in the tables",
		caught: [2]string{"./reconcile/postgres", "./reconcile/ledger"},
	},
	{
		from: []string{"./reconcile/lease"}, forbid: []string{"./..."}, allow: []string{"./edge/retry", "./reconcile", "./reconcile/postgres"},
		reason: "who does what follows from rows and clocks, and not from what is done",
		caught: [2]string{"./reconcile/lease", "./reconcile/ledger"},
	},
	{
		from: []string{"./diff/..."}, forbid: []string{
			"context", "log/...", "net", "net/http/...", "os/...", "math/rand/...", "crypto/rand",
		},
		reason: "diff is pure: the same desired and live state give the same plan, and time is an argument",
		caught: [2]string{"./diff", "log/slog"},
	},
	{
		from: []string{"./diff"}, forbid: []string{"./diff/..."}, allow: []string{"./diff/internal/..."},
		reason: "the types of a plan know nothing of who makes, guards or shows plans",
		caught: [2]string{"./diff", "./diff/deployment"},
	},
	{
		from: []string{"./diff/bypass"}, forbid: []string{"./diff/..."}, allow: []string{"./diff", "./diff/internal/..."},
		reason: "what acts on a deployment is judged without knowing what is declared of it, or planned",
		caught: [2]string{"./diff/bypass", "./diff/deployment"},
	},
	{
		from:   []string{"./diff/deployment", "./diff/rule", "./diff/token", "./diff/rulesets", "./diff/guard", "./diff/render"},
		forbid: []string{"./diff/..."}, allow: []string{"./diff", "./diff/bypass", "./diff/rulesets", "./diff/internal/..."},
		reason: "making, guarding and showing a plan are separate: each has the plan alone",
		caught: [2]string{"./diff/guard", "./diff/deployment"},
	},
	{
		from: []string{"./diff/planner"}, forbid: []string{"./diff/..."}, allow: []string{"./diff", "./diff/deployment", "./diff/rule", "./diff/token"},
		reason: "a plan does not depend on what is done with it",
		caught: [2]string{"./diff/planner", "./diff/guard"},
	},
	{
		from: []string{"./..."}, but: []string{"./diff/planner"}, forbid: []string{"./diff/deployment", "./diff/rule", "./diff/token"},
		reason: "only the table of kinds knows one of them by name",
		caught: [2]string{"./reconcile/zone", "./diff/deployment"},
	},
	{
		from: []string{"./diff/planfile"}, forbid: []string{"./diff/..."}, allow: []string{"./diff", "./diff/internal/...", "./diff/render"},
		reason: "a saved plan is compared by what it says, and not by how it was made",
		caught: [2]string{"./diff/planfile", "./diff/planner"},
	},
	{
		from: []string{"./..."}, but: []string{"./desired/compile", "./desired/cuefile", "./cue/schema/..."}, forbid: []string{"cuelang.org/..."},
		reason: "CUE stays at the door: a cue.Value never leaves compile and the schema",
		caught: [2]string{"./cmd/seawall", "cuelang.org/go/cue/load"},
	},
	{
		from: []string{"./desired/cuefile"}, forbid: []string{"./...", "cuelang.org/go/cue", "cuelang.org/go/cue/load", "cuelang.org/go/cue/cuecontext"}, allow: []string{"./edge", "./desired"},
		reason: "writing and editing files is about their syntax: values come in as plain types, and nothing is evaluated",
		caught: [2]string{"./desired/cuefile", "cuelang.org/go/cue"},
	},
	{
		from: []string{"./..."}, but: []string{"./desired/gitrepo/..."}, forbid: []string{"github.com/go-git/..."},
		reason: "git's library sits behind one package and what is internal to it, so that it can be exchanged",
		caught: [2]string{"./desired/compile", "github.com/go-git/go-git/v5"},
	},
	{
		from: []string{"./..."}, but: []string{"./reconcile/ledger/..."}, forbid: []string{"modernc.org/..."},
		reason: "the file is the ledger's",
		caught: [2]string{"./reconcile", "modernc.org/sqlite"},
	},
	{
		from: []string{"./..."}, but: []string{"./reconcile/ledger/...", "./reconcile/postgres", "./reconcile/lease", "./reconcile/jobs", "./edge/client", "./cmd/...", "./integration/pgtest"}, forbid: []string{"database/sql/..."},
		reason: "a database is for those who keep something in it",
		caught: [2]string{"./reconcile", "database/sql"},
	},
	{
		from: []string{"./..."}, but: []string{"./reconcile/jobs", "./reconcile/postgres"}, forbid: []string{"github.com/riverqueue/..."},
		reason: "who hands out work knows what it is about, and not how it is kept",
		caught: [2]string{"./reconcile/review", "github.com/riverqueue/river"},
	},
	{
		from: []string{"./reconcile/jobs"}, forbid: []string{"./..."}, allow: []string{"./edge/retry", "./reconcile"},
		reason: "replicas tell each other what is to be done, and not what that is",
		caught: [2]string{"./reconcile/jobs", "./reconcile/review"},
	},
	{
		from: []string{"./..."}, but: []string{"./reconcile/ledger/internal/seal", "./integration/chaos"}, forbid: []string{"filippo.io/..."},
		reason: "secrets are sealed where they wait, and nowhere else",
		caught: [2]string{"./reconcile/sink", "filippo.io/age"},
	},
	{
		from: []string{"./..."}, but: []string{"./reconcile/sink"}, forbid: []string{"github.com/hashicorp/vault/...", "k8s.io/..."},
		reason: "the clients of vaults and clusters are the sinks'",
		caught: [2]string{"./cmd/seawall", "github.com/hashicorp/vault/api"},
	},
	{
		from: []string{"./..."}, but: []string{"./reconcile/login"}, forbid: []string{"github.com/coreos/go-oidc/...", "golang.org/x/oauth2/..."},
		reason: "only the login asks a provider who people are",
		caught: [2]string{"./reconcile/page", "github.com/coreos/go-oidc/v3/oidc"},
	},
	{
		from: []string{"./..."}, but: []string{"./edge/trace", "./cmd/seawall/internal/setup", "./integration/harness"}, forbid: []string{"go.opentelemetry.io/..."},
		reason: "what a span may say is one package's, so that no address or header gets into one",
		caught: [2]string{"./edge/client", "go.opentelemetry.io/otel/trace"},
	},
	{
		from: []string{"./..."}, but: []string{"./edge/deprecation/scan/terraform"}, forbid: []string{"github.com/hashicorp/hcl/..."},
		reason: "only the reader of Terraform files knows their language",
		caught: [2]string{"./edge/deprecation/scan", "github.com/hashicorp/hcl/v2"},
	},
	{
		from: []string{"./..."}, but: []string{"./cmd/..."}, forbid: []string{"github.com/spf13/...", "github.com/lmittmann/...", "golang.org/x/term"},
		reason: "only the command line speaks to a terminal",
		caught: [2]string{"./reconcile", "github.com/lmittmann/tint"},
	},
	{
		from: []string{"./..."}, but: []string{"./diff/difftest", "./edge/edgetest", "./desired/gitrepo/gittest", "./desired/compile/compiletest", "./reconcile/sink/sinktest", "./reconcile/forge/forgetest", "./reconcile/ledger/ledgertest", "./reconcile/page/pagetest", "./reconcile/login/logintest", "./integration/harness", "./integration/must", "./integration/pgtest"}, forbid: []string{
			"testing/...", "net/http/httptest", "pgregory.net/...", "github.com/rogpeppe/go-internal/testscript", "github.com/getkin/...", "github.com/invopop/...",
		},
		reason: "what is for tests stays out of the binary",
		caught: [2]string{"./edge/sim", "testing"},
	},
}

func TestLayering(t *testing.T) {
	packages := readSource(t)
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		for _, imported := range packages[name].imports {
			for _, r := range rules {
				if r.forbids(name, imported) {
					t.Errorf("%s must not import %s: %s", name, imported, r.reason)
				}
			}
		}
	}
}

// TestLayeringRulesCatch holds every rule to the breach it was written for.
func TestLayeringRulesCatch(t *testing.T) {
	for _, r := range rules {
		if !r.forbids(r.caught[0], r.caught[1]) {
			t.Errorf("the rule %q lets %s import %s", r.reason, r.caught[0], r.caught[1])
		}
	}
}

// TestLayeringNamesPackagesThatExist keeps the rules from guarding a house
// that has been rebuilt.
func TestLayeringNamesPackagesThatExist(t *testing.T) {
	packages := readSource(t)
	for _, r := range rules {
		for _, pattern := range slices.Concat(r.from, r.but, r.forbid, r.allow, r.caught[:]) {
			if strings.HasPrefix(pattern, "./") && !exists(packages, pattern) {
				t.Errorf("the rule %q names %s, which is gone", r.reason, pattern)
			}
		}
	}
	for name := range mayReadClock {
		if !exists(packages, name) {
			t.Errorf("%s may read the clock and is gone", name)
		}
	}
}

// library is a package of ours that any may import, as if the standard library had it.
const library = "./edge/lazyregexp"

func (r rule) forbids(from, imported string) bool {
	return matchAny(r.from, from) && !matchAny(r.but, from) && imported != library &&
		matchAny(r.forbid, imported) && !matchAny(r.allow, imported)
}

func matchAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, name) })
}

// match reports whether a package of ours ("./edge") or an import path
// ("context") is meant by a pattern of a rule.
func match(pattern, name string) bool {
	first, _, _ := strings.Cut(name, "/")
	ours, std := first == ".", !strings.Contains(first, ".")
	switch pattern {
	case "std":
		return std
	case "outside":
		return !ours && !std
	}
	if prefix, ok := strings.CutSuffix(pattern, "/..."); ok {
		return name == prefix || strings.HasPrefix(name, prefix+"/")
	}
	return name == pattern
}

func exists(packages map[string]*goPackage, pattern string) bool {
	for name := range packages {
		if match(pattern, name) {
			return true
		}
	}
	return false
}
