package schema

import (
	"fmt"
	"strings"
	"time"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"github.com/seawall-dev/seawall/cue/schema/explain"
	"github.com/seawall-dev/seawall/desired"
)

// Config is the daemon's configuration, with the defaults of #Config filled in.
// It holds no secret, only where secrets are.
type Config struct {
	Source      Source `cue:"source"` // zero where none is declared
	Platform    Platform
	Credentials Credentials     `cue:"credentials"`
	Tokens      Tokens          `cue:"tokens"`
	Schedule    Schedule        `cue:"schedule"`
	Budget      Budget          `cue:"budget"`
	Bypass      Bypass          `cue:"bypass"`
	StateDir    string          `cue:"state.dir"`      // absolute
	Postgres    *Postgres       `cue:"state.postgres"` // nil: the ledger is a file in StateDir
	Seal        Seal            `cue:"state.seal"`     // zero for a key beside the ledger
	History     History         `cue:"history"`
	Sinks       map[string]Sink `cue:"sinks"`
	Forge       *Forge          `cue:"forge"` // nil for none
	Hooks       map[string]Hook `cue:"hooks"`
	Notify      Notify          `cue:"notify"`
	Listen      string          `cue:"listen"` // host:port
	Web         Web             `cue:"web"`
	Health      Health          `cue:"health"`
	Log         Log             `cue:"log"`
	Guards      Guards
	Workers     Workers `cue:"workers"`
	Traces      *Traces `cue:"traces"` // nil: none are made
}

// Workers says how the processes run that fetch and evaluate.
type Workers struct {
	Sandbox string `cue:"sandbox"` // auto, required or off
	Memory  int64  `cue:"memory"`  // bytes of all of them together; zero is what the machine allows
}

// Source is the repository of desired state.
type Source struct {
	URL     string  `cue:"url"`
	Ref     string  // full name, refs/heads/main
	Path    string  `cue:"path"`    // folder in the repository, "." for all of it
	Auth    Auth    `cue:"auth"`    // zero for a repository that anyone may read
	CAFile  string  `cue:"ca_file"` // absolute; empty for the system's authorities
	Shallow bool    `cue:"shallow"` // leave the history out of the first fetch
	Verify  *Verify `cue:"verify"`

	IdleTimeout time.Duration `cue:"idle_timeout" is:"positive"` // for how long the server may send nothing
	Timeout     time.Duration `cue:"timeout" is:"positive"`      // of a fetch; at least IdleTimeout
	Limits      FetchLimits   `cue:"limits"`
	FastForward string        `cue:"fast_forward"` // report or require
}

// FetchLimits bound what a fetch brings. All are above zero.
type FetchLimits struct {
	Pack     int64 `cue:"pack"`   // bytes as they are sent; zero for no limit, where the source has none
	Object   int64 `cue:"object"` // bytes of one object, unpacked
	Objects  int64 `cue:"objects"`
	Unpacked int64 `cue:"unpacked"` // bytes of all objects, unpacked
	Store    int64 `cue:"store"`    // bytes on disk
}

// Auth is at most one way to reach the repository.
type Auth struct {
	Token  *SecretRef `cue:"token"`
	Bearer *SecretRef `cue:"bearer"`
	Basic  *Basic     `cue:"basic"`
	SSH    *SSH       `cue:"ssh"`
}

// Basic is a user name with a password.
type Basic struct {
	Username string    `cue:"username"`
	Password SecretRef `cue:"password"`
}

// SSH is a key and the hosts to trust.
type SSH struct {
	User       string     `cue:"user"`
	Key        SecretRef  `cue:"key"` // a plain path in the file counts as {file: …}
	Passphrase *SecretRef `cue:"passphrase"`
	KnownHosts string     `cue:"known_hosts"` // absolute
}

// SecretRef says where a secret is: exactly one member is set.
type SecretRef struct {
	File    string `cue:"file"`    // absolute path
	Env     string `cue:"env"`     // name of an environment variable
	Systemd string `cue:"systemd"` // name of a systemd credential
}

