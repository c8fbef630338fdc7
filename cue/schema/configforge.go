package schema

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"cuelang.org/go/cue"
)

// Forge is the server that pull requests are on.
type Forge struct {
	Kind      string // github, gitlab or gitea
	URL       string // https, or http to the loopback; empty for github.com or gitlab.com
	Project   string // owner/name, or group/…/name
	Token     SecretRef
	CAFile    string // absolute; empty for the system's authorities
	Comment   bool
	Timeout   time.Duration // of the fetch of one pull request
	Limits    FetchLimits   // of one pull request; Store is that of all
	Approvers []Approver
	Forks     Forks
}

// Approver is an account on a forge.
type Approver struct {
	Name string
	ID   int64 // zero: not stated
}

// Forks says which pull requests from forks get a plan.
type Forks struct {
	Plans   string // auto, known or all
	Label   string
	PerHour int // plans for each author without write access
}

// Hook is a webhook.
type Hook struct {
	Kind   string // github, gitlab, gitea or generic
	Secret SecretRef
}

func forge(v cue.Value) *Forge {
	if !at(v, "forge").Exists() {
		return nil
	}
	comment, _ := at(v, "forge.comment").Bool() // validated: concrete and boolean
	return &Forge{
		Kind:      text(v, "forge.kind"),
		URL:       text(v, "forge.url"),
		Project:   text(v, "forge.project"),
		Token:     secret(v, "forge.token"),
		CAFile:    text(v, "forge.ca_file"),
		Comment:   comment,
		Timeout:   duration(v, "forge.timeout"),
		Limits:    fetchLimits(v, "forge.limits"),
		Approvers: approvers(v),
		Forks:     Forks{text(v, "forge.forks.plans"), text(v, "forge.forks.label"), number(v, "forge.forks.per_hour")},
	}
}

// approvers reads names, and accounts with an id.
func approvers(v cue.Value) (list []Approver) {
	elements, err := at(v, "forge.approvers").List()
	for err == nil && elements.Next() {
		element := elements.Value()
		if name, err := element.String(); err == nil {
			list = append(list, Approver{Name: name})
			continue
		}
		list = append(list, Approver{text(element, "name"), int64(number(element, "id"))})
	}
	return list
}

// hooks reads the webhooks; nil where there is none.
func hooks(v cue.Value) map[string]Hook {
	var hooks map[string]Hook
	fields, _ := at(v, "hooks").Fields() // validated: a struct
	for fields.Next() {
		if hooks == nil {
			hooks = map[string]Hook{}
		}
		path := "hooks." + fields.Selector().String()
		hooks[fields.Selector().Unquoted()] = Hook{text(v, path+".kind"), secret(v, path+".secret")}
	}
	return hooks
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
	if u, err := url.Parse(f.URL); err != nil || f.URL != "" && u.Host == "" {
		c.problem("forge.url", "is not a URL", "") // it may hold a password
	} else if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		c.problem("forge.url", "must have neither user, query nor fragment", "")
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
