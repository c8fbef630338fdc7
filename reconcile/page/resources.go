package page

import (
	"reflect"

	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// apiPath is in front of the address of each resource in its JSON form.
const apiPath = "/api/v1"

// resource is one thing that can be asked for. Its page and its JSON are of the same value.
type resource struct {
	page     string // the pattern of its page
	api      string // of its JSON, behind [apiPath]
	title    string
	template string  // of its page
	params   []param // of its query, beside what stands in its path
	fleet    bool    // needs a right to the whole fleet, and not only to zones
	answer   answer
}

// answer asks for a value. Its type is what the description of the API is made from.
type answer struct {
	of  reflect.Type
	ask func(*question) (any, error)
}

func answers[T any](ask func(*question) (T, error)) answer {
	return answer{reflect.TypeFor[T](), func(q *question) (any, error) { return ask(q) }}
}

// labelName is the parameter of which there may be one value for each key.
const labelName = "label"

// param is a parameter of a query.
type param struct {
	name   string
	help   string
	repeat bool               // it may be given several times
	check  func(string) error // nil: any text is right
}

var (
	afterParam = param{name: "after", help: "`next` of the page before"}
	zoneParams = []param{
		{name: "text", help: "a part of the name or the id of a zone, in any case"},
		{name: "account", help: "the key of an account"},
		{name: "outcome", help: "the outcome of the zone; given several times, one of them", repeat: true, check: checkOutcome},
		{name: labelName, help: "a label of the zone, as KEY=VALUE; given several times, the zone has all of them", repeat: true, check: checkLabel},
	}
)

// resources are all that can be asked for, in the order of the navigation.
var resources = []resource{
	{page: "/{$}", api: "/status", title: "Overview", template: "overview", fleet: true, answer: answers(overviewOf)},
	{page: "/zones", api: "/zones", title: "Zones", template: "zones", params: append(zoneParams[:len(zoneParams):len(zoneParams)], afterParam), answer: answers(zonesOf)},
	{page: "/zones/{scope}", api: "/zones/{scope}", title: "Zone", template: "zone", answer: answers(zoneOf)},
	{page: "/commits", api: "/commits", title: "Commits", template: "commits", fleet: true, params: []param{afterParam}, answer: answers(commitsOf)},
	{page: "/commits/{commit}", api: "/commits/{commit}", title: "Commit", template: "commit", fleet: true, params: []param{afterParam}, answer: answers(commitOf)},
	{page: "/history", api: "/history", title: "History", template: "history", fleet: true, params: []param{
		{name: "zone", help: "the id of a zone, or account: and the id of an account"},
		{name: "token", help: "the key of a token"},
		{name: "commit", help: "a commit, or the beginning of one", check: checkCommit},
		afterParam,
	}, answer: answers(historyOf)},
	{page: "/tokens", api: "/tokens", title: "Tokens", template: "tokens", fleet: true, params: []param{afterParam}, answer: answers(tokensOf)},
	{page: "/radar", api: "/radar", title: "Radar", template: "radar", params: []param{
		{name: "account", help: "the key of an account"},
		{name: "since", help: "a time (2026-03-01T12:00:00Z), a day, or a length of time before now (24h, 7d): versions that were seen later", check: checkSince},
		afterParam,
	}, answer: answers(radarOf)},
	{page: "/radar/{published}", api: "/radar/{published}", title: "New version", template: "radar-version", params: []param{afterParam}, answer: answers(radarVersionOf)},
	{page: "/deprecations", api: "/deprecations", title: "Deprecations", template: "deprecations", fleet: true, answer: answers(deprecationsOf)},
	{page: "/pulls", api: "/pulls", title: "Pull requests", template: "pulls", fleet: true, answer: answers(pullsOf)},
	{page: "/pulls/{number}", api: "/pulls/{number}", title: "Pull request", template: "pull", fleet: true, answer: answers(pullOf)},
	{page: "/outages", api: "/outages", title: "Outages", template: "outages", fleet: true, answer: answers(outagesOf)},
	{page: "/credentials", api: "/credentials", title: "Credentials", template: "credentials", fleet: true, answer: answers(credentialsOf)},
	{page: "/replicas", api: "/replicas", title: "Replicas", template: "replicas", fleet: true, answer: answers(replicasOf)},
}

// Overview is the fleet at a glance. Its JSON is that of the status.
type Overview struct {
	inspect.Status
	Commits inspect.CommitList `json:"-"` // the newest
	Unread  bool               `json:"-"` // the commits cannot be read now
}
