package sim

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// Names of the quirks of transport.
const (
	QuirkMessagesNull = "messages-null"
	QuirkMessages     = "messages"
	QuirkThrottle     = "throttle"
	QuirkErrorBefore  = "error-before"
	QuirkErrorAfter   = "error-after"
	QuirkCutAfter     = "cut-after"
	QuirkTruncate     = "truncate"
	QuirkHTML         = "html"
	QuirkSlow         = "slow"
	QuirkRequestIP    = "request-ip"
	QuirkAnnounce     = "deprecation-headers"
	QuirkSRVEnd       = "srv-end-of-life"

	QuirkZoneSlow      = "zone-slow"
	QuirkZoneForbidden = "zone-forbidden"
	QuirkZoneHang      = "zone-hang"

	QuirkZoneUnauthorized = "zone-unauthorized"
)

// Quirks returns the table of everything in which this server can be made to
// behave like a real one on a bad day: the quirks of meaning ([mem.Quirks])
// and those of transport.
func Quirks() []mem.Quirk { return slices.Concat(mem.Quirks(), quirks) }

var quirks = []mem.Quirk{
	{
		Name: QuirkMessagesNull, Matches: "failures",
		Does:     "messages is null in the envelope",
		Imitates: "the service sends null there on some failures",
	},
	{
		Name: QuirkMessages, Matches: "successes",
		Does:     "messages has one, with a code, that tells of maintenance",
		Imitates: "services that warn of maintenance and deprecations in the envelope; the reference calls messages informational",
	},
	{
		Name: QuirkThrottle, Argument: mem.Count, Matches: "all requests, signed in or not",
		Does:     "429 with code 971 and Retry-After; nothing happens",
		Imitates: "a budget that others use up with the same credential",
	},
	{
		Name: QuirkErrorBefore, Argument: mem.Count, Matches: "writes that reach the platform: updates of a rule; creations, updates, deletions and rolls of a token; writes of a DNS record or setting, which store nothing",
		Does:     "500 and no effect",
		Imitates: "a server that fails before it has stored anything",
	},
	{
		Name: QuirkErrorAfter, Argument: mem.Count, Matches: "writes that took effect",
		Does:     "500 although the write took effect; the secret of a token that was created or rolled is lost",
		Imitates: "a server that fails after it has stored the change",
	},
	{
		Name: QuirkCutAfter, Argument: mem.Count, Matches: "writes that took effect and were not failed by error-after",
		Does:     "the connection is closed without an answer although the write took effect; the secret of a token that was created or rolled is lost",
		Imitates: "a network that fails in the worst moment",
	},
	{
		Name: QuirkTruncate, Argument: mem.Count, Matches: "reads, creations, and rolls of a token, that succeed; not updates and deletions, whose answer can be read again",
		Does: "the answer stops in the middle of its body: in turns against the length it announced, " +
			"and as a well-formed answer that is half a JSON text",
		Imitates: "gateways that cut long answers, with and without noticing",
	},
	{
		Name: QuirkHTML, Argument: mem.Count, Matches: "all requests, signed in or not",
		Does:     "502 with an HTML page; nothing happens",
		Imitates: "the gateway in front of the service speaks HTML when it does not reach it",
	},
	{
		Name: QuirkSlow, Argument: mem.Duration, Matches: "all requests",
		Does:     "the answer is held back that long; a write has taken effect by then, a token exists",
		Imitates: "an API that takes seconds at busy times, and clients that give up waiting",
	},
	{
		Name: QuirkZoneSlow, Argument: mem.ZonesFor, Matches: "requests about these zones, ids with commas between them",
		Does:     "the answer is held back that long; a write has taken effect by then. Beside slow, the longer of both counts",
		Imitates: "a zone whose configuration is large, or lies in a place that is overloaded, while others are fast",
	},
	{
		Name: QuirkZoneForbidden, Argument: mem.Zones, Matches: "requests about these zones, ids with commas between them",
		Does:     "403 with code 10000; nothing happens",
		Imitates: "a permission that is missing for one zone: the service answers as if the credential were bad, and reads the zones beside it",
	},
	{
		Name: QuirkZoneUnauthorized, Argument: mem.Zones, Matches: "requests about these zones, ids with commas between them",
		Does:     "403 without a code (in the profile documented every error has one); nothing happens",
		Imitates: "the rulesets of the service, which say of a missing permission only that the request is not authorized",
	},
	{
		Name: QuirkZoneHang, Argument: mem.Zones, Matches: "requests about these zones, ids with commas between them",
		Does:     "no answer comes, as long as the client waits; nothing happens, and a request that hangs goes on hanging when the quirk is taken away",
		Imitates: "a backend that accepts requests and never gets to them",
	},
	{
		Name: QuirkRequestIP, Matches: "answers with tokens",
		Does:     `the key of a condition is spelt "request_ip" instead of "request.ip"; requests may always use either`,
		Imitates: "the vendor's newer documentation, which differs from the reference",
	},
	{
		Name: QuirkAnnounce, Matches: "requests that use something in the calendar, before and after its day",
		Does: "the answer has the headers Deprecation (RFC 9745) and Sunset (RFC 8594) with the calendar's days; of several, " +
			"those of the day that comes next",
		Imitates: "what other services send; the reference shows no such header",
	},
	{
		Name: QuirkSRVEnd, Argument: mem.Date, Matches: "DNS records of type SRV",
		Does: "from that day on data.service, data.proto and data.name are not in answers, and refused with 400 in bodies; " +
			"without the quirk they are in answers, and accepted, at any time",
		Imitates: "the end of life that the reference announces for these fields and gives no day to",
	},
}

