package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
)

// assetPath is in front of the names of files that never change.
const assetPath = "/assets/"

//go:embed assets
var assetFiles embed.FS

// asset is a file that pages load. Its name has its hash: another content has another name.
type asset struct {
	hashed, kind string
	content      []byte
}

var assets = map[string]asset{
	"style.css": assetOf("style.css", "text/css; charset=utf-8", markStyles()),
	"page.js":   assetOf("page.js", "text/javascript; charset=utf-8", ""),
	"icon.svg":  assetOf("icon.svg", "image/svg+xml", ""),
}

func assetOf(name, kind, more string) asset {
	content, err := assetFiles.ReadFile("assets/" + name)
	if err != nil { // it is a part of the program
		panic(err)
	}
	content = append(content, more...)
	hash := sha256.Sum256(content)
	base, extension, _ := strings.Cut(name, ".")
	return asset{base + "-" + hex.EncodeToString(hash[:8]) + "." + extension, kind, content}
}

// StyleSheet is the address of the style sheet, for what others serve beside the pages.
func StyleSheet() string { return assetPath + assets["style.css"].hashed }

// asset serves a file to anyone: it says nothing of the fleet.
func (h *handler) asset(w http.ResponseWriter, r *http.Request) {
	name := path.Base(r.URL.Path)
	for _, a := range assets {
		if a.hashed == name {
			w.Header().Set("Content-Type", a.kind)
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			_, _ = w.Write(a.content)
			return
		}
	}
	h.refuse(w, r, problem(http.StatusNotFound, "there is no such file", "load the page again: it is of another version of seawall"))
}