// IsZero reports whether it names no secret.
func (r SecretRef) IsZero() bool { return r == SecretRef{} }

// Platform is what is kept in the desired state.
type Platform struct {
	BaseURL string // https, or http to the loopback
	Vendor  string // the segment of resource keys
	Profile string // documented or extended

	ConditionKey string // request.ip or request_ip
}

// Extended reports whether the platform offers calls beyond the reference.
func (p Platform) Extended() bool { return p.Profile == "extended" }

// Tokens says how tokens are made and judged.
type Tokens struct {
	NameSuffix     string   // contains {intent}; or empty
	CreatingGroups []string `cue:"creating_groups"`
}

// Credentials are the two credentials; Tokens is nil where no token is managed. Rulesets
// is zero where each account has one of its own.
type Credentials struct {
	Rulesets SecretRef  `cue:"rulesets"`
	Tokens   *SecretRef `cue:"tokens"`
	Accounts Accounts   // those that have settings of their own
}

// Schedule holds expressions that cron.ParseStandard takes.
type Schedule struct {
	Sync     string `cue:"sync"`
	Sweep    string `cue:"sweep"`
	Timezone *time.Location
}

// Budget bounds requests per credential.
type Budget struct {
	Requests    int           `cue:"requests"`
	Per         time.Duration `cue:"per" is:"positive"`
	Concurrency int           `cue:"concurrency"`
}

// Bypass says where skip rules are looked for that may turn deployments off.
type Bypass struct {
	Phases []string      `cue:"phases"` // of zones; none is off
	Every  time.Duration `cue:"every" is:"positive"`
}

// History bounds the history.
type History struct {
	Keep  time.Duration `cue:"keep" is:"positive"`
	Bytes int64
}

// Seal names an age key: at most one member is set.
type Seal struct {
	KeyFile   string `cue:"key_file"`  // absolute
	Recipient string `cue:"recipient"` // age1…
}

// Sink is where secrets of tokens go: exactly one member is set.
type Sink struct {
	File       *FileSink       `cue:"file"`
	Exec       *ExecSink       `cue:"exec"`
	Vault      *VaultSink      `cue:"vault"`
	Kubernetes *KubernetesSink `cue:"kubernetes"`
}

// FileSink is a folder for secrets.
type FileSink struct {
	Root string `cue:"root"` // absolute; neither in StateDir nor around it
}

// ExecSink is a program that takes secrets.
type ExecSink struct {
	Argv    []string      `cue:"argv"` // at least one
	Timeout time.Duration `cue:"timeout" is:"positive"`
}

// VaultSink is a place in HashiCorp Vault or OpenBao.
type VaultSink struct {
	Address   string        `cue:"address"` // https, or http to the loopback
	Mount     string        `cue:"mount"`
	Prefix    string        `cue:"prefix"`
	Field     string        `cue:"field"`
	Namespace string        `cue:"namespace"` // empty where there is none
	CAFile    string        `cue:"ca_file"`   // absolute; empty for the system's authorities
	Timeout   time.Duration `cue:"timeout" is:"positive"`
	Auth      VaultAuth     `cue:"auth"`
}

// VaultAuth is how to log in to Vault: exactly one member is set.
type VaultAuth struct {
	Token      *SecretRef       `cue:"token"`
	AppRole    *AppRole         `cue:"approle"`
	Kubernetes *VaultKubernetes `cue:"kubernetes"`
}

// AppRole is a login with Vault's method AppRole.
type AppRole struct {
	RoleID   string    `cue:"role_id"`
	SecretID SecretRef `cue:"secret_id"`
	Mount    string    `cue:"mount"`
}

// VaultKubernetes is a login with Vault's method Kubernetes.
type VaultKubernetes struct {
	Role    string `cue:"role"`
	Mount   string `cue:"mount"`
	JWTFile string `cue:"jwt_file"` // absolute
}

