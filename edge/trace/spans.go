package trace

// Name is what a span is called. Those of requests end in ".call".
type Name string

// The spans.
const (
	Look     Name = "sync"
	Fetch    Name = "git.fetch"
	Verify   Name = "git.verify"
	Evaluate Name = "evaluate"
	Decide   Name = "decide"

	Zone  Name = "zone"
	Read  Name = "zone.read"
	Plan  Name = "zone.plan"
	Guard Name = "zone.guard"
	Write Name = "zone.write"
	Prove Name = "zone.prove"

	Tokens      Name = "tokens"
	ReadTokens  Name = "tokens.read"
	PlanTokens  Name = "tokens.plan"
	GuardTokens Name = "tokens.guard"
	WriteTokens Name = "tokens.write"
	Deliver     Name = "sink.deliver"

	Round    Name = "reviews"
	Review   Name = "review"
	PlanPull Name = "review.plan"

	Notify Name = "notification"

	PlatformCall     Name = "platform.call"
	ForgeCall        Name = "forge.call"
	SinkCall         Name = "sink.call"
	NotificationCall Name = "notification.call"
)

// Attribute is what an attribute of a span is called.
type Attribute string

// The attributes. Those without "seawall" are those that OpenTelemetry has conventions for.
const (
	Commit      Attribute = "seawall.commit"
	ZoneID      Attribute = "seawall.zone.id"
	ZoneName    Attribute = "seawall.zone.name"
	AccountID   Attribute = "seawall.account.id"
	AccountName Attribute = "seawall.account.name"
	Credential  Attribute = "seawall.credential"
	Priority    Attribute = "seawall.priority"
	Reason      Attribute = "seawall.reason"
	Waited      Attribute = "seawall.waited"
	Outcome     Attribute = "seawall.outcome"
	Changes     Attribute = "seawall.changes"
	Refused     Attribute = "seawall.refused"
	Zones       Attribute = "seawall.zones"
	Version     Attribute = "seawall.version"
	Deployment  Attribute = "seawall.deployment"
	Sink        Attribute = "seawall.sink"
	Number      Attribute = "seawall.pull_request"
	Route       Attribute = "seawall.route"
	Call        Attribute = "seawall.call"
	Method      Attribute = "http.request.method"
	Status      Attribute = "http.response.status_code"
	Host        Attribute = "server.address"
	Path        Attribute = "url.path"
)
