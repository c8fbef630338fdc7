package desired

import (
	"encoding/json"

	"github.com/seawall-dev/seawall/edge"
)

// zoneJSON is the JSON form of a [Zone], as states on record have it. Its level stands
// beside its id, which may not be known.
type zoneJSON struct {
	AccountLevel bool `json:",omitempty"`

	Key         string
	Name        string
	ID          edge.Scope
	ByName      bool
	Origin      Origin
	Labels      map[string]string
	Deployments []Deployment
	Others      []Other    `json:",omitempty"`
	Unmanaged   []OfOthers `json:",omitempty"`
}

// MarshalJSON writes the form that is on record.
func (z Zone) MarshalJSON() ([]byte, error) {
	return json.Marshal(zoneJSON{z.Scope.Level == edge.LevelAccount, z.Key, z.Name, z.Scope, z.ByName, z.Origin, z.Labels, z.Deployments, z.Others, z.Unmanaged})
}

// UnmarshalJSON reads it.
func (z *Zone) UnmarshalJSON(data []byte) error {
	var text zoneJSON
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	level := edge.LevelZone
	if text.AccountLevel || text.ID.Level == edge.LevelAccount {
		level = edge.LevelAccount
	}
	*z = Zone{text.Key, text.Name, edge.Scope{Level: level, ID: text.ID.ID}, text.ByName, text.Origin, text.Labels, text.Deployments, text.Others, text.Unmanaged}
	return nil
}
