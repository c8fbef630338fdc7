package schema

import (
	"fmt"
	"maps"
	"net/mail"
	"slices"
	"time"

	"cuelang.org/go/cue"

	"github.com/seawall-dev/seawall/edge/outbound"
)

// Notify says who is told what is wrong.
type Notify struct {
	Routes    map[string]Route `cue:"routes"`
	Heartbeat *Heartbeat       `cue:"heartbeat"` // nil for none
}

// Heartbeat is an address that is asked while the daemon is ready.
type Heartbeat struct {
	URL   SecretRef     `cue:"url"`
	Every time.Duration `cue:"every" is:"positive"`
}

// Route is a place that gets notifications, and which.
type Route struct {
	To       Recipient         `cue:"to"`
	Severity string            `cue:"severity"` // info, warning or critical
	Labels   map[string]string `cue:"labels"`
	Digest   string            `cue:"digest"` // a cron expression; empty for none
	Title    string            `cue:"title"`  // a template; empty for none
	Text     string            `cue:"text"`
}

// Recipient is where a route sends: exactly one member is set.
type Recipient struct {
	Slack        *Address   `cue:"slack"`
	Webhook      *Webhook   `cue:"webhook"`
	SMTP         *SMTP      `cue:"smtp"`
	Alertmanager *Address   `cue:"alertmanager"`
	PagerDuty    *PagerDuty `cue:"pagerduty"`
}

// Address is an address that may be a secret.
type Address struct {
	URL    SecretRef `cue:"url"`
	CAFile string    `cue:"ca_file"` // absolute; empty for the system's authorities
}

// Webhook is an address that gets signed JSON.
type Webhook struct {
	URL    SecretRef `cue:"url"`
	Secret SecretRef `cue:"secret"`
	CAFile string    `cue:"ca_file"`
}

// SMTP is a mail server, and from whom to whom mail goes.
type SMTP struct {
	Host     string     `cue:"host"`
	Port     int        `cue:"port"`
	TLS      string     `cue:"tls"` // starttls, implicit or none
	From     string     `cue:"from"`
	To       []string   `cue:"to"`
	Username string     `cue:"username"` // empty: without a login
	Password *SecretRef `cue:"password"`
	CAFile   string     `cue:"ca_file"`
}

// PagerDuty is a service of PagerDuty.
type PagerDuty struct {
	Key SecretRef `cue:"key"`
	URL string    `cue:"url"` // https, or http to the loopback
}

// checkNotify: CUE knows no addresses. Cron expressions and templates are
// read where they are used.
func (c *configReader) checkNotify(config *Config) {
	for _, name := range slices.Sorted(maps.Keys(config.Notify.Routes)) {
		path, to := cue.MakePath(cue.Str("notify"), cue.Str("routes"), cue.Str(name), cue.Str("to")).String(), config.Notify.Routes[name].To
		if name == "heartbeat" {
			c.problem(path, `a route cannot be called "heartbeat"`, "failures of notify.heartbeat are reported under that name")
		}
		if to.PagerDuty != nil {
			c.checkURL(path+".pagerduty.url", to.PagerDuty.URL, "is not a URL")
		}
		if to.SMTP != nil {
			c.checkSMTP(path+".smtp", *to.SMTP)
		}
	}
}

func (c *configReader) checkSMTP(path string, s SMTP) {
	if _, err := mail.ParseAddress(s.From); err != nil {
		c.problem(path+".from", fmt.Sprintf("%q is not a mail address", s.From), "")
	}
	for i, to := range s.To {
		if _, err := mail.ParseAddress(to); err != nil {
			c.problem(fmt.Sprintf("%s.to[%d]", path, i), fmt.Sprintf("%q is not a mail address", to), "")
		}
	}
	if s.TLS == "none" && !outbound.Loopback(s.Host) {
		c.problem(path+".tls", "mail without TLS goes to this machine only", `use "starttls" or "implicit"`)
	}
	if (s.Username == "") != (s.Password == nil) {
		c.problem(path, "needs both username and password, or neither", "")
	}
}
