package page

import (
	_ "embed"
	"net/http"
)

// openAPIPath is the address of [OpenAPI].
const openAPIPath = apiPath + "/openapi.json"

// OpenAPI describes /api/v1 as OpenAPI 3.1. It is generated from the table of resources and
// the types of their values.
//
//go:embed openapi.json
var OpenAPI []byte

func serveOpenAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(OpenAPI) // a client that hung up needs no answer
}
