package mem

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// SeedRecord is a DNS record. Of its members the reference names name, content,
// type and, for SRV records, data; the others are kept as they are. In JSON the
// members stand beside id and zone_id:
//
//	{"id", "zone_id", "name", "type", "content", "data": {…}, …}
type SeedRecord struct {
	ID      string
	ZoneID  edge.ZoneID
	Members map[string]json.RawMessage // without those in notStored
}

// notStored are members that belong to the platform, and those that went away:
// they are put into answers while they exist, and ignored in bodies. That a
// body's were ignored before that day too is our own reading.
var notStored = []string{"id", "zone_id", "zone_name", "locked"}

const typeSRV = "SRV"

// srvFields are the members of an SRV record's data that its name tells too.
var srvFields = []string{"service", "proto", "name"}

// MarshalJSON writes the record as one object, members sorted by name.
func (r SeedRecord) MarshalJSON() ([]byte, error) {
	all := maps.Clone(r.Members)
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	all["id"], all["zone_id"] = quote(r.ID), quote(string(r.ZoneID))
	return json.Marshal(all)
}

// UnmarshalJSON reads the record and forgets zone_name and locked.
func (r *SeedRecord) UnmarshalJSON(data []byte) error {
	var ids struct {
		ID     string      `json:"id"`
		ZoneID edge.ZoneID `json:"zone_id"`
	}
	if err := json.Unmarshal(data, &ids); err != nil {
		return fmt.Errorf("DNS record: %w", err)
	}
	members, err := recordMembers(data)
	if err != nil {
		return fmt.Errorf("DNS record %q: %w", ids.ID, err)
	}
	*r = SeedRecord{ids.ID, ids.ZoneID, members}
	return nil
}

// recordMembers reads an object and leaves out what is not stored.
func recordMembers(data []byte) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, err
	}
	if members == nil {
		return nil, errNull
	}
	for _, name := range notStored {
		delete(members, name)
	}
	return members, nil
}

func (r SeedRecord) text(member string) string { return textOf(r.Members[member]) }

// textOf is a member that is a string; empty where it is none.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func quote(s string) json.RawMessage {
	data, err := json.Marshal(s)
	if err != nil {
		return nil // cannot be: it is a string
	}
	return data
}

func cloneRecord(r SeedRecord) SeedRecord {
	r.Members = cloneExtra(r.Members)
	return r
}

// check holds the record to what a creation would take, before the end of life
// of the SRV name fields: a seed may be from then.
func (r SeedRecord) check(zones map[edge.ZoneID]bool) error {
	if !edge.ValidID(r.ID) {
		return errID
	}
	if !zones[r.ZoneID] {
		return fmt.Errorf("zone_id %q is no zone of the seed", r.ZoneID)
	}
	problems, err := folded("", cloneExtra(r.Members), nil, false)
	for _, p := range problems {
		err = errors.Join(err, errors.New(p.String()))
	}
	return err
}

// answer is the record as the platform tells it at a moment.
func (r SeedRecord) answer(zone string, now moment) (json.RawMessage, error) {
	all := maps.Clone(r.Members)
	all["id"] = quote(r.ID)
	if !now.over(RuleZoneFields) {
		all["zone_id"], all["zone_name"] = quote(string(r.ZoneID)), quote(zone)
	}
	if !now.over(RuleLocked) {
		all["locked"] = json.RawMessage("false")
	}
	if r.text("type") == typeSRV && !now.srvOver() {
		if data := objectOf(all["data"]); data != nil {
			all["data"] = withParts(data, splitSRV(r.text("name")))
		}
	}
	return json.Marshal(all)
}

// splitSRV takes "_service._proto.name" apart; nil where it is none.
func splitSRV(name string) []string {
	parts := strings.SplitN(name, ".", len(srvFields))
	if len(parts) < len(srvFields) || !isLabel(parts[0]) || !isLabel(parts[1]) || parts[2] == "" {
		return nil
	}
	return parts
}

// isLabel: services and protocols begin with an underscore (RFC 2782).
func isLabel(s string) bool { return len(s) > 1 && s[0] == '_' && !strings.Contains(s, ".") }

// withParts encodes the data of an SRV record with the parts of its name beside
// what it has; no parts, where the name is of another form.
func withParts(data map[string]json.RawMessage, parts []string) json.RawMessage {
	for i, part := range parts {
		data[srvFields[i]] = quote(part)
	}
	out, err := json.Marshal(data)
	if err != nil {
		return nil // cannot be: it was decoded from JSON
	}
	return out
}
