package sim

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/mem"
)

// The calls on DNS records, and the setting that went away: no part of the
// contract of package edge, and only here for the calendar.
const (
	callRecords       wire.Call = "DNSRecords"
	callCreateRecord  wire.Call = "CreateDNSRecord"
	callRecord        wire.Call = "DNSRecord"
	callUpdateRecord  wire.Call = "UpdateDNSRecord"
	callReplaceRecord wire.Call = "ReplaceDNSRecord"
	callFlattening    wire.Call = "CNAMEFlattening"
	callSetFlattening wire.Call = "SetCNAMEFlattening"
)

var dnsPatterns = []wire.Pattern{
	{Call: callRecords, Method: http.MethodGet, Path: mem.RecordsPath("{zone_id}")},
	{Call: callCreateRecord, Method: http.MethodPost, Path: mem.RecordsPath("{zone_id}")},
	{Call: callRecord, Method: http.MethodGet, Path: mem.RecordPath("{zone_id}", "{record_id}")},
	{Call: callUpdateRecord, Method: http.MethodPatch, Path: mem.RecordPath("{zone_id}", "{record_id}")},
	{Call: callReplaceRecord, Method: http.MethodPut, Path: mem.RecordPath("{zone_id}", "{record_id}")},
	{Call: callFlattening, Method: http.MethodGet, Path: mem.FlatteningPath("{zone_id}")},
	{Call: callSetFlattening, Method: http.MethodPatch, Path: mem.FlatteningPath("{zone_id}")},
}

// pattern is the pattern of any call that this server has.
func (s *Server) pattern(call wire.Call) wire.Pattern {
	i := slices.IndexFunc(s.offered, func(p wire.Pattern) bool { return p.Call == call })
	if i < 0 {
		return wire.Pattern{}
	}
	return s.offered[i]
}

func isFlattening(call wire.Call) bool { return call == callFlattening || call == callSetFlattening }

// isDNS reports whether an address has DNS records, whatever the method.
func isDNS(path string) bool {
	return slices.ContainsFunc(dnsPatterns, func(p wire.Pattern) bool {
		_, err := wire.Match([]wire.Pattern{p}, p.Method, path)
		return err == nil && !isFlattening(p.Call)
	})
}

// dnsCall makes the platform do one of them.
func (s *Server) dnsCall(ctx context.Context, r request) (result any, info *wire.Info, err error) {
	zone, id := r.route.Zone, r.route.Record
	var raw json.RawMessage
	if !isRead(r.Method) {
		if err := wire.DecodeBody(r.Header, r.body, &raw); err != nil {
			return nil, nil, err
		}
	}
	switch r.route.Call {
	case callRecords:
		return s.records(ctx, r.route, r.URL.Query())
	case callCreateRecord:
		result, err = s.Platform.CreateDNSRecordJSON(ctx, zone, raw)
	case callRecord:
		result, err = s.Platform.DNSRecord(ctx, zone, id)
	case callUpdateRecord:
		result, err = s.Platform.UpdateDNSRecordJSON(ctx, zone, id, raw)
	case callReplaceRecord:
		result, err = s.Platform.ReplaceDNSRecordJSON(ctx, zone, id, raw)
	case callFlattening:
		result, err = s.flattening(ctx, r.route)
	case callSetFlattening:
		result, err = s.setFlattening(ctx, r.route, raw)
	}
	return result, nil, err
}

// Sizes of a page of records. The reference shows no paging of this list: ours
// is that of the other lists with numbered pages.
const (
	defaultRecords = 100
	mostRecords    = 5000
)

func (s *Server) records(ctx context.Context, route wire.Route, query url.Values) (any, *wire.Info, error) {
	page, err := queryNumber(query, "page", 1, 1, 1<<20)
	if err != nil {
		return nil, nil, err
	}
	perPage, err := queryNumber(query, "per_page", defaultRecords, 1, mostRecords)
	if err != nil {
		return nil, nil, err
	}
	query.Del("page")
	query.Del("per_page")
	all, err := s.Platform.DNSRecords(ctx, route.Zone, query)
	if err != nil {
		return nil, nil, err
	}
	total := len(all)
	all = all[min((page-1)*perPage, total):min(page*perPage, total)]
	return all, &wire.Info{
		Page: new(page), PerPage: new(perPage), Count: new(len(all)),
		TotalCount: new(total), TotalPages: new((total + perPage - 1) / perPage),
	}, nil
}