// faults are the quirks that are set, with their counters.
type faults struct {
	mu     sync.Mutex
	values map[string]string
	counts map[string]int
}

func (f *faults) set(values map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.values, f.counts = values, map[string]int{}
}

// list returns the quirks as they were set, in the order of their names.
func (f *faults) list() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := []string{}
	for _, name := range slices.Sorted(maps.Keys(f.values)) {
		list = append(list, join(name, f.values[name]))
	}
	return list
}

// hit counts a matching request and returns which hit it is, counted from 1;
// zero when it is not this request's turn or the quirk is not set.
func (f *faults) hit(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	every, _ := strconv.Atoi(f.values[name]) // checked by mem.ParseQuirks
	if every == 0 {
		return 0
	}
	f.counts[name]++
	if f.counts[name]%every != 0 {
		return 0
	}
	return f.counts[name] / every
}

// value is what a quirk was set to; empty where it is not set.
func (f *faults) value(name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.values[name]
}

func (f *faults) isSet(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.values[name]
	return ok
}

// delay is how long the answer to a request about a zone is held back; about
// none, the zone is empty.
func (f *faults) delay(zone edge.ZoneID) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, _ := time.ParseDuration(f.values[QuirkSlow]) // checked by mem.ParseQuirks; zero when not set
	zones, said, _ := strings.Cut(f.values[QuirkZoneSlow], ":")
	if among(zones, zone) {
		own, _ := time.ParseDuration(said)
		d = max(d, own)
	}
	return d
}

// hitsZone reports whether a quirk is set for a zone.
func (f *faults) hitsZone(name string, zone edge.ZoneID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return among(f.values[name], zone)
}

func among(list string, zone edge.ZoneID) bool {
	return zone != "" && slices.Contains(strings.Split(list, ","), string(zone))
}

// zoneOf is the zone that an address is about, whatever stands there; empty where
// it is about none.
func zoneOf(path string) edge.ZoneID {
	rest, ok := strings.CutPrefix(path, "/zones/")
	if !ok {
		return ""
	}
	id, _, _ := strings.Cut(rest, "/")
	return edge.ZoneID(id)
}
