package inspect

import _ "embed"

// StatusSchema is the published JSON Schema of a [Status].
//
//go:embed status.schema.json
var StatusSchema []byte

// ZoneSchema is the published JSON Schema of a [ZoneList].
//
//go:embed zone.schema.json
var ZoneSchema []byte
