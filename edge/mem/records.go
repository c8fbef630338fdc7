package mem

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// The five operations on DNS records that the reference's schedule names. They
// are here for what the schedule does to them: of a record the reference names a
// few fields, and the rest is kept as it comes. Bodies and answers are JSON for
// that reason. How a partial update merges is not shown; here the members of
// the body take the place of the record's, data as a whole.

// RecordsPath is the address of a zone's DNS records.
func RecordsPath(zone edge.ZoneID) string { return "/zones/" + string(zone) + "/dns_records" }

// RecordPath is the address of one record.
func RecordPath(zone edge.ZoneID, id string) string { return RecordsPath(zone) + "/" + id }

// DNSRecords lists the records of a zone that pass the filters of a query, in
// the order of their making.
func (p *Platform) DNSRecords(ctx context.Context, zone edge.ZoneID, query url.Values) ([]json.RawMessage, error) {
	list := []json.RawMessage{}
	call := "GET " + RecordsPath(zone)
	return list, p.inZone(ctx, call, zone, func(z *SeedZone, now moment) error {
		passes, err := parseFilters(call, query, now)
		if err != nil {
			return err
		}
		for _, r := range p.state.DNSRecords {
			if r.ZoneID != zone || !passes(r) {
				continue
			}
			told, err := r.answer(z.Name, now)
			if err != nil {
				return err
			}
			list = append(list, told)
		}
		return nil
	})
}

// DNSRecord returns one record.
func (p *Platform) DNSRecord(ctx context.Context, zone edge.ZoneID, id string) (told json.RawMessage, err error) {
	call := "GET " + RecordPath(zone, id)
	return told, p.inZone(ctx, call, zone, func(z *SeedZone, now moment) error {
		i := p.record(zone, id)
		if i < 0 {
			return recordNotFound(call, id)
		}
		told, err = p.state.DNSRecords[i].answer(z.Name, now)
		return err
	})
}

// CreateDNSRecordJSON makes a record of a body.
func (p *Platform) CreateDNSRecordJSON(ctx context.Context, zone edge.ZoneID, body []byte) (told json.RawMessage, err error) {
	call := "POST " + RecordsPath(zone)
	return told, p.inZone(ctx, call, zone, func(z *SeedZone, now moment) error {
		r := SeedRecord{ID: p.newRecordID(zone), ZoneID: zone}
		if r.Members, err = written(call, nil, body, now); err != nil {
			return err
		}
		p.state.DNSRecords = append(p.state.DNSRecords, r)
		told, err = r.answer(z.Name, now)
		return err
	})
}

// UpdateDNSRecordJSON changes the members of a record that the body has.
func (p *Platform) UpdateDNSRecordJSON(ctx context.Context, zone edge.ZoneID, id string, body []byte) (json.RawMessage, error) {
	return p.writeRecord(ctx, http.MethodPatch, zone, id, body, true)
}

// ReplaceDNSRecordJSON makes the body the record; what it leaves out is gone.
func (p *Platform) ReplaceDNSRecordJSON(ctx context.Context, zone edge.ZoneID, id string, body []byte) (json.RawMessage, error) {
	return p.writeRecord(ctx, http.MethodPut, zone, id, body, false)
}

func (p *Platform) writeRecord(ctx context.Context, method string, zone edge.ZoneID, id string, body []byte, keep bool) (told json.RawMessage, err error) {
	call := method + " " + RecordPath(zone, id)
	return told, p.inZone(ctx, call, zone, func(z *SeedZone, now moment) error {
		i := p.record(zone, id)
		if i < 0 {
			return recordNotFound(call, id)
		}
		var old map[string]json.RawMessage
		if keep {
			old = p.state.DNSRecords[i].Members
		}
		members, err := written(call, old, body, now)
		if err != nil {
			return err
		}
		p.state.DNSRecords[i].Members = members
		told, err = p.state.DNSRecords[i].answer(z.Name, now)
		return err
	})
}

// written is what becomes of a record, nil for none yet, by a body.
func written(call string, old map[string]json.RawMessage, body []byte, now moment) (map[string]json.RawMessage, error) {
	sent, err := recordMembers(body)
	if err != nil {
		return nil, invalid(call, []edge.ErrorDetail{{Message: "the request body is not a JSON object: " + err.Error()}})
	}
	members := cloneExtra(old)
	if members == nil {
		members = map[string]json.RawMessage{}
	}
	maps.Copy(members, cloneExtra(sent))
	problems, err := folded(call, members, sent, now.srvOver())
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, invalidRecord(call, problems, now)
	}
	return members, nil
}

// inZone runs do with the zone and the time of day, under the lock.
func (p *Platform) inZone(ctx context.Context, call string, zone edge.ZoneID, do func(*SeedZone, moment) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	z := p.zone(zone)
	if z == nil {
		return notFound(call, "zone", string(zone))
	}
	return do(z, p.moment())
}

// record is the index of a record, -1 where there is none.
func (p *Platform) record(zone edge.ZoneID, id string) int {
	return slices.IndexFunc(p.state.DNSRecords, func(r SeedRecord) bool { return r.ZoneID == zone && r.ID == id })
}

// newRecordID is the same in every run. Records are never deleted, so their
// number is new each time; a seed may have taken the id all the same.
func (p *Platform) newRecordID(zone edge.ZoneID) string {
	for n := len(p.state.DNSRecords); ; n++ {
		id := derivedID[string](string(zone), fmt.Sprint("record ", n))
		if !slices.ContainsFunc(p.state.DNSRecords, func(r SeedRecord) bool { return r.ID == id }) {
			return id
		}
	}
}

func recordNotFound(call, id string) error {
	return &edge.Error{Call: call, Status: http.StatusNotFound, Details: []edge.ErrorDetail{{
		Message: fmt.Sprintf("could not find DNS record %s", id),
	}}}
}
