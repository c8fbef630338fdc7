package main

import (
	"strings"
	"testing"
)

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
	want := "#### git-silent\n\ngit is silent:\n\n```\nERROR outage began subject=git cause=silent tries=1 error=\"it is silent\"\n" +
		"INFO outage ended subject=git cause=silent tries=9 lasted=1m0s\n```\n\n"
	if got := r.linesBlock(); got != want {
		t.Errorf("block\n%s", got)
	}
	l.add([]byte(beganLine))
	r.lines = l.since(0)
	if r.linesMet() || !strings.Contains(r.linesCell(), "more than 2 about: silent") {
		t.Errorf("cell %q", r.linesCell())
	}
}

func TestLinesOfOtherRowsStay(t *testing.T) {
	named := func(names ...string) (rows []row, list []scenario) {
		for _, n := range names {
			rows = append(rows, row{scenario: scenario{name: n, fault: "the fault " + n}})
			list = append(list, scenario{name: n})
		}
		return rows, list
	}
	first, order := named("a", "b", "c")
	page := linesPart("Not measured yet.\n", first[1:], order)
	again, _ := named("a")
	page = linesPart(page, again, order)
	if page != first[0].linesBlock()+first[1].linesBlock()+first[2].linesBlock() {
		t.Errorf("page\n%s", page)
	}
}
