package cli

import (
	"log/slog"
	"strings"
	"time"

	"github.com/lmittmann/tint"

	"github.com/seawall-dev/seawall/edge/visible"
	"github.com/seawall-dev/seawall/reconcile/outage"
)

// Logger writes to standard error: coloured lines on a terminal, JSON
// elsewhere, unless --log-format says otherwise.
func (t *Terminal) Logger(format, level string) (*slog.Logger, error) {
	var lowest slog.Level
	if err := lowest.UnmarshalText([]byte(level)); err != nil {
		return nil, Usage("--log-level %q is not one of debug, info, warn, error", level)
	}
	auto := format == "auto" || format == ""
	switch {
	case format == "text", auto && t.errTTY:
		options := tint.Options{Level: lowest, NoColor: !t.ColourErr, TimeFormat: time.DateTime, ReplaceAttr: readableText}
		return slog.New(tint.NewTextHandler(t.Err, &options)), nil
	case format == "json", auto:
		return slog.New(slog.NewJSONHandler(t.Err, &slog.HandlerOptions{Level: lowest, ReplaceAttr: readable})), nil
	}
	return nil, Usage("--log-format %q is not one of auto, text, json", format)
}

// readable makes an attribute what a person can read in both formats: a duration as text,
// an error on one line without the page of HTML that a gateway has answered with, and no
// attribute that is empty.
func readable(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
		return a
	}
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() { //nolint:exhaustive // the others are readable
	case slog.KindDuration:
		return slog.String(a.Key, a.Value.Duration().Round(time.Millisecond).String())
	case slog.KindString: // nearly all are
		if a.Key == "error" || a.Key == "reason" {
			a.Value = slog.StringValue(outage.Line(a.Value.String()))
		}
	case slog.KindAny:
		a = readableAny(a)
	}
	if a.Value.Kind() == slog.KindString && a.Value.String() == "" {
		return slog.Attr{}
	}
	return a
}

// readableAny is [readable] of an attribute of a type that slog does not know.
func readableAny(a slog.Attr) slog.Attr {
	switch value := a.Value.Any().(type) {
	case nil:
		return slog.Attr{}
	case error:
		a.Value = slog.StringValue(outage.Line(value.Error()))
	case []string:
		if len(value) == 0 {
			return slog.Attr{}
		}
	}
	return a
}

// readableText does the same for the coloured lines, in which a list is one text.
func readableText(groups []string, a slog.Attr) slog.Attr {
	a = readable(groups, a)
	if list, ok := a.Value.Any().([]string); ok {
		a.Value = slog.StringValue(strings.Join(list, "; "))
	}
	if a.Value.Kind() == slog.KindString {
		a.Value = slog.StringValue(visible.Text(a.Value.String()))
	}
	return a
}
