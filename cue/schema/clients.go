package schema

import (
	_ "embed"
	"sync"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

// clientsJSON says how programs reach the platform: its hosts, and of the vendor's
// client libraries the methods that make calls of the calendar. The methods are
// those of the libraries' published references: cloudflare-go 0.10 to 0.116 and
// 2.0 to 6.6, cloudflare-python 3.0 to 4.3, cloudflare-typescript 3.0 to 7.1.
//
//go:embed clients.json
var clientsJSON []byte

// Clients returns how programs reach the platform. It is read on the first call;
// what is returned must not be changed.
var Clients = sync.OnceValues(func() (deprecation.Clients, error) {
	return builtIn[deprecation.Clients](clientsJSON, "list of clients")
})
