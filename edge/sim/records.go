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
	recordsPath    = "/zones/{zone_id}/dns_records"
	recordPath     = recordsPath + "/{record_id}"
	flatteningPath = "/zones/{zone_id}/settings/cname_flattening"
)

var dnsCalls = slices.Concat(recordCalls, []call{
	{"", http.MethodGet, flatteningPath, onDay(func(recordDay) (any, error) { return setting{"cname_flattening", "off"}, nil })},
	{"", http.MethodPatch, flatteningPath, onDay(func(d recordDay) (any, error) { return flattening(d.body["value"]) })},
})

var recordCalls = []call{
	{"", http.MethodGet, recordsPath, (*Server).records},
	{"", http.MethodPost, recordsPath, onDay(func(d recordDay) (any, error) { return d.write(record{"id": RecordA}) })},
	{"", http.MethodGet, recordPath, onRecord(func(d recordDay, old record) (record, error) { return d.answer(old), nil })},
	{"", http.MethodPatch, recordPath, onRecord(recordDay.write)},
	{"", http.MethodPut, recordPath, onRecord(func(d recordDay, old record) (record, error) { return d.write(record{"id": old["id"]}) })},
}

// Ids of the records that every zone has.
const (
	RecordA   = "d5000000000000000000000000000001"
	RecordSRV = "d5000000000000000000000000000002"
)

// isDNS reports whether an address has DNS records, whatever the method.
func isDNS(path string) bool {
	return slices.ContainsFunc(recordCalls, func(c call) bool { _, ok := c.params(path); return ok })
}

// day is the day that the clock shows, for the zone of a request.
func (s *Server) day(r request) (recordDay, error) {
	zone, ok := s.Platform.SeedZone(r.route.zone)
	if !ok {
		return recordDay{}, failed(http.StatusNotFound, edge.CodeRulesetNotFound, "could not find zone "+string(r.route.zone))
	}
	day := recordDay{s.schedule, s.clock.Now(), deprecation.Date(s.faults.value(QuirkSRVEnd)), zone.ID, zone.Name, r.route.record, nil}
	if isRead(r.Method) {
		return day, nil
	}
	return day, wire.DecodeBody(r.Header, r.body, &day.body)
}

// onDay answers as on the day.
func onDay(do func(recordDay) (any, error)) answerer {
	return result(func(s *Server, r request) (any, error) {
		day, err := s.day(r)
		if err != nil {
			return nil, err
		}
		return do(day)
	})
}

// onRecord is onDay for calls on one record, which is told as it is.
func onRecord(do func(recordDay, record) (record, error)) answerer {
	return onDay(func(d recordDay) (any, error) {
		all := d.stored()
		i := slices.IndexFunc(all, func(r record) bool { return r["id"] == d.record })
		if i < 0 {
			return nil, failed(http.StatusNotFound, codeNoRecord, "could not find DNS record "+d.record)
		}
		return do(d, all[i])
	})
}

// records has both records, or none where a filter is in a syntax that has ended:
// its text is the name of no record.
func (s *Server) records(r request) (any, *wire.Info, error) {
	d, err := s.day(r)
	if err != nil {
		return nil, nil, err
	}
	list := []record{}
	if !d.filtersEnded(r.URL.Query()) {
		for _, r := range d.stored() {
			list = append(list, d.answer(r))
		}
	}
	return list, &wire.Info{Page: new(1), Count: new(len(list)), TotalCount: new(len(list)), TotalPages: new(1)}, nil
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
	record string // of the path; empty: none
	body   map[string]any
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

// srvFields are the members of an SRV record's data that its name has too.
var srvFields = []string{"service", "proto", "name"}

// write answers the record that old becomes by the body. Members that belong to
// the platform, and those that have ended, are ignored in it.
func (d recordDay) write(old record) (record, error) {
	sent := maps.Clone(d.body)
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
	cause := edge.ErrorDetail{Code: codeRecordMember, Message: why, Source: edge.ErrorSource{Pointer: "/" + member}}
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
