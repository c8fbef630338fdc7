package main

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/lmittmann/tint"
)

// logger writes to standard error: coloured lines on a terminal, JSON
// elsewhere, unless --log-format says otherwise.
func (t *terminal) logger(format, level string) (*slog.Logger, error) {
	var lowest slog.Level
	if err := lowest.UnmarshalText([]byte(level)); err != nil {
		return nil, usage("--log-level %q is not one of debug, info, warn, error", level)
	}
	switch format {
	case "auto", "":
		if t.errTTY {
			return slog.New(t.textLog(lowest)), nil
		}
		return slog.New(t.jsonLog(lowest)), nil
	case "text":
		return slog.New(t.textLog(lowest)), nil
	case "json":
		return slog.New(t.jsonLog(lowest)), nil
	}
	return nil, usage("--log-format %q is not one of auto, text, json", format)
}

func (t *terminal) textLog(level slog.Level) slog.Handler {
	return tint.NewTextHandler(t.err, &tint.Options{Level: level, NoColor: !t.colourErr, TimeFormat: time.DateTime})
}

func (t *terminal) jsonLog(level slog.Level) slog.Handler {
	return slog.NewJSONHandler(t.err, &slog.HandlerOptions{Level: level})
}

// oneOf checks a flag that takes one of a few words.
func oneOf(flag, value string, words ...string) error {
	for _, w := range words {
		if value == w {
			return nil
		}
	}
	return fail(fmt.Errorf("%s %q is not one of %s", flag, value, strings.Join(words, ", ")))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
