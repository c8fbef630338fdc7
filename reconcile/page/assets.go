package page

import "net/http"

// assetPath is in front of the names of files that never change.
const assetPath = "/assets/"

func serveAsset(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }
