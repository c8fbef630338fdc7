package schema

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"

	"github.com/seawall-dev/seawall/cue/schema/explain"
	"github.com/seawall-dev/seawall/desired"
)

// configReader reads a value that fits #Config.
type configReader struct {
	name     string
	plain    cue.Value
	syntax   []*ast.File
	problems []desired.Problem
}

// read fills a configuration, and works out what no single field says.
func (c *configReader) read(v, plain cue.Value) (config Config) {
	c.plain = plain
	c.fill(reflect.ValueOf(&config).Elem(), v)
	if at(v, "source").Exists() {
		config.Source.Ref = followed(v)
	}
	config.Platform = platform(v, plain)
	config.Tokens.NameSuffix = nameSuffix(v, plain)
	config.Health.Status = servesStatus(v, config.Web)
	config.Web.Pages = servesPages(v, config.Web)
	config.History.Bytes = int64(number(v, "history.max_mib")) << 20
	config.Guards = c.guards(v)
	config.Credentials.Accounts = c.accounts(v, config)
	c.check(&config, v)
	return config
}

// ownReader is what a value of CUE fills in a way of its own.
type ownReader interface {
	read(c *configReader, v cue.Value)
}

// fill reads a value that fits the schema. A member of a struct has its place in the tag cue:
// one that is not there stays as it is, and so does one without a tag. A duration, and a
// share in percent, are texts in CUE. The tag is says that a duration must be positive: CUE
// does not compare durations.
func (c *configReader) fill(to reflect.Value, v cue.Value) {
	if own, ok := to.Addr().Interface().(ownReader); ok {
		own.read(c, v)
		return
	}
	switch to.Kind() {
	case reflect.Struct:
		c.fillMembers(to, v)
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		c.fill(to.Elem(), v)
	case reflect.Map:
		fields, err := v.Fields()
		for err == nil && fields.Next() {
			if to.IsNil() {
				to.Set(reflect.MakeMap(to.Type()))
			}
			element := reflect.New(to.Type().Elem()).Elem()
			c.fill(element, fields.Value())
			to.SetMapIndex(reflect.ValueOf(fields.Selector().Unquoted()), element)
		}
	case reflect.Slice:
		elements, err := v.List()
		for err == nil && elements.Next() {
			element := reflect.New(to.Type().Elem()).Elem()
			c.fill(element, elements.Value())
			to.Set(reflect.Append(to, element))
		}
	case reflect.Bool:
		b, _ := v.Bool() // validated: concrete and boolean
		to.SetBool(b)
	case reflect.Float64:
		f, _ := v.Float64() // validated: a number
		to.SetFloat(f)
	case reflect.String:
		s, _ := v.String() // validated: text
		to.SetString(s)
	default:
		to.SetInt(whole(to.Type(), v))
	}
}

func (c *configReader) fillMembers(to reflect.Value, v cue.Value) {
	var places []string
	set := 0
	for i := range to.NumField() {
		field := to.Type().Field(i)
		place, tagged := field.Tag.Lookup("cue")
		if !tagged {
			continue
		}
		places = append(places, place)
		member := at(v, place)
		if !member.Exists() {
			continue
		}
		set++
		c.fill(to.Field(i), member)
		if field.Tag.Get("is") == "positive" && to.Field(i).Int() <= 0 {
			said, _ := member.String() // validated: text
			c.problem(member.Path().String(), fmt.Sprintf("%q is not a duration above zero", said), "")
		}
	}
	if slices.Contains(exclusive, to.Type()) {
		c.exactlyOne(v.Path().String(), set, places)
	}
}

// whole is a whole number, or what a text stands for, of which the schema holds the form.
func whole(as reflect.Type, v cue.Value) int64 {
	text, err := v.String()
	switch {
	case err != nil:
		n, _ := v.Int64() // validated: a whole number
		return n
	case as == reflect.TypeFor[time.Duration]():
		d, _ := time.ParseDuration(text)
		return int64(d)
	}
	n, _ := strconv.ParseInt(strings.TrimSuffix(text, "%"), 10, 64)
	return n
}

// read takes a plain path for that of a file.
func (r *SecretRef) read(c *configReader, v cue.Value) {
	*r = SecretRef{}
	if path, err := v.String(); err == nil {
		r.File = path
		return
	}
	c.fillMembers(reflect.ValueOf(r).Elem(), v)
}

// suffixToFind is the suffix by which a platform that lists its tokens is searched.
const suffixToFind = " [{intent}]"

func nameSuffix(v, plain cue.Value) string {
	if !at(plain, "tokens.name_suffix").Exists() && platform(v, plain).Extended() {
		return suffixToFind
	}
	return text(v, "tokens.name_suffix")
}

// followed is the full name of the ref to follow.
func followed(v cue.Value) string {
	return cmp.Or(text(v, "source.ref"), "refs/heads/"+cmp.Or(text(v, "source.branch"), "main"))
}

// servesStatus: what stands in front of no login is for this machine alone. With a login a
// loopback address has a proxy in front of it, as a rule, through which anyone comes.
func servesStatus(v cue.Value, w Web) bool {
	if said := at(v, "health.status"); said.Exists() {
		serves, _ := said.Bool() // validated: concrete and boolean
		return serves
	}
	return w.Login == nil && loopback("http://"+text(v, "listen"))
}

// servesPages: pages are for this machine, or for people who log in.
func servesPages(v cue.Value, w Web) bool {
	if said := at(v, "web.pages"); said.Exists() {
		serves, _ := said.Bool() // validated: concrete and boolean
		return serves
	}
	return w.Login != nil || loopback("http://"+text(v, "listen"))
}

func at(v cue.Value, path string) cue.Value { return v.LookupPath(cue.ParsePath(path)) }

func text(v cue.Value, path string) string {
	s, _ := at(v, path).String() // validated: text where it exists
	return s
}

func number(v cue.Value, path string) int {
	n, _ := at(v, path).Int64() // validated: a whole number
	return int(n)
}

func (c *configReader) problem(path, message, hint string) {
	c.problems = append(c.problems, desired.Problem{
		Origin:  explain.Origin(at(c.plain, path)),
		Path:    path,
		Message: message,
		Hint:    hint,
	})
}
