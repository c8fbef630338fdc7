package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// good is a row that meets every aim.
func good() row {
	s := scenario{name: "name", fault: "the fault"}.complete(false)
	o := observation{drift: of(0, 1, 2, 3), pushes: of(0, 1)}
	return row{scenario: s, undisturbed: o, disturbed: o, recovered: true, recoveredIn: time.Second}
}

func TestVerdict(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(*row)
		bold  []int // the cells that say so; nil: the row is good
	}{
		{"good", func(*row) {}, nil},
		{"drift heals late", func(r *row) { r.disturbed.drift = of(0, 3, 6, 9) }, []int{1}},
		{"the median alone is late", func(r *row) { r.undisturbed.drift, r.disturbed.drift = of(0, 1, 1, 30), of(0, 30, 30, 30) }, []int{1}},
		{"drift is not healed", func(r *row) { r.disturbed.drift.miss(time.Minute) }, []int{1}},
		{"drift is not looked at", func(r *row) { r.drift.none, r.disturbed.drift = true, sample{} }, nil},
		{"a push is late", func(r *row) { r.disturbed.pushes = of(0, 5) }, []int{2}},
		{"a push is late because of git", func(r *row) { r.pushes, r.disturbed.pushes = pushesShow, of(1) }, nil},
		{"a write too many", func(r *row) { r.writes = 1 }, []int{3}},
		{"a write that may be", func(r *row) { r.writes, r.allowed = 4, 4 }, nil},
		{"it does not recover", func(r *row) { r.recovered = false }, []int{4}},
		{"its recovery is not waited for", func(r *row) { r.recovered, r.notWaited, r.slow = false, true, "later" }, nil},
		{"it ended", func(r *row) { r.restarted = true }, []int{4}},
		{"a cause has three lines", func(r *row) { r.lines = make([]logLine, mostPerCause+1) }, []int{5}},
		{"an outage does not end", func(r *row) { r.unended = true }, []int{5}},
		{"not measured", func(r *row) { r.err = errors.New("no | way") }, []int{1}},
	} {
		r := good()
		test.spoil(&r)
		var bold []int
		for i, cell := range r.cells() {
			if strings.HasPrefix(cell, "**") {
				bold = append(bold, i)
			}
		}
		if !slices.Equal(bold, test.bold) || r.met() != (test.bold == nil) || len(r.cells()) != len(header) {
			t.Errorf("%s: met is %t, cells %q", test.name, r.met(), r.cells())
		}
	}
}

func TestTable(t *testing.T) {
	bad := good()
	bad.name, bad.writes = "bad", 1
	rows := []row{good(), bad}
	const want = "| the fault | ×1.0 | ×1.0 | 0 | after 1.0 s | 0 |\n"
	if got := table(rows); !strings.Contains(got, want) || strings.Count(got, "\n") != 4 {
		t.Errorf("the table is\n%s", got)
	}
	quirk := good()
	quirk.name, quirk.fault = "quirk-x", "the quirk"
	if got := table(append(rows, quirk)); strings.Contains(got, "the quirk") || !strings.Contains(got, "\n1 more rows, ") {
		t.Errorf("with a quirk that misses nothing the table is\n%s", got)
	}
	quirk.writes = 1
	if got := table(append(rows, quirk)); !strings.Contains(got, "| the quirk |") {
		t.Errorf("with a quirk that misses an aim the table is\n%s", got)
	}
	if got := missed(rows); !slices.Equal(got, []string{"bad"}) {
		t.Errorf("missed are %v", got)
	}
}

func TestRewrite(t *testing.T) {
	const page = "before\n<!-- faults: written by integration/faults -->\nold\n<!-- end of faults -->\nafter\n"
	got, err := rewrite(page, markFaults, func(string) string { return "new\n" })
	if want := strings.Replace(page, "old", "new", 1); err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := rewrite(page, markSoak, func(string) string { return "new\n" }); err == nil {
		t.Error("it writes where there are no marks")
	}
}

const (
	beganLine = `{"time":"2026-01-01T00:00:00Z","level":"ERROR","msg":"outage began","subject":"git","cause":"silent","tries":1,"error":"it is silent"}`
	endedLine = `{"time":"2026-01-01T00:01:00Z","level":"INFO","msg":"outage ended","subject":"git","cause":"silent","tries":9,"lasted":"1m0s"}`
)

func TestLinesAreHeldToTheirBound(t *testing.T) {
	var l lines
	for _, data := range []string{beganLine, `{"level":"INFO","msg":"run finished"}`, `{"level":"DEBUG","msg":"request"}`, "not JSON"} {
		l.add([]byte(data))
	}
	if l.count() != 1 || l.quiet() {
		t.Fatalf("lines %+v", l.list)
	}
	l.add([]byte(endedLine))
	r := row{scenario: scenario{name: "git-silent", fault: "git is silent"}, lines: l.since(0)}
	if !l.quiet() || !r.linesMet() || r.linesCell() != "2" {
		t.Errorf("quiet %t, cell %q", l.quiet(), r.linesCell())
	}
	want := "| git is silent | `ERROR outage began subject=git cause=\"silent\"` |  |  |\n"
	if got := r.linesRow(); got != want {
		t.Errorf("row\n%s", got)
	}
	l.add([]byte(beganLine))
	r.lines = l.since(0)
	if r.linesMet() || !strings.Contains(r.linesCell(), "more than 2 about: silent") {
		t.Errorf("cell %q", r.linesCell())
	}
}

func TestLinesOfOtherRowsStay(t *testing.T) {
	seen := lines{}
	seen.add([]byte(beganLine))
	named := func(names ...string) (rows []row, list []scenario) {
		for _, n := range names {
			s := scenario{name: n, fault: "the fault " + n}
			rows = append(rows, row{scenario: s, lines: seen.since(0)})
			list = append(list, s)
		}
		return rows, list
	}
	first, order := named("a", "b", "c")
	page := linesPart("Not measured yet.\n", first[1:], order)
	again, _ := named("a")
	page = linesPart(page, again, order)
	if !strings.HasSuffix(page, "| --- |\n"+first[0].linesRow()+first[1].linesRow()+first[2].linesRow()) {
		t.Errorf("page\n%s", page)
	}
	again[0].lines = nil
	if page = linesPart(page, again, order); strings.Contains(page, "the fault a") || strings.Count(page, "\n") != 4 {
		t.Errorf("a fault that does not show any more is in\n%s", page)
	}
}
