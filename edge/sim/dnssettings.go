package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/mem"
)

// setting is a zone setting. The reference names values and no shape: id and
// value are what the calendar reads, too.
type setting struct {
	ID    string `json:"id"`
	Value string `json:"value"`
}

func (s *Server) flattening(ctx context.Context, route wire.Route) (setting, error) {
	value, err := s.Platform.CNAMEFlattening(ctx, route.Zone)
	return setting{"cname_flattening", value}, err
}

func (s *Server) setFlattening(ctx context.Context, route wire.Route, body []byte) (setting, error) {
	var sent struct {
		Value string `json:"value"`
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		return setting{}, failed(http.StatusBadRequest, 0, "could not parse the body: "+err.Error())
	}
	if err := s.Platform.SetCNAMEFlattening(ctx, route.Zone, sent.Value); err != nil {
		return setting{}, err
	}
	return s.flattening(ctx, route)
}

func (s *Server) getDNSSettings(r *http.Request, _ []byte) (any, error) {
	return dnsSettings(s.Platform.DNSSettings(edge.ZoneID(r.PathValue("zone"))))
}

// putDNSSettings does what a call would do whose path the reference does not
// show. What the body leaves out stays.
func (s *Server) putDNSSettings(r *http.Request, body []byte) (any, error) {
	zone := edge.ZoneID(r.PathValue("zone"))
	settings, err := dnsSettings(s.Platform.DNSSettings(zone))
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&settings); err == nil {
		err = s.Platform.SetDNSSettings(zone, settings)
	}
	if err != nil {
		return nil, refuse(err, "GET shows the settings there are")
	}
	return dnsSettings(s.Platform.DNSSettings(zone))
}

func dnsSettings(settings mem.DNSSettings, err error) (mem.DNSSettings, error) {
	if err != nil {
		err = refuse(err, "GET /__sim/state lists the zones")
	}
	return settings, err
}
