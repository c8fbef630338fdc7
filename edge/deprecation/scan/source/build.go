package source

import (
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// The functions and methods that addresses, queries and bodies are made with, in
// whatever language, by their plain names. A name that means something else in
// some library costs a wrong text, and mostly nothing.
var (
	joins    = call.Words("join joinpath urljoin combine resolve joinurl appendpathcomponent joinpaths")
	formats  = call.Words("sprintf format printf formatted strfmt stringformat fmtsprintf")
	encoders = call.Words("urlencode urlsearchparams encodewwwform httpbuildquery toquery encode encodequery querystring tosearchparams stringifyquery buildquery")
	// jsons hand a body on that they encode, wrap or read.
	jsons = call.Words(`dumps marshal marshalindent tojson convertto-json converttojson jsonencode generate stringify serialize encodejson toqueryable
		newreader newbuffer newbufferstring newbufferbytes ofstring ofbytearray stringcontent jsoncontent torequestbody createrequestbody bytesio stringio
		bytes bytearray bytestring data jsonobject frommap of json value from ordereddict dict object valueof jsonbody parse loads unmarshal create writevalueasstring writevalueasbytes`)
	// same are methods that return the value they belong to.
	same = call.Words(`strip rstrip lstrip trim trimstart trimend trimsuffix trimprefix tos tostring encode decode href build tourl touri string freeze clone
		unwrap expect asstr asbytes into toowned newbuilder tohttpurl tohttpurlornull getbytes chomp squish dup copy query0 removesuffix removeprefix then data using replace`)
	// wraps are functions that return their first argument as an address or a text.
	wraps = call.Words(`url uri newurl newuri str string bytes byte parse parseurl parseuri create fromhttpurl fromuristring fromurl fromstring uricomponentsbuilder
		httpurl strptr ref unquote urlparse urlsplit nsurl makeurl raw htmlsafe cstr tostring text path template pathtemplate byteslit uribuilder stringbuilder stringbuffer`)
	// adds are methods that add to the query of an address.
	adds = call.Words("set put append add addqueryparam addqueryparameter queryparam setparameter addparameter withqueryparam setqueryparam appendquery addencodedqueryparameter setqueryparameter param updatequery extendquery addquery appendqueryparameter")
	// paths are methods that add to the path of an address.
	paths = call.Words("path pathsegment addpathsegment addpathsegments addencodedpathsegments addencodedpathsegment appendpath appendencodedpath setpath pathsegments appendingpathcomponent appending appendpathsegment")
)

// builder makes a value of what a function is given, or of the value that a method belongs
// to; nil where it makes none.
type builder func(name string, recv *value, args []argument) *value

// builders are tried in turn: those that the name of a function means.
var builders = []struct {
	names map[string]bool
	of    builder
}{{joins, joinedBy}, {formats, formattedBy}, {encoders, encoded}, {adds, added}, {paths, appended}, {same, itself}, {call.Words("httpentity"), entity}}

// built is what a function or a method makes of texts and objects; nil where it is none of
// those.
func built(path string, recv *value, args []argument) *value {
	name := plainName(path)
	if empty, ok := empties[name]; ok && len(args) == 0 && recv.is == open {
		empty.line = recv.line
		return &empty
	}
	for _, b := range builders {
		if b.names[name] {
			if v := b.of(name, recv, args); v != nil {
				return v
			}
		}
	}
	if recv.is != open && len(args) == 0 {
		return recv
	}
	return nil
}

// empties are what is made empty, and filled by its methods. The text of an object is the
// part of a request that it is for.
var empties = map[string]value{
	"stringbuilder": {is: text}, "stringbuffer": {is: text}, "query": {is: object}, "values": {is: object},
	"httpheaders": {is: object, text: "headers"}, "headers": {is: object, text: "headers"}, "jsonobject": {is: object}, "objectnode": {is: object},
	"hashmap": {is: object}, "linkedhashmap": {is: object}, "linkedmultivaluemap": {is: object},
}

// itself is the value that a method belongs to.
func itself(_ string, recv *value, _ []argument) *value {
	if recv.is == open {
		return nil
	}
	return recv
}

// entity is a message of Spring's RestTemplate: headers, and a body.
func entity(_ string, recv *value, args []argument) *value {
	made := &value{is: object, line: recv.line}
	for _, a := range args {
		if a.is == object && a.text == "headers" {
			made.set("headers", a.value)
		} else {
			made.set("body", a.value)
		}
	}
	return made
}

func argAt(args []argument, i int) *value {
	if i < len(args) {
		return args[i].value
	}
	return nil
}

func values(args []argument) []*value {
	var out []*value
	for _, a := range args {
		out = append(out, a.value)
	}
	return out
}

// joinedBy is "/".join([a, b]), [a, b].join("/"), strings.Join(list, "/"), implode("/", list)
// and path.join(a, b): where there is a list, what is a text beside it stands between.
func joinedBy(_ string, recv *value, args []argument) *value {
	all := values(args)
	if recv.is != open {
		all = append([]*value{recv}, all...)
	}
	separator := ""
	if i := slices.IndexFunc(all, func(v *value) bool { return v.is == text }); i >= 0 {
		separator = all[i].text
	}
	if i := slices.IndexFunc(all, func(v *value) bool { return v.is == list }); i >= 0 {
		return joined(all[i].items, separator)
	}
	if len(args) == 0 {
		return nil
	}
	return joined(all, "/")
}

// joined puts texts together; of a slash between them there is one.
func joined(items []*value, separator string) *value {
	out := &value{is: text}
	for i, item := range items {
		if i == 0 {
			out.line = item.line
		}
		piece := item.piece()
		if separator == "/" && i > 0 {
			out.text = strings.TrimSuffix(out.text, "/")
			piece = strings.TrimPrefix(piece, "/")
		}
		if i > 0 {
			out.text += separator
		}
		out.text += piece
		out.add(item.tokens)
		if len(out.text) > longestText {
			break
		}
	}
	return out
}

// formattedBy is "…".format(a), or format("…", a).
func formattedBy(_ string, recv *value, args []argument) *value {
	first := argAt(args, 0)
	switch {
	case recv.is == text:
		return formatted(recv, args)
	case first != nil && first.is == text:
		return formatted(first, args[1:])
	}
	return nil
}

// formatted fills a format: %s, {}, {0}, {name}. What has no argument is open.
func formatted(format *value, args []argument) *value {
	out := &value{is: text, line: format.line, tokens: slices.Clip(format.tokens)}
	var b strings.Builder
	next := 0
	for i := 0; i < len(format.text) && b.Len() < longestText; {
		n := 0
		if c := format.text[i]; c == '%' || c == '{' {
			n = call.Placeholder(format.text[i:])
		}
		if n == 0 || strings.ContainsAny(format.text[i:i+n], "\"\n") {
			b.WriteByte(format.text[i])
			i++
			continue
		}
		v, positional := argumentFor(strings.Trim(format.text[i:i+n], "{}%()sdv[]+"), args, next)
		if positional {
			next++
		}
		if v != nil {
			b.WriteString(v.piece())
			out.add(v.tokens)
		} else {
			b.WriteString(hole)
		}
		i += n
	}
	out.text = b.String()
	return out
}

// argumentFor finds what fills a placeholder, by its name, its number, or in turn.
func argumentFor(name string, args []argument, next int) (v *value, positional bool) {
	for _, a := range args {
		if a.name != "" && a.name == name {
			return a.value, false
		}
	}
	if name != "" && len(args) == 1 && args[0].is == object {
		return args[0].get(plainName(name)), false
	}
	if next < len(args) {
		return args[next].value, true
	}
	return nil, true
}

// encoded is an object as the text of a query.
func encoded(_ string, recv *value, args []argument) *value {
	of := recv
	if len(args) > 0 && recv.is == open {
		if of = args[0].value; args[0].name != "" {
			of = objectOf(args)
		}
	}
	switch of.is {
	case text:
		return of
	case object, list:
		out := &value{is: text, text: of.form(), line: of.line}
		for _, item := range of.items {
			out.add(item.tokens)
		}
		return out
	}
	return nil
}

// objectOf is an object of arguments that have names.
func objectOf(args []argument) *value {
	made := &value{is: object}
	for _, a := range args {
		if a.name != "" {
			made.line = a.line
			made.set(a.name, a.value)
		}
	}
	return made
}

// appended adds to the path of an address.
func appended(_ string, recv *value, args []argument) *value {
	if recv.is != text || len(args) == 0 {
		return nil
	}
	out := joined(append([]*value{recv}, values(args)...), "/")
	out.query = slices.Clip(recv.query)
	return out
}

// added adds to the query of an address, or to an object, in place.
func added(name string, recv *value, args []argument) *value {
	key, v := argAt(args, 0), argAt(args, 1)
	switch {
	case recv.is != text && recv.is != object:
		return nil
	case key == nil:
	case v == nil && recv.is == text && name == "append": // new StringBuilder("/zones/").append(id)
		*recv = *concat(recv, key)
	case v == nil && recv.is == text && key.is == object:
		recv.query = append(recv.query, key.form())
	case v == nil || key.is != text:
	case recv.is == object:
		recv.set(key.text, v)
	default:
		recv.query = append(recv.query, key.text+"="+escaped(v))
	}
	return recv
}

// passed is what a function hands on that is none of those: a body that it encodes
// or reads, an address that it parses.
func passed(path string, recv *value, args []argument) *value {
	name := plainName(path)
	stream, address := hasAnySuffix(name, "writer", "stream"), wraps[name] || jsons[name] || hasAnySuffix(name, "url", "uri")
	for _, a := range args {
		switch {
		case a.req != nil && stream, // of a connection
			a.is == object && len(a.keys) > 0 && a.req == nil, a.is == list && jsons[name]:
			return a.value
		case a.is == text && address:
			return relative(a.value, args)
		case a.is == text && a.json() != nil:
			return a.value
		}
	}
	if recv.is == object && jsons[name] {
		return recv
	}
	return nil
}

func hasAnySuffix(name string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

// relative is new URL(path, base).
func relative(path *value, args []argument) *value {
	if base := argAt(args, 1); base != nil && base.is == text && strings.Contains(base.text, "://") && !strings.Contains(path.text, "://") {
		return joined([]*value{base, path}, "/")
	}
	out := *path // its own query
	out.query = slices.Clip(path.query)
	return &out
}