// KubernetesSink is a namespace whose Secrets take secrets.
type KubernetesSink struct {
	Namespace  string        `cue:"namespace"`
	Kubeconfig string        `cue:"kubeconfig"` // absolute; empty for the service account of the pod
	Context    string        `cue:"context"`    // in Kubeconfig; empty for the current one
	Timeout    time.Duration `cue:"timeout" is:"positive"`
}

// Health says when the daemon is not ready, and who may ask how it is.
type Health struct {
	SourceStale time.Duration `cue:"source_stale" is:"positive"`
	// Status says that Listen serves /status; where nothing is said, that is so if Listen
	// is a loopback address.
	Status bool
}

// Log is how the daemon logs.
type Log struct {
	Format string `cue:"format"` // auto, text or json
	Level  string `cue:"level"`  // debug, info, warn or error
}

// LoadConfig reads a configuration file; name is only for positions. The file
// may use CUE's standard packages and imports nothing else. With any error
// among the problems the configuration is zero.
func LoadConfig(name string, data []byte) (Config, []desired.Problem) {
	c := configReader{name: name}
	b, err := builtConfig()
	if err != nil {
		return Config{}, c.renamed([]desired.Problem{{Message: err.Error()}})
	}
	plain, problems := c.value(b.ctx, data)
	if len(problems) > 0 {
		return Config{}, c.renamed(problems)
	}
	unified, problems := explain.Check(plain, b.def, explain.Files{Own: ".", Syntax: c.syntax})
	if len(problems) > 0 {
		return Config{}, c.renamed(problems)
	}
	config := c.read(unified, plain)
	desired.SortProblems(c.problems)
	if len(desired.Errors(c.problems)) > 0 {
		return Config{}, c.renamed(c.problems)
	}
	b.keep()
	return config, c.renamed(c.problems)
}

// inside is the name a configuration file has while it is evaluated: positions
// of a person's file are told by a relative name ending in .cue.
const inside = "config.cue"

func (c *configReader) value(ctx *cue.Context, data []byte) (plain cue.Value, problems []desired.Problem) {
	file, err := parser.ParseFile(inside, data)
	if err != nil {
		return plain, explain.Raw(err, ".")
	}
	if problems := c.imports(file); len(problems) > 0 {
		return plain, problems
	}
	c.syntax = []*ast.File{file}
	return ctx.BuildFile(file), nil
}

// imports refuses what is not in the file: packages other than CUE's own, whose
// names have no dot in the first part, and embedded files.
func (c *configReader) imports(file *ast.File) (problems []desired.Problem) {
	refuse := func(pos token.Pos, message, hint string) {
		p := pos.Position()
		problems = append(problems, desired.Problem{
			Origin:  desired.Origin{File: inside, Line: p.Line, Column: p.Column},
			Message: message,
			Hint:    hint,
		})
	}
	for spec := range file.ImportSpecs() {
		name := strings.Trim(spec.Path.Value, `"`)
		if first, _, _ := strings.Cut(name, "/"); strings.Contains(first, ".") {
			refuse(spec.Path.Pos(), fmt.Sprintf("package %q cannot be imported", name), "a configuration can import CUE's standard packages only")
		}
	}
	for _, d := range file.Decls {
		if a, ok := d.(*ast.Attribute); ok {
			refuse(a.Pos(), fmt.Sprintf("%s is refused in a configuration", a.Text), "")
		}
	}
	return problems
}

// renamed gives positions the file's own name.
func (c *configReader) renamed(problems []desired.Problem) []desired.Problem {
	problems = conceal(problems)
	for i := range problems {
		if problems[i].Origin.File == inside || problems[i].Origin.IsZero() {
			problems[i].Origin.File = c.name
		}
		if at, ok := strings.CutPrefix(problems[i].Hint, "see also "); ok {
			problems[i].Hint = "see also " + strings.ReplaceAll(at, inside+":", c.name+":")
		}
	}
	return problems
}
