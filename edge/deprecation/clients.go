package deprecation

// Clients is how programs reach the platform: what beside a path tells that a
// request is one of its API.
type Clients struct {
	// Hosts are the names of the API.
	Hosts []string `json:"hosts"`
	// Base is the path below which the API lies on each of them. A gateway that
	// passes requests on keeps it mostly, under a name of its own.
	Base string `json:"base"`
	// SDKs are the vendor's client libraries.
	SDKs []SDK `json:"sdks"`
}

// SDK is a client library: its methods, and the calls that they make. Only those
// are listed that the calendar names.
type SDK struct {
	Name     string   `json:"name"`
	Language string   `json:"language"`
	Imports  []string `json:"imports"` // how the import of its package begins
	// Calls says for a method, written as in code without the client's name
	// (dns.records.list), the call: "GET /zones/{zone_id}/dns_records".
	Calls map[string]string `json:"calls"`
}
