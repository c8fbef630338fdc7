package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/exactjson"
	"github.com/seawall-dev/seawall/edge/visible"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/login"
)

// Order is what a person orders. Each action takes some of it.
type Order struct {
	Zones  []string `json:"zones,omitempty"` // ids
	Zone   string   `json:"zone,omitempty"`  // an id
	For    string   `json:"for,omitempty"`   // how long, such as 2h
	Reason string   `json:"reason,omitempty"`
	Digest string   `json:"digest,omitempty"`
	Commit string   `json:"commit,omitempty"`
}

// Ordered is the answer to an order that was carried out, or has begun.
type Ordered struct {
	Version int    `json:"version"`
	Done    string `json:"done"`
	// Revert is the progress of a revert; only for actions about one.
	Revert *Reverting `json:"revert,omitempty"`
}

// action is one thing that can be ordered.
type action struct {
	name  string
	takes []string // members of [Order], all of which are needed but for those in may
	may   []string
	fleet bool // needs a right to the whole fleet
	do    func(context.Context, Actions, login.Person, Order) (string, error)
	back  func(Order) string // the page that shows what has become of it
}

// planRevert and revert are the actions about a revert.
const (
	planRevert = "plan-revert"
	revert     = "revert"
)

// actions are all that can be ordered.
var actions = []action{
	{name: "read", takes: []string{"zones"}, do: func(ctx context.Context, a Actions, who login.Person, o Order) (string, error) {
		zones := make([]edge.Scope, len(o.Zones))
		for i, id := range o.Zones {
			zones[i] = edge.ParseScope(id)
		}
		return a.ReadNow(ctx, who, zones)
	}, back: zonePage},
	{name: "hold", takes: []string{"zone", "for", "reason"}, do: func(ctx context.Context, a Actions, who login.Person, o Order) (string, error) {
		length, err := time.ParseDuration(o.For)
		if err != nil {
			return "", badOrder(fmt.Sprintf("%q is not a duration", o.For), "give for as 2h, 45m or 1h30m")
		}
		return a.Hold(ctx, who, edge.ParseScope(o.Zone), length, o.Reason)
	}, back: zonePage},
	{name: "release", takes: []string{"zone"}, do: func(ctx context.Context, a Actions, who login.Person, o Order) (string, error) {
		return a.Release(ctx, who, edge.ParseScope(o.Zone))
	}, back: zonePage},
	{name: "approve", takes: []string{"zone", "digest"}, may: []string{"reason"}, do: func(ctx context.Context, a Actions, who login.Person, o Order) (string, error) {
		return a.Approve(ctx, who, edge.ParseScope(o.Zone), o.Digest, o.Reason)
	}, back: zonePage},
	{name: planRevert, takes: []string{"commit"}, fleet: true, do: func(ctx context.Context, a Actions, who login.Person, o Order) (string, error) {
		return a.PlanRevert(ctx, who, o.Commit)
	}, back: revertPage},
	{name: revert, takes: []string{"commit", "digest"}, fleet: true, do: func(ctx context.Context, a Actions, who login.Person, o Order) (string, error) {
		return a.Revert(ctx, who, o.Commit, o.Digest)
	}, back: revertPage},
}

func zonePage(o Order) string {
	zone := o.Zone
	if len(o.Zones) == 1 {
		zone = o.Zones[0]
	}
	if back := ownPage("/zones/" + zone); back != "" && zone != "" {
		return back
	}
	return "/zones"
}

func revertPage(Order) string { return actionPath + revert }

const (
	mostBody   = 64 << 10
	mostReason = 500 // characters
	mostZones  = inspect.MostRows
)

func badOrder(reason, hint string) error { return &RefusedError{http.StatusBadRequest, reason, hint} }

// readOrder reads the body of a request. back is the page that a form wants to come back to,
// where that is one of ours.
func readOrder(w http.ResponseWriter, r *http.Request, a action, asJSON bool) (o Order, back string, err error) {
	r.Body = http.MaxBytesReader(w, r.Body, mostBody)
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	want := "application/x-www-form-urlencoded"
	if asJSON {
		want = "application/json"
	}
	if kind != want {
		return o, "", &RefusedError{http.StatusUnsupportedMediaType, "the body is not " + want, "send this type, with the header Content-Type"}
	}
	if r.URL.RawQuery != "" {
		return o, "", badOrder("an action takes no parameters in its address", "send them in the body")
	}
	if asJSON {
		o, err = fromJSON(r.Body)
	} else {
		o, back, err = fromForm(r)
	}
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		err = &RefusedError{http.StatusRequestEntityTooLarge, "the body is too large", fmt.Sprintf("send at most %d bytes", mostBody)}
	}
	if err == nil {
		err = o.check(a)
	}
	return o, back, err
}

func fromJSON(body io.Reader) (o Order, err error) {
	data, err := io.ReadAll(body)
	if err != nil {
		return o, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&o); err == nil {
		if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is text after the object")
		} else {
			err = exactjson.Check(data)
		}
	}
	if err != nil {
		return o, badOrder("the body cannot be read: "+visible.Text(err.Error()), "send one JSON object; /api/v1/openapi.json describes it")
	}
	return o, nil
}

func fromForm(r *http.Request) (o Order, back string, err error) {
	if err := r.ParseForm(); err != nil {
		return o, "", err
	}
	for name, values := range r.PostForm {
		switch {
		case name == "zones":
			o.Zones = values
			continue
		case len(values) != 1:
			return o, "", badOrder(fmt.Sprintf("%q is given %d times", name, len(values)), "give it once")
		}
		switch name {
		case "zone":
			o.Zone = values[0]
		case "for":
			o.For = values[0]
		case "reason":
			o.Reason = values[0]
		case "digest":
			o.Digest = values[0]
		case "commit":
			o.Commit = values[0]
		case "back":
			back = ownPage(values[0])
		default:
			return o, "", badOrder(fmt.Sprintf("there is no member %q", name), "open the page again, and try once more")
		}
	}
	return o, back, nil
}

// check reports what is wrong with an order for an action, and cleans its reason.
func (o *Order) check(a action) error {
	o.Reason = strings.TrimSpace(o.Reason)
	given := map[string]bool{
		"zones": len(o.Zones) > 0, "zone": o.Zone != "", "for": o.For != "", "reason": o.Reason != "", "digest": o.Digest != "", "commit": o.Commit != "",
	}
	for name, is := range given {
		takes := slices.Contains(a.takes, name)
		switch {
		case takes && !is:
			return badOrder(name+" is missing", "the action "+a.name+" needs "+strings.Join(a.takes, ", "))
		case is && !takes && !slices.Contains(a.may, name):
			return badOrder("the action "+a.name+" does not take "+name, "it takes "+strings.Join(append(slices.Clone(a.takes), a.may...), ", "))
		}
	}
	switch {
	case len(o.Zones) > mostZones:
		return badOrder(fmt.Sprintf("%d zones are too many", len(o.Zones)), fmt.Sprintf("give at most %d at once", mostZones))
	case utf8.RuneCountInString(o.Reason) > mostReason:
		return badOrder("the reason is too long", fmt.Sprintf("give at most %d characters", mostReason))
	case !utf8.ValidString(o.Reason) || strings.ContainsFunc(o.Reason, unprintable):
		return badOrder("the reason has a character that cannot be printed", "give it as one line of text")
	case o.Commit != "":
		return checkCommit(o.Commit)
	}
	return nil
}

// unprintable reports whether a character is not seen, or changes how others are.
func unprintable(r rune) bool { return r != ' ' && (!unicode.IsPrint(r) || unicode.Is(unicode.Cf, r)) }
