package source

import (
	"path"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// language is what of a programming language the reader minds: how it writes
// comments and strings.
type language struct {
	comments [][2]string // beginnings and ends; that of a line is no part of one
	fills    string      // how what is filled into double quotes begins: "$name ${name}", "#{name}", "\(name)"
	backs    bool        // back quotes enclose several lines
	inBack   bool        // `${name}` within them
	adjoin   bool        // strings side by side are one
	lines    bool        // strings go over several lines
	bare     bool        // strings need no quotes
	script   bool        // arguments need no brackets: get "/path", key: value
	power    bool        // PowerShell: Verb-Noun -Name value
	long     bool        // [[…]] is a string
	regexp   bool        // /…/ is a pattern
	dots     bool        // a dot joins, and is no member
	words    bool        // names may hold a hyphen
	typed    bool        // (Type) casts, Type<Argument>, methods are declared with the types of their parameters
	make     bool        // recipes of commands, in which make fills in its variables
}

var (
	cLike  = [][2]string{{"/*", "*/"}, {"//", "\n"}}
	hashes = [][2]string{{"#", "\n"}}

	generic    = language{}
	python     = language{comments: hashes, adjoin: true}
	golang     = language{comments: cLike, backs: true}
	javascript = language{comments: cLike, backs: true, inBack: true, regexp: true}
	java       = language{comments: cLike, typed: true}
	rust       = language{comments: cLike}
	cplus      = language{comments: cLike, adjoin: true}
	kotlin     = language{comments: cLike, fills: "$"}
	groovy     = language{comments: cLike, fills: "$", script: true}
	dart       = language{comments: cLike, fills: "$", adjoin: true}
	swift      = language{comments: cLike, fills: `\(`}
	ruby       = language{comments: hashes, fills: "#{", lines: true, adjoin: true, script: true}
	php        = language{comments: append(hashes, cLike...), fills: "$", dots: true}
	perl       = language{comments: hashes, fills: "$", script: true, dots: true}
	powershell = language{comments: [][2]string{{"<#", "#>"}, {"#", "\n"}}, fills: "$", lines: true, power: true, words: true}
	lua        = language{comments: [][2]string{{"--[[", "]]"}, {"--", "\n"}}, long: true, script: true}
	elixir     = language{comments: hashes, fills: "#{", lines: true, script: true}
	lisp       = language{comments: [][2]string{{";", "\n"}}, words: true}
	hashed     = language{comments: hashes, bare: true}
	making     = language{comments: hashes, make: true}
)

var languages = map[string]language{
	".py": python, ".pyi": python, ".pyw": python, ".bzl": python, ".star": python, ".r": python, ".jl": python, ".nim": python,
	".go": golang,
	".js": javascript, ".jsx": javascript, ".mjs": javascript, ".cjs": javascript, ".ts": javascript, ".tsx": javascript, ".mts": javascript,
	".cts": javascript, ".vue": javascript, ".svelte": javascript, ".astro": javascript,
	".java": java, ".cs": java, ".rs": rust, ".zig": rust, ".fs": rust, ".vb": rust, ".cpp": cplus, ".cc": cplus, ".cxx": cplus, ".c": cplus, ".h": cplus, ".hpp": cplus, ".m": cplus, ".mm": cplus,
	".kt": kotlin, ".kts": kotlin, ".scala": kotlin, ".gradle": groovy, ".groovy": groovy, ".dart": dart, ".swift": swift,
	".rb": ruby, ".rake": ruby, ".gemspec": ruby, ".ru": ruby, ".cr": ruby, ".coffee": ruby, ".php": php, ".pl": perl, ".pm": perl,
	".ps1": powershell, ".psm1": powershell, ".psd1": powershell,
	".lua": lua, ".hs": lua, ".elm": lua, ".sql": lua, ".ex": elixir, ".exs": elixir, ".erl": elixir, ".clj": lisp, ".cljs": lisp, ".el": lisp, ".lisp": lisp, ".scm": lisp,
	".env": hashed, ".properties": hashed, ".ini": hashed, ".conf": hashed, ".cfg": hashed, ".toml": hashed, ".mk": making, ".mak": making, ".cue": golang, ".hcl": hashed,
}

var names = map[string]language{
	"makefile": making, "gnumakefile": making, "dockerfile": hashed, "containerfile": hashed, "justfile": hashed, ".env": hashed, "procfile": hashed,
	"jenkinsfile": groovy, "rakefile": ruby, "gemfile": ruby, "vagrantfile": ruby, "brewfile": ruby,
}

// others are extensions of texts that are no programs and whose strings may be
// addresses all the same.
var others = call.Words(".md .markdown .rst .adoc .html .htm .xml .css .json .json5 .jsonc .graphql .proto .tpl .tmpl .j2 .erb .ejs .sum .mod .lock .bru")

// languageOf tells a language by the name of a file, and by its first line.
func languageOf(name, text string) language {
	l, ok := named(name)
	if !ok {
		l, _ = interpreted(text)
	}
	return l
}

// named is the language that the name of a file tells.
func named(file string) (language, bool) {
	base := strings.ToLower(path.Base(file))
	if l, ok := languages[path.Ext(base)]; ok {
		return l, true
	}
	if l, ok := names[base]; ok {
		return l, true
	}
	return making, strings.HasPrefix(base, "makefile.") // Makefile.dev
}

// interpreters are the programs that a first line #! may name.
var interpreters = map[string]language{"python": python, "node": javascript, "deno": javascript, "bun": javascript, "ruby": ruby, "perl": perl, "php": php, "pwsh": powershell, "lua": lua}

func interpreted(text string) (language, bool) {
	first, _, _ := strings.Cut(text, "\n")
	for name, l := range interpreters {
		if strings.HasPrefix(first, "#!") && strings.Contains(first, name) {
			return l, true
		}
	}
	return generic, false
}

// Known reports whether the name or the beginning of a file says that it is
// source code, or another text whose strings can be searched.
func Known(name, text string) bool {
	_, byName := named(name)
	_, byText := interpreted(text)
	return byName || byText || others[strings.ToLower(path.Ext(name))]
}
