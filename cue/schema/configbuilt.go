package schema

import (
	"sync"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
)

// built is #Config in a context.
type built struct {
	ctx  *cue.Context
	def  cue.Value
	read int // files
}

// kept has what was built, for the next file: that takes longer than all else. A process that reads
// no other loses it with the next collection.
var kept sync.Pool

// inOneContext is after how many files a new context begins: one keeps all that was evaluated in it.
const inOneContext = 50

func builtConfig() (*built, error) {
	if b, ok := kept.Get().(*built); ok && Altered == nil {
		return b, nil
	}
	ctx := cuecontext.New()
	def, err := Definition(ctx, "#Config")
	return &built{ctx: ctx, def: def}, err
}

// keep gives it back after a file without mistakes.
func (b *built) keep() {
	if b.read++; b.read < inOneContext && Altered == nil {
		kept.Put(b)
	}
}
