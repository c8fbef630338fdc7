package sim

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/internal/wire"
)

// The calls on DNS records, and the CNAME-flattening setting: not part of the
// contract of package edge, and only here for what the calendar does to them on
// a day. Nothing is stored. A read answers one of two records that every zone
// has, a write answers the record that its body describes, and no filter
// selects.
const (
	callRecords       edge.Call = "DNSRecords"
	callCreateRecord  edge.Call = "CreateDNSRecord"
	callRecord        edge.Call = "DNSRecord"
	callUpdateRecord  edge.Call = "UpdateDNSRecord"
	callReplaceRecord edge.Call = "ReplaceDNSRecord"
	callFlattening    edge.Call = "CNAMEFlattening"
	callSetFlattening edge.Call = "SetCNAMEFlattening"
)

const (
	recordsPath    = "/zones/{zone_id}/dns_records"
	recordPath     = recordsPath + "/{record_id}"
	flatteningPath = "/zones/{zone_id}/settings/cname_flattening"
)

var dnsPatterns = []wire.Pattern{
	{Call: callRecords, Method: http.MethodGet, Path: recordsPath},
	{Call: callCreateRecord, Method: http.MethodPost, Path: recordsPath},
	{Call: callRecord, Method: http.MethodGet, Path: recordPath},
	{Call: callUpdateRecord, Method: http.MethodPatch, Path: recordPath},
	{Call: callReplaceRecord, Method: http.MethodPut, Path: recordPath},
	{Call: callFlattening, Method: http.MethodGet, Path: flatteningPath},
	{Call: callSetFlattening, Method: http.MethodPatch, Path: flatteningPath},
}

// Ids of the records that every zone has.
const (
	RecordA   = "d5000000000000000000000000000001"
	RecordSRV = "d5000000000000000000000000000002"
)

// isDNS reports whether an address has DNS records, whatever the method.
func isDNS(path string) bool {
	return slices.ContainsFunc(dnsPatterns[:5], func(p wire.Pattern) bool {
		_, err := wire.Match([]wire.Pattern{p}, p.Method, path)
		return err == nil
	})
}

func isFlattening(call edge.Call) bool { return call == callFlattening || call == callSetFlattening }

// dnsCall answers one of them as on the day that the clock shows.
func (s *Server) dnsCall(r request) (result any, info *wire.Info, err error) {
	zone, ok := s.Platform.SeedZone(r.route.Zone)
	if !ok {
		return nil, nil, failed(http.StatusNotFound, edge.CodeRulesetNotFound, "could not find zone "+string(r.route.Zone))
	}
	var body map[string]any
	if !isRead(r.Method) {
		if err := wire.DecodeBody(r.Header, r.body, &body); err != nil {
			return nil, nil, err
		}
	}
	day := recordDay{s.schedule, s.clock.Now(), deprecation.Date(s.faults.value(QuirkSRVEnd)), zone.ID, zone.Name}
	switch r.route.Call {
	case callRecords:
		result, info = day.list(r.URL.Query())
	case callCreateRecord:
		result, err = day.write(record{"id": RecordA}, body)
	case callFlattening:
		result = setting{"cname_flattening", "off"}
	case callSetFlattening:
		result, err = flattening(body["value"])
	default:
		result, err = day.one(r.route, body)
	}
	return result, info, err
}

// setting is a zone setting. The reference names values and no shape: id and
// value are what the calendar reads, too.
type setting struct {
	ID    string `json:"id"`
	Value string `json:"value"`
}

// flattening answers a value that the setting can have; the first two behave the
// same (reference, schedule of 2025-03-21).
func flattening(value any) (setting, error) {
	values := []any{"off", "apex", "on"}
	if !slices.Contains(values, value) {
		return setting{}, failed(http.StatusBadRequest, codeSetting, "value must be one of off, apex, on")
	}
	return setting{"cname_flattening", fmt.Sprint(value)}, nil
}

const (
	codeSetting       = 1007
	codeDNSValidation = 1004 // wraps the root cause of an invalid record (reference, "Errors", 2)
	codeRecordMember  = 9000 // of a root cause; the reference gives it none
	codeNoRecord      = 81044
)

// record is a DNS record. The reference names name, type, content and, for SRV
// records, data.
type record map[string]any

// recordDay is what DNS records of a zone are like on a day.
type recordDay struct {
	schedule
	now    time.Time
	srvEnd deprecation.Date // of the quirk; empty: none
	id     edge.ZoneID
	zone   string // its name
}

func (d recordDay) over(rule string) bool { return d.Over(rule, d.now) }

// srvOver: the end of life of the SRV name fields has come. The reference gives
// it no day, so without a calendar that does, or the quirk, it never has.
func (d recordDay) srvOver() bool {
	if d.srvEnd != "" && deprecation.DateOf(d.now) >= d.srvEnd {
		return true
	}
	return d.Rule(RuleSRV) != nil && d.over(RuleSRV)
}

// stored are the records that every zone has.
func (d recordDay) stored() []record {
	return []record{
		{"id": RecordA, "name": "www." + d.zone, "type": "A", "content": "192.0.2.10"},
		{"id": RecordSRV, "name": "_sip._tcp." + d.zone, "type": "SRV", "data": map[string]any{"port": 5060, "priority": 10, "target": "sip." + d.zone, "weight": 5}},
	}
}

// list has both records, or none where a filter is in a syntax that has ended:
// its text is the name of no record.
func (d recordDay) list(query url.Values) ([]record, *wire.Info) {
	list := []record{}
	if !d.filtersEnded(query) {
		for _, r := range d.stored() {
			list = append(list, d.answer(r))
		}
	}
	return list, &wire.Info{Page: new(1), Count: new(len(list)), TotalCount: new(len(list)), TotalPages: new(1)}
}

func (d recordDay) filtersEnded(query url.Values) bool {
	for _, param := range []string{"name", "content", "type"} {
		for _, value := range query[param] {
			if form, _ := deprecation.FormOf(value); form != "" && d.FormOver(RuleFilters, param, form, d.now) {
				return true
			}
		}
	}
	return false
}

// one is a call on one record.
func (d recordDay) one(route wire.Route, body map[string]any) (record, error) {
	all := d.stored()
	i := slices.IndexFunc(all, func(r record) bool { return r["id"] == route.Record })
	switch {
	case i < 0:
		return nil, failed(http.StatusNotFound, codeNoRecord, "could not find DNS record "+route.Record)
	case route.Call == callRecord:
		return d.answer(all[i]), nil
	case route.Call == callReplaceRecord:
		return d.write(record{"id": route.Record}, body)
	}
	return d.write(all[i], body)
}

// srvFields are the members of an SRV record's data that its name has too.
var srvFields = []string{"service", "proto", "name"}

// write answers the record that old becomes by a body. Members that belong to
// the platform, and those that have ended, are ignored in it.
func (d recordDay) write(old record, body map[string]any) (record, error) {
	sent := maps.Clone(body)
	for _, name := range []string{"id", "zone_id", "zone_name", "locked"} {
		delete(sent, name)
	}
	next := maps.Clone(old)
	maps.Copy(next, sent)
	data, _ := next["data"].(map[string]any)
	if next["type"] == "SRV" && data != nil {
		if d.srvOver() && slices.ContainsFunc(srvFields, func(name string) bool { return data[name] != nil }) {
			return nil, d.invalid("data", "service, proto and name are past their end of life: set the outer name")
		}
		next["name"], next["data"] = nameSRV(next["name"], data)
	}
	for _, name := range []string{"name", "type"} {
		if text, _ := next[name].(string); text == "" {
			return nil, d.invalid(name, name+" must be a text that is not empty")
		}
	}
	if text, _ := next["content"].(string); text == "" && next["data"] == nil {
		return nil, d.invalid("content", "a record needs content, or data")
	}
	return d.answer(next), nil
}

// invalid is the refusal of a record: wrapped, or the root cause.
func (d recordDay) invalid(member, why string) error {
	cause := edge.ErrorDetail{Code: codeRecordMember, Message: why, Pointer: "/" + member}
	if d.over(RuleErrorChain) {
		return &edge.Error{Status: http.StatusBadRequest, Details: []edge.ErrorDetail{cause}}
	}
	return failed(http.StatusBadRequest, codeDNSValidation, "DNS Validation Error", cause)
}

// nameSRV moves the name fields of an SRV record's data into its outer name,
// which has the form _service._proto.name.
func nameSRV(name any, data map[string]any) (string, map[string]any) {
	outer, _ := name.(string)
	parts := strings.SplitN(outer, ".", len(srvFields))
	parts = append(parts, make([]string, len(srvFields)-len(parts))...)
	rest := maps.Clone(data)
	for i, field := range srvFields {
		said, _ := rest[field].(string)
		parts[i] = cmp.Or(said, parts[i])
		delete(rest, field)
	}
	return strings.Trim(strings.Join(parts, "."), "."), rest
}

// answer is a record as the platform describes it on the day.
func (d recordDay) answer(r record) record {
	r = maps.Clone(r)
	if !d.over(RuleZoneFields) {
		r["zone_id"], r["zone_name"] = d.id, d.zone
	}
	if !d.over(RuleLocked) {
		r["locked"] = false
	}
	data, _ := r["data"].(map[string]any)
	parts := strings.SplitN(fmt.Sprint(r["name"]), ".", len(srvFields))
	if r["type"] == "SRV" && data != nil && len(parts) == len(srvFields) && !d.srvOver() {
		data = maps.Clone(data)
		for i, field := range srvFields {
			data[field] = parts[i]
		}
		r["data"] = data
	}
	return r
}
