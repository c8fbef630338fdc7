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
		unwrap expect asstr asbytes into toowned newbuilder tohttpurl tohttpurlornull getbytes chomp squish dup copy query0 removesuffix removeprefix then data using`)
	// wraps are functions that return their first argument as an address or a text.
	wraps = call.Words(`url uri newurl newuri str string bytes byte parse parseurl parseuri create fromhttpurl fromuristring fromurl fromstring uricomponentsbuilder
		httpurl strptr ref unquote urlparse urlsplit nsurl makeurl raw htmlsafe cstr tostring text path template pathtemplate byteslit uribuilder stringbuilder stringbuffer`)
	// adds are methods that add to the query of an address.
	adds = call.Words("set put append add addqueryparam addqueryparameter queryparam setparameter addparameter withqueryparam setqueryparam appendquery addencodedqueryparameter setqueryparameter param updatequery extendquery addquery appendqueryparameter")
	// paths are methods that add to the path of an address.
	paths = call.Words("path pathsegment addpathsegment addpathsegments addencodedpathsegments addencodedpathsegment appendpath appendencodedpath setpath pathsegments appendingpathcomponent appending appendpathsegment")
)

// built is what a function or a method makes of texts and objects; nil where it is
// none of those.
func built(path string, recv *value, args []argument) *value {
	name := plainName(path)
	first := argAt(args, 0)
	switch {
	case joins[name]:
		return joinedBy(recv, args)
	case formats[name] && recv.is == text:
		return formatted(recv, args)
	case formats[name] && first != nil && first.is == text:
		return formatted(first, args[1:])
	case encoders[name] || name == "stringify" && strings.Contains(strings.ToLower(path), "q"):
		return encoded(recv, first, args)
	}
	return addedTo(name, recv, args)
}

// addedTo is what a method makes that adds to the address or the object it belongs
// to.
func addedTo(name string, recv *value, args []argument) *value {
	switch {
	case adds[name] && (recv.is == text || recv.is == object):
		return added(recv, name, args)
	case recv.is == text && paths[name] && argAt(args, 0) != nil:
		return appended(recv, args)
	}
	return handedOn(name, recv, args)
}

// handedOn is what a method makes of the value it belongs to.
func handedOn(name string, recv *value, args []argument) *value {
	switch {
	case recv.is == text && name == "replace":
		return recv
	case recv.is == text && name == "concat":
		return joined(append([]*value{recv}, values(args)...), "")
	case recv.is != open && (same[name] || len(args) == 0):
		return recv
	case len(args) == 0 && (name == "stringbuilder" || name == "stringbuffer"):
		return &value{is: text, line: recv.line}
	case len(args) == 0 && (name == "query" || name == "values"):
		return &value{is: object, line: recv.line}
	}
	return nil
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
func joinedBy(recv *value, args []argument) *value {
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
	if len(name) == 1 && name[0] >= '0' && name[0] <= '9' {
		next = int(name[0] - '0')
	} else if name != "" && len(args) == 1 && args[0].is == object {
		return args[0].get(plainName(name)), false
	}
	if next < len(args) {
		return args[next].value, true
	}
	return nil, true
}

// encoded is an object as the text of a query.
func encoded(recv, first *value, args []argument) *value {
	of := recv
	if len(args) > 0 && args[0].name != "" {
		first = &value{is: object, line: first.line}
		for _, a := range args {
			first.set(a.name, a.value)
		}
	}
	if first != nil && first.is != open && first.is != word && recv.is == open {
		of = first
	}
	if of.is == open || of.is == word {
		return nil
	}
	if of.is == text {
		return of
	}
	out := &value{is: text, text: of.form(), line: of.line}
	for _, item := range of.items {
		out.add(item.tokens)
	}
	return out
}

// appended adds to the path of an address.
func appended(recv *value, args []argument) *value {
	out := joined(append([]*value{recv}, values(args)...), "/")
	out.query = slices.Clip(recv.query)
	return out
}

// added adds to the query of an address, or to an object, in place.
func added(recv *value, name string, args []argument) *value {
	key, v := argAt(args, 0), argAt(args, 1)
	if key == nil {
		return recv
	}
	if name == "append" && v == nil && recv.is == text { // new StringBuilder("/zones/").append(id)
		*recv = *concat(recv, key)
		return recv
	}
	if v == nil {
		if key.is == object && recv.is == text {
			recv.query = append(recv.query, key.form())
		}
		return recv
	}
	if key.is != text {
		return recv
	}
	if recv.is == object {
		recv.set(key.text, v)
		return recv
	}
	recv.query = append(recv.query, key.text+"="+escaped(v))
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
