package schema

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"cuelang.org/go/cue"
)

// Forge is the server that pull requests are on.
type Forge struct {
	Kind      string        `cue:"kind"`    // github, gitlab or gitea
	URL       string        `cue:"url"`     // https, or http to the loopback; empty for github.com or gitlab.com
	Project   string        `cue:"project"` // owner/name, or group/…/name
	Token     SecretRef     `cue:"token"`
	CAFile    string        `cue:"ca_file"` // absolute; empty for the system's authorities
	Comment   bool          `cue:"comment"`
	Timeout   time.Duration `cue:"timeout" is:"positive"` // of the fetch of one pull request
	Limits    FetchLimits   `cue:"limits"`                // of one pull request; Store is that of all
	Approvers []Approver    `cue:"approvers"`
	Forks     Forks         `cue:"forks"`
}

// Approver is an account on a forge.
type Approver struct {
	Name string `cue:"name"`
	ID   int64  `cue:"id"` // zero: not stated
}

// Forks says which pull requests from forks get a plan.
type Forks struct {
	Plans   string `cue:"plans"` // auto, known or all
	Label   string `cue:"label"`
	PerHour int    `cue:"per_hour"` // plans for each author without write access
}

// Hook is a webhook.
type Hook struct {
	Kind   string    `cue:"kind"` // github, gitlab, gitea or generic
	Secret SecretRef `cue:"secret"`
}

// read takes a plain text for a name.
func (a *Approver) read(c *configReader, v cue.Value) {
	if name, err := v.String(); err == nil {
		a.Name = name
		return
	}
	c.fillMembers(reflect.ValueOf(a).Elem(), v)
}

// checkForge: what may stand in one field depends on another.
func (c *configReader) checkForge(config *Config) {
	f := config.Forge
	if f == nil {
		return
	}
	if f.Kind == "gitea" && f.URL == "" {
		c.problem("forge", "needs a url", "Gitea and Forgejo have no default server: set the address of yours")
	}
	if f.URL != "" {
		c.checkURL("forge.url", f.URL, "is not a URL") // it may hold a password
	}
	if f.Kind != "gitlab" && strings.Count(f.Project, "/") > 1 {
		c.problem("forge.project", fmt.Sprintf("%q is not owner/name", f.Project), "only GitLab has groups in groups")
	}
	if !strings.HasPrefix(config.Source.Ref, "refs/heads/") {
		c.problem("source.ref", fmt.Sprintf("%q is not a branch, but pull requests need a branch", config.Source.Ref), "follow a branch, or leave out forge")
	}
	for i, approver := range f.Approvers {
		if strings.HasPrefix(approver.Name, "@") {
			c.problem(fmt.Sprintf("forge.approvers[%d]", i), fmt.Sprintf("%q is not the name of an account", approver.Name), "leave out the @; teams are not supported")
		}
	}
}
