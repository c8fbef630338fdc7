package ledger

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// statementForm is the beginning of a statement.
var statementForm = regexp.MustCompile(`^(SELECT|INSERT|UPDATE|DELETE|WITH) `)

// TestTextsInPostgreSQL has PostgreSQL plan each statement of the ledger that stands in the source as a
// whole: one text is for both databases. What is put together is run by the tests of the ledger.
func TestTextsInPostgreSQL(t *testing.T) {
	db, err := postgres.Open(postgres.Config{URL: begun(t)})
	must(t, err)
	defer db.Close()
	found := 0
	for _, folder := range []string{".", "history", "internal/zones", "internal/decisions", "internal/tokens", "internal/outbox"} {
		for _, text := range textsIn(t, folder) {
			text = strings.TrimSpace(strings.ReplaceAll(text, "%s", "NULL"))
			if !statementForm.MatchString(text) || strings.HasSuffix(text, "WHERE") { // which goes on elsewhere
				continue
			}
			found++
			tx, err := db.BeginTx(t.Context(), nil)
			must(t, err)
			if _, err := tx.ExecContext(t.Context(), "PREPARE one AS "+text); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
			must(t, tx.Rollback())
			_, err = db.ExecContext(t.Context(), "DEALLOCATE ALL")
			must(t, err)
		}
	}
	if found < 80 {
		t.Errorf("statements in the source: %d", found)
	}
}

// textsIn are the texts in the source of a package, put together as far as they are constant.
func textsIn(t *testing.T, folder string) (texts []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	must(t, err)
	constants, files := map[string]ast.Expr{}, []*ast.File(nil)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		must(t, err)
		files = append(files, file)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == len(spec.Names) {
				for i, name := range spec.Names {
					constants[name.Name] = spec.Values[i]
				}
			}
			return true
		})
	}
	var textOf func(ast.Expr) (string, bool)
	textOf = func(e ast.Expr) (string, bool) {
		switch e := e.(type) {
		case *ast.BasicLit:
			text, err := strconv.Unquote(e.Value)
			return text, err == nil && e.Kind == token.STRING
		case *ast.Ident:
			return textOf(constants[e.Name])
		case *ast.BinaryExpr:
			left, ok := textOf(e.X)
			right, also := textOf(e.Y)
			return left + right, ok && also && e.Op == token.ADD
		}
		return "", false
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if _, name := n.(*ast.Ident); !ok || name {
				return true
			}
			text, ok := textOf(e)
			if ok {
				texts = append(texts, text)
			}
			_, sum := e.(*ast.BinaryExpr)
			return !ok && !sum // not the parts of a sum
		})
	}
	return texts
}

// TestPlansInSQLite holds statements to the indexes that were made for them: without these they read a
// whole table. No statement names one, which PostgreSQL would not take.
func TestPlansInSQLite(t *testing.T) {
	l := mustOpen(t, newPath(t))
	for index, part := range map[string]string{
		"history_gap":       `IN ('gap', 'accept-gap') ORDER BY number`,
		"history_accepted":  `'$.kind') = 'commit' AND number <`,
		"history_written":   `sum(writes)`,
		"history_skip_rule": `'$.subject.kind') = 'exception' ORDER BY number`,
		"approval_counts":   `UPDATE approval SET `,
	} {
		found := 0
		for _, text := range slices.Concat(textsIn(t, "history"), textsIn(t, "internal/decisions")) {
			if !strings.Contains(text, part) {
				continue
			}
			found++
			args := make([]any, strings.Count(text, "$")-strings.Count(text, "'$."))
			rows, err := l.file.DB.Query("EXPLAIN QUERY PLAN "+text, args...)
			must(t, err)
			var plan strings.Builder
			for rows.Next() {
				var id, parent, unused int
				var step string
				must(t, rows.Scan(&id, &parent, &unused, &step))
				plan.WriteString(step + "\n")
			}
			must(t, rows.Err())
			if !strings.Contains(plan.String(), "USING INDEX "+index) || strings.Contains(plan.String(), "B-TREE") {
				t.Errorf("%s: %s", text, &plan)
			}
		}
		if found == 0 {
			t.Errorf("no statement for %s", index)
		}
	}
}
