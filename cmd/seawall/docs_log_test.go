package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/must"
)

// logMessage is what the program may write to its log.
type logMessage struct {
	text   string
	levels map[string]bool
	attrs  []string // in the order in which they are first named
}

const logPage = "../../docs/log-messages.md"

// logDoc is the table of the messages above debug, from the code. What each means stands in
// the page itself and is kept; a message without a meaning fails.
func logDoc(t *testing.T) string {
	page, err := os.ReadFile(logPage)
	must.Do(t, err)
	meanings := map[string]string{}
	logRow := regexp.MustCompile(`(?m)^\| ([^|]+) \| (?:debug|info|warn|error)[^|]* \|[^|]*\| (.*) \|$`)
	for _, row := range logRow.FindAllSubmatch(page, -1) {
		meanings[string(row[1])] = string(row[2])
	}
	var b strings.Builder
	b.WriteString("| message | level | attributes | meaning |\n|---|---|---|---|\n")
	for _, m := range logMessages(t) {
		if len(m.levels) == 1 && m.levels["debug"] {
			continue
		}
		meaning := meanings[m.text]
		if meaning == "" {
			t.Errorf("docs/log-messages.md: say what the message %q means, in the last column of its row; -update writes the row", m.text)
		}
		var levels []string
		for _, level := range []string{"debug", "info", "warn", "error"} {
			if m.levels[level] {
				levels = append(levels, level)
			}
		}
		attrs := ""
		if len(m.attrs) >= len(changeAttrs) && slices.Equal(m.attrs[:len(changeAttrs)], changeAttrs) {
			attrs, m.attrs = "[of a change](logging.md#writes) ", m.attrs[len(changeAttrs):]
		}
		for _, a := range m.attrs {
			attrs += "`" + a + "` "
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", m.text, strings.Join(levels, ", "), strings.TrimSpace(attrs), meaning)
	}
	return b.String()
}

// logMessages finds each call of a logger in the code of the daemon.
func logMessages(t *testing.T) []logMessage {
	found := map[string]*logMessage{}
	for _, root := range []string{"../../reconcile", "../../edge/client", "../../desired", "../../cmd/seawall"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "test/") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, decl := range file.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
					logCalls(t, files, f, found)
				}
			}
			return nil
		})
		must.Do(t, err)
	}
	var list []logMessage
	for _, m := range found {
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b logMessage) int { return cmp.Compare(strings.ToLower(a.text), strings.ToLower(b.text)) })
	return list
}

// logMethods are those of a logger: the level, and which argument is the message.
var logMethods = map[string]struct {
	level string
	at    int
}{
	"Debug": {"debug", 0}, "Info": {"info", 0}, "Warn": {"warn", 0}, "Error": {"error", 0},
	"DebugContext": {"debug", 1}, "InfoContext": {"info", 1}, "WarnContext": {"warn", 1}, "ErrorContext": {"error", 1},
	"Log": {"", 2},
}

// logCalls adds the messages of one function. A message must be a literal: what is not
// cannot be looked for.
func logCalls(t *testing.T, files *token.FileSet, f *ast.FuncDecl, found map[string]*logMessage) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		method, at, ok := logMethod(call)
		if !ok {
			return true
		}
		text, ok := literal(call.Args[at])
		if !ok {
			t.Errorf("%s: the message of a line in the log must be a literal", files.Position(call.Pos()))
			return true
		}
		m := found[text]
		if m == nil {
			m = &logMessage{text: text, levels: map[string]bool{}}
			found[text] = m
		}
		levels := []string{method}
		if method == "" {
			levels = levelsIn(f.Body)
		}
		for _, level := range levels {
			m.levels[level] = true
		}
		for i, arg := range call.Args[at+1:] {
			for _, attr := range attrsOf(arg, f, i%2 == 0) {
				if !slices.Contains(m.attrs, attr) {
					m.attrs = append(m.attrs, attr)
				}
			}
		}
		return true
	})
}

// logMethod recognizes a call of a logger by the name of what it is called on.
func logMethod(call *ast.CallExpr) (level string, at int, ok bool) {
	selector, isSelector := call.Fun.(*ast.SelectorExpr)
	if !isSelector {
		return "", 0, false
	}
	method, known := logMethods[selector.Sel.Name]
	if !known || len(call.Args) <= method.at {
		return "", 0, false
	}
	on := selector.X
	if made, isCall := on.(*ast.CallExpr); isCall { // r.log()
		on = made.Fun
	}
	name := ""
	switch x := on.(type) {
	case *ast.Ident:
		name = x.Name
	case *ast.SelectorExpr:
		name = x.Sel.Name
	}
	return method.level, method.at, strings.EqualFold(name, "log")
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// levelsIn are the levels that a function names.
func levelsIn(body ast.Node) (levels []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "Level") {
			levels = append(levels, strings.ToLower(strings.TrimPrefix(s.Sel.Name, "Level")))
		}
		return true
	})
	return levels
}

// attrsOf are the names of attributes in an argument: a name itself, a list or what is
// appended to one, and the lists of what it calls or was assigned from.
func attrsOf(arg ast.Expr, f *ast.FuncDecl, isName bool) (names []string) {
	if text, ok := literal(arg); ok {
		if isName {
			names = append(names, text)
		}
		return names
	}
	switch arg := arg.(type) {
	case *ast.CallExpr:
		if fun, ok := arg.Fun.(*ast.Ident); ok && fun.Name == "append" {
			names = attrsOf(arg.Args[0], f, false)
			for i, a := range arg.Args[1:] {
				names = append(names, attrsOf(a, f, i%2 == 0)...)
			}
		}
		if fun, ok := arg.Fun.(*ast.SelectorExpr); ok && fun.Sel.Name == "change" { // Logger.change
			names = changeAttrs
		}
	case *ast.CompositeLit:
		for i, element := range arg.Elts {
			names = append(names, attrsOf(element, f, i%2 == 0)...)
		}
	case *ast.Ident:
		names = assigned(arg.Name, f)
	}
	return names
}

// assigned are the attributes in all that a variable was assigned from.
func assigned(name string, f *ast.FuncDecl) (names []string) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
			return true
		}
		if to, ok := assign.Lhs[0].(*ast.Ident); !ok || to.Name != name {
			return true
		}
		call, ok := assign.Rhs[0].(*ast.CallExpr)
		if ok && len(call.Args) > 0 { // append(attrs, …), not attrs itself once more
			if first, isIdent := call.Args[0].(*ast.Ident); isIdent && first.Name == name {
				for i, a := range call.Args[1:] {
					names = append(names, attrsOf(a, f, i%2 == 0)...)
				}
				return true
			}
		}
		names = append(names, attrsOf(assign.Rhs[0], f, false)...)
		return true
	})
	return names
}

// changeAttrs are those of every line about a change; TestLoggerNamesEveryWrite of package
// reconcile holds the code to them.
var changeAttrs = []string{
	"zone", "account", "deployment", "token", "action", "commit", "trigger", "direction", "changes", "origin", "requests", "proof", "outcome", "error",
}
