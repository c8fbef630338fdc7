package schema

import (
	"cmp"
	"time"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"

	"github.com/seawall-dev/seawall/cue/schema/explain"
	"github.com/seawall-dev/seawall/desired"
)

// configReader reads a value that fits #Config.
type configReader struct {
	name     string
	plain    cue.Value
	syntax   []*ast.File
	problems []desired.Problem
}

func (c *configReader) read(v, plain cue.Value) Config {
	c.plain = plain
	config := Config{
		Source:      source(v),
		Platform:    platform(v, plain),
		Credentials: Credentials{Rulesets: secret(v, "credentials.rulesets"), Tokens: optionalSecret(v, "credentials.tokens")},
		Tokens:      tokens(v, plain),
		Schedule:    Schedule{Sync: text(v, "schedule.sync"), Sweep: text(v, "schedule.sweep")},
		Budget:      Budget{Requests: number(v, "budget.requests"), Concurrency: number(v, "budget.concurrency")},
		StateDir:    text(v, "state.dir"),
		Seal:        Seal{text(v, "state.seal.key_file"), text(v, "state.seal.recipient")},
		Sinks:       sinks(v),
		Forge:       forge(v),
		Hooks:       hooks(v),
		Listen:      text(v, "listen"),
		Web:         Web{texts(v, "web.hosts"), optionalSecret(v, "web.metrics_token")},
		Health:      health(v),
		Log:         Log{text(v, "log.format"), text(v, "log.level")},
		Guards:      guards(v),
		Workers:     Workers{Sandbox: text(v, "workers.sandbox"), Memory: int64(number(v, "workers.memory"))},
	}
	config.History.Bytes = int64(number(v, "history.max_mib")) << 20
	config.History.Keep, _ = time.ParseDuration(text(v, "history.keep"))
	config.Budget.Per, _ = time.ParseDuration(text(v, "budget.per")) // the schema holds the form
	config.Credentials.Accounts = c.accounts(v, config)
	c.check(&config, v)
	return config
}

// suffixToFind is the suffix by which a platform that lists its tokens is searched.
const suffixToFind = " [{intent}]"

func tokens(v, plain cue.Value) Tokens {
	tokens := Tokens{NameSuffix: text(v, "tokens.name_suffix"), CreatingGroups: texts(v, "tokens.creating_groups")}
	if !at(plain, "tokens.name_suffix").Exists() && platform(v, plain).Extended() {
		tokens.NameSuffix = suffixToFind
	}
	return tokens
}

func source(v cue.Value) Source {
	if !at(v, "source").Exists() {
		return Source{}
	}
	shallow, _ := at(v, "source.shallow").Bool() // validated: concrete and boolean
	return Source{
		URL:     text(v, "source.url"),
		Ref:     followed(v),
		Path:    text(v, "source.path"),
		Auth:    auth(v),
		CAFile:  text(v, "source.ca_file"),
		Shallow: shallow,
		Verify:  verify(v),

		IdleTimeout: duration(v, "source.idle_timeout"),
		Timeout:     duration(v, "source.timeout"),
		Limits:      fetchLimits(v, "source.limits"),
		FastForward: text(v, "source.fast_forward"),
	}
}

// followed is the full name of the ref to follow.
func followed(v cue.Value) string {
	const heads = "refs/heads/"
	if ref := text(v, "source.ref"); ref != "" {
		return ref
	}
	return heads + cmp.Or(text(v, "source.branch"), "main")
}

func fetchLimits(v cue.Value, path string) FetchLimits {
	bytes := func(name string) int64 { return int64(number(v, path+"."+name)) }
	return FetchLimits{Pack: bytes("pack"), Object: bytes("object"), Objects: bytes("objects"), Unpacked: bytes("unpacked"), Store: bytes("store")}
}

func auth(v cue.Value) Auth {
	auth := Auth{Token: optionalSecret(v, "source.auth.token"), Bearer: optionalSecret(v, "source.auth.bearer")}
	if at(v, "source.auth.basic").Exists() {
		auth.Basic = &Basic{text(v, "source.auth.basic.username"), secret(v, "source.auth.basic.password")}
	}
	if at(v, "source.auth.ssh").Exists() {
		auth.SSH = &SSH{
			User:       text(v, "source.auth.ssh.user"),
			Key:        secret(v, "source.auth.ssh.key"),
			Passphrase: optionalSecret(v, "source.auth.ssh.passphrase"),
			KnownHosts: text(v, "source.auth.ssh.known_hosts"),
		}
	}
	return auth
}

func health(v cue.Value) Health {
	h := Health{SourceStale: duration(v, "health.source_stale"), Status: loopback("http://" + text(v, "listen"))}
	if said := at(v, "health.status"); said.Exists() {
		h.Status, _ = said.Bool() // validated: concrete and boolean
	}
	return h
}

// secret reads a reference; a plain path is one to a file.
func secret(v cue.Value, path string) SecretRef {
	if at(v, path).IncompleteKind() == cue.StringKind {
		return SecretRef{File: text(v, path)}
	}
	return SecretRef{File: text(v, path+".file"), Env: text(v, path+".env"), Systemd: text(v, path+".systemd")}
}

func optionalSecret(v cue.Value, path string) *SecretRef {
	if !at(v, path).Exists() {
		return nil
	}
	ref := secret(v, path)
	return &ref
}

func at(v cue.Value, path string) cue.Value { return v.LookupPath(cue.ParsePath(path)) }

func text(v cue.Value, path string) string {
	s, _ := at(v, path).String() // validated: text where it exists
	return s
}

func texts(v cue.Value, path string) (list []string) {
	elements, err := at(v, path).List()
	for err == nil && elements.Next() {
		s, _ := elements.Value().String() // validated: text
		list = append(list, s)
	}
	return list
}

func number(v cue.Value, path string) int {
	n, _ := at(v, path).Int64() // validated: a whole number
	return int(n)
}

func (c *configReader) problem(path, message, hint string) {
	c.problems = append(c.problems, desired.Problem{
		Origin:  explain.Origin(at(c.plain, path)),
		Path:    path,
		Message: message,
		Hint:    hint,
	})
}
