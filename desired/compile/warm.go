package compile

import (
	"sync/atomic"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"github.com/seawall-dev/seawall/cue/schema"
)

// built is the schema in a context of CUE's. Each folder is evaluated in one of its
// own.
type built struct {
	ctx *cue.Context
	def cue.Value
}

func buildSchema() (*built, error) {
	ctx := cuecontext.New()
	pkg, err := schema.Build(ctx)
	if err != nil {
		return nil, err
	}
	return &built{ctx, pkg.LookupPath(cue.ParsePath("#Desired"))}, nil
}

// warm is for the next folder; nil mostly.
var warm atomic.Pointer[built]

// Warm does ahead what evaluating a folder takes whatever is in it. The next call of
// [Folder] in this process is the sooner done for it.
func Warm() {
	if b, err := buildSchema(); err == nil { // else the folder says so
		warm.Store(b)
	}
}

func takeSchema() (*built, error) {
	if b := warm.Swap(nil); b != nil {
		return b, nil
	}
	return buildSchema()
}
