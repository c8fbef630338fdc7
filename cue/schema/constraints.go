package schema

import (
	"cmp"
	"fmt"
	"math"
	"net"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"cuelang.org/go/cue"
	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/edge/outbound"
)

// This file holds what #Config cannot say, each with the reason.

func (c *configReader) check(config *Config, v cue.Value) {
	c.checkSchedule(config)
	c.checkBudget(v)
	c.checkBypass(config.Bypass)
	if at(v, "source").Exists() {
		c.checkSource(config)
	}
	c.checkAddresses(config)
	c.checkPostgres(config.Postgres)
	c.checkSeal(config)
	c.checkSinks(config)
	c.checkGuards(config, v)
	c.checkForge(config)
	c.checkNotify(config)
	c.checkWeb(config)
	c.checkTraces(config.Traces)
	c.checkAccounts(config)
}

// checkBypass: a phase that is named twice would be read twice.
func (c *configReader) checkBypass(b Bypass) {
	for i, phase := range b.Phases {
		if slices.Contains(b.Phases[:i], phase) {
			c.problem(fmt.Sprintf("bypass.phases[%d]", i), fmt.Sprintf("%q is there twice", phase), "")
		}
	}
}

// checkSchedule: CUE knows neither cron expressions nor time zones.
func (c *configReader) checkSchedule(config *Config) {
	for path, spec := range map[string]string{"schedule.sync": config.Schedule.Sync, "schedule.sweep": config.Schedule.Sweep} {
		if err := parseCron(spec); err != nil {
			c.problem(path, fmt.Sprintf("%q is not a cron expression: %v", spec, err), cronHint(spec))
		}
	}
	config.Schedule.Timezone = c.location("schedule.timezone", cmp.Or(text(c.plain, "schedule.timezone"), "UTC"))
}

// location is a time zone by its name; nil for none.
func (c *configReader) location(path, name string) *time.Location {
	location, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		c.problem(path, fmt.Sprintf("%q is not a known time zone", name), `write a name of the IANA database, such as "Europe/Berlin"`)
		return nil
	}
	return location
}

// cronHint says how to write what was meant.
func cronHint(spec string) string {
	if every, err := time.ParseDuration(spec); err == nil && every > 0 {
		return fmt.Sprintf("write %q", "@every "+spec)
	}
	return `five fields such as "*/5 * * * *", @hourly, or @every 5m`
}

// parseCron refuses a zone inside the expression: there is a field for it.
func parseCron(spec string) error {
	if strings.HasPrefix(spec, "TZ=") || strings.HasPrefix(spec, "CRON_TZ=") {
		return fmt.Errorf("set the time zone in schedule.timezone")
	}
	_, err := cron.ParseStandard(spec)
	return err
}

// checkBudget: the integers of CUE have no end.
func (c *configReader) checkBudget(v cue.Value) {
	if n, err := at(v, "budget.requests").Int64(); err != nil || n > math.MaxInt32 {
		c.problem("budget.requests", "the number is too large", "")
	}
}

// checkSource: git's addresses have a form that is no URL, host:path, and what
// it may be depends on the way to authenticate.
func (c *configReader) checkSource(config *Config) {
	scheme, secret := remote(config.Source.URL)
	switch {
	case secret:
		c.problem("source.url", "the address contains a password", "put it into a file and name the file in source.auth")
	case scheme == "":
		c.problem("source.url", fmt.Sprintf("%q is not a repository URL that Seawall supports", config.Source.URL), addressHint(config.Source.URL))
	}
	c.checkSourceAuth(config, scheme)
	if v := config.Source.Verify; v != nil && v.OpenPGP == "" && v.SSH == "" {
		c.problem("source.verify", "names no keys, so every commit would be rejected", "set openpgp, ssh, or both to a file")
	}
	if config.Source.CAFile != "" && scheme != "https" && scheme != "" {
		c.problem("source.ca_file", "can be used only with an https address", "")
	}
	if at(c.plain, "source.branch").Exists() && at(c.plain, "source.ref").Exists() {
		c.problem("source.branch", "stands beside source.ref", "keep one of them")
	}
}

// addressHint says what source.url can be.
func addressHint(given string) string {
	const plain = "; to read a plain folder that is not a git repository, use --dir"
	switch {
	case strings.HasPrefix(given, "/"):
		return "for a git repository on this machine, write file://" + given + plain
	case strings.HasPrefix(given, ".") || strings.HasPrefix(given, "~"):
		return "for a git repository on this machine, write file:// and its absolute path" + plain
	}
	return "https://…, ssh://… or user@host:path"
}

// checkSourceAuth: what may authenticate depends on the scheme of the address.
func (c *configReader) checkSourceAuth(config *Config, scheme string) {
	a := config.Source.Auth
	switch {
	case scheme == "ssh" && a.SSH == nil:
		c.problem("source.url", "an SSH address needs source.auth.ssh", "give it a key and known_hosts")
	case scheme == "http" && (a.Token != nil || a.Bearer != nil || a.Basic != nil) && !loopback(config.Source.URL):
		c.problem("source.url", "credentials would be sent unencrypted", "use https")
	case scheme != "ssh" && a.SSH != nil:
		c.problem("source.auth.ssh", "can be used only with an SSH address", "")
	}
}

// remote returns the scheme of a repository's address, empty for one that is
// refused, and whether a password stands in it. Plain paths and file:// run a
// program of the host and are for tests only, over file://.
func remote(address string) (scheme string, secret bool) {
	if u, err := url.Parse(address); err == nil && u.Scheme != "" && u.Opaque == "" {
		_, secret = u.User.Password()
		switch u.Scheme {
		case "https", "http", "ssh", "file":
			return u.Scheme, secret
		}
		return "", secret
	}
	user, rest, ok := strings.Cut(address, "@")
	if ok && user != "" && !strings.ContainsAny(user, "/:") && strings.Contains(rest, ":") {
		return "ssh", false
	}
	return "", false
}

func loopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && outbound.Loopback(u.Hostname())
}

// checkAddresses: a regular expression takes a port of 99999 and an address
// that a URL parser does not.
func (c *configReader) checkAddresses(config *Config) {
	c.checkPlatform(config.Platform)
	if base := config.Platform.BaseURL; base != "" { // said already
		c.checkURL("platform.base_url", base, fmt.Sprintf("%q is not a URL", base))
	}
	_, port, err := net.SplitHostPort(config.Listen)
	if n, convErr := strconv.Atoi(port); err != nil || convErr != nil || n > 65535 {
		c.problem("listen", fmt.Sprintf("%q is not host:port", config.Listen), `for example "127.0.0.1:8710"`)
	}
}

// checkURL: a regular expression takes what a URL parser does not.
func (c *configReader) checkURL(path, address, unlike string) {
	if u, err := url.Parse(address); err != nil || u.Host == "" {
		c.problem(path, unlike, "")
	} else if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		c.problem(path, "must have neither user, query nor fragment", "")
	}
}

// exclusive are the structs of which exactly one member is set, where they exist.
var exclusive = []reflect.Type{
	reflect.TypeFor[Auth](), reflect.TypeFor[Seal](), reflect.TypeFor[Sink](), reflect.TypeFor[VaultAuth](), reflect.TypeFor[SecretRef](),
	reflect.TypeFor[Recipient](),
}

// exactlyOne: matchN of CUE names none of the fields it counts, and a
// disjunction hides what is wrong inside one.
func (c *configReader) exactlyOne(path string, set int, of []string) {
	list := strings.Join(of[:len(of)-1], ", ") + " and " + of[len(of)-1]
	switch {
	case set == 0:
		c.problem(path, "needs one of "+list, "")
	case set > 1:
		c.problem(path, fmt.Sprintf("has %d of %s", set, list), "keep one of them")
	}
}
