package wire

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Headers by which the platform tells of its limits.
const (
	HeaderLimit       = "Ratelimit"        // "default";r=50;t=30
	HeaderLimitPolicy = "Ratelimit-Policy" // "default";q=1200;w=300
	HeaderRetryAfter  = "Retry-After"      // seconds, or an HTTP date
)

// MaxPause is the longest pause that is believed: the platform's own window.
const MaxPause = 300 * time.Second

// Limit is what is left of a quota, and the time until it is whole again.
type Limit struct {
	Name  string
	Left  int
	Reset time.Duration // whole seconds on the wire
}

// Policy is a quota: so many requests in a window.
type Policy struct {
	Name   string
	Quota  int
	Window time.Duration // whole seconds on the wire
}

func (l Limit) String() string {
	return fmt.Sprintf("%q;r=%d;t=%d", l.Name, l.Left, ceilSeconds(l.Reset))
}

func (p Policy) String() string {
	return fmt.Sprintf("%q;q=%d;w=%d", p.Name, p.Quota, ceilSeconds(p.Window))
}

// ParseLimits reads every Ratelimit header; elements that lack a part or make
// no sense are left out.
func ParseLimits(header http.Header) []Limit {
	if len(header[HeaderLimit]) == 0 {
		return nil
	}
	var limits []Limit
	for element := range strings.SplitSeq(strings.Join(header.Values(HeaderLimit), ","), ",") {
		parts := strings.Split(element, ";")
		params := map[string]string{}
		for _, part := range parts[1:] {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			params[name] = value
		}
		left, okLeft := count(params["r"])
		reset, okReset := count(params["t"])
		if okLeft && okReset {
			limits = append(limits, Limit{Name: strings.Trim(strings.TrimSpace(parts[0]), `"`), Left: left, Reset: seconds(reset)})
		}
	}
	return limits
}

// count reads a number that is not negative; absurdly large ones are refused
// so that seconds cannot overflow.
func count(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err == nil
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// ceilSeconds rounds up: a client told too short a time comes back too early.
func ceilSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// FormatRetryAfter returns the value of a Retry-After header.
func FormatRetryAfter(d time.Duration) string { return strconv.Itoa(ceilSeconds(d)) }

// RetryAfter reads a Retry-After header: zero when there is none or it makes no
// sense, at most [MaxPause]. A date counts from the answer's own Date, so that
// the two clocks need not agree; without one it tells nothing.
func RetryAfter(header http.Header) time.Duration {
	value := strings.TrimSpace(header.Get(HeaderRetryAfter))
	if n, err := strconv.ParseUint(value, 10, 63); err == nil {
		return seconds(int(min(n, uint64(MaxPause/time.Second))))
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), MaxPause)
}
