package forgetest

import (
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

//go:embed testdata
var shapes embed.FS

// object is a JSON object that is being filled.
type object map[string]any

// shape is an object of the reference.
func (s *Server) shape(name string) object {
	data, err := shapes.ReadFile("testdata/" + string(s.Kind) + "/" + name + ".json")
	if err != nil {
		panic(err) // embedded
	}
	var o object
	if err := json.Unmarshal(data, &o); err != nil {
		panic(fmt.Sprintf("%s of %s: %v", name, s.Kind, err))
	}
	return o
}

// with sets a member by its path, a.b.c. One that the reference does not have is
// a mistake of the fake.
func (o object) with(path string, value any) object {
	at, rest := map[string]any(o), path
	for {
		key, more, deeper := strings.Cut(rest, ".")
		inner, there := at[key]
		if !there {
			panic("the reference has no " + path)
		}
		if !deeper {
			at[key] = value
			return o
		}
		at, rest = inner.(map[string]any), more
	}
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the client went away
}

// read decodes what was sent.
func read(r *http.Request) (o object) {
	_ = json.NewDecoder(r.Body).Decode(&o) // an empty object is refused by its members
	return o
}

func (o object) text(key string) string {
	text, _ := o[key].(string)
	return text
}

// list answers with one page, and says where the next is as each forge does.
func (s *Server) list(w http.ResponseWriter, r *http.Request, all []object, sizeKey string) {
	query := r.URL.Query()
	number, size := max(1, number(query.Get("page"))), number(query.Get(sizeKey))
	if size == 0 || size > s.perPage {
		size = min(30, s.perPage)
		if query.Has(sizeKey) {
			size = s.perPage
		}
	}
	from := min(len(all), (number-1)*size)
	to := min(len(all), from+size)
	if to < len(all) {
		linkNext(w, s.URL+r.URL.Path, query, number+1)
	}
	w.Header().Set("X-Total-Count", strconv.Itoa(len(all)))
	reply(w, http.StatusOK, append([]object{}, all[from:to]...))
}

// linkNext says where the next page is.
func linkNext(w http.ResponseWriter, address string, query url.Values, number int) {
	query.Set("page", strconv.Itoa(number))
	w.Header().Set("X-Next-Page", strconv.Itoa(number))
	w.Header().Set("Link", fmt.Sprintf(`<%s?%s>; rel="next"`, address, query.Encode()))
}

func number(text string) int {
	n, _ := strconv.Atoi(text) // none is zero
	return n
}
