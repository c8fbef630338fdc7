package main

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/lmittmann/tint"

	"github.com/seawall-dev/seawall/reconcile/outage"
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
	return tint.NewTextHandler(t.err, &tint.Options{Level: level, NoColor: !t.colourErr, TimeFormat: time.DateTime, ReplaceAttr: readable})
}

func (t *terminal) jsonLog(level slog.Level) slog.Handler {
	return slog.NewJSONHandler(t.err, &slog.HandlerOptions{Level: level, ReplaceAttr: readable})
}

// readable makes an attribute what a person can read in both formats: a duration as text,
// an error on one line without the page of HTML that a gateway has answered with, and no
// attribute that is empty.
func readable(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
		return a
	}
	a.Value = a.Value.Resolve()
	switch value := a.Value.Any().(type) {
	case nil:
		return slog.Attr{}
	case time.Duration:
		return slog.String(a.Key, value.Round(time.Millisecond).String())
	case error:
		a.Value = slog.StringValue(outage.Line(value.Error()))
	case string:
		if a.Key == "error" || a.Key == "reason" {
			a.Value = slog.StringValue(outage.Line(value))
		}
	case []string:
		if len(value) == 0 {
			return slog.Attr{}
		}
	}
	if a.Value.Kind() == slog.KindString && a.Value.String() == "" {
		return slog.Attr{}
	}
	return a
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
