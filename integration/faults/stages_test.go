package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestStagesOfAPush: each stage ends at the first event of its kind after the one before, a fetch with
// git's last answer before the evaluation; what is of another push or zone counts for nothing.
func TestStagesOfAPush(t *testing.T) {
	begin := time.Now()
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	trail := &trail{}
	trail.note(asked, at(-50))
	trail.begin(7, at(0))
	for m, times := range map[point][]int{
		asked: {10, 20}, answered: {15, 40, 90}, evaluated: {60}, accepted: {65}, looked: {30, 75, 99}, written: {80},
	} {
		for _, ms := range times {
			if m < looked {
				trail.note(m, at(ms))
			} else {
				trail.noteZone(m, 7, at(ms))
				trail.noteZone(m, 8, at(ms-3))
			}
		}
	}
	got := trail.end(at(100))
	want := passage{whole: 100 * time.Millisecond}
	for i, ms := range []time.Duration{10, 30, 20, 5, 10, 5, 20} {
		want.stages[i] = ms * time.Millisecond
	}
	if got != want {
		t.Errorf("the stages are %v, want %v", got, want)
	}
}

// TestStagesThatWereNotSeen: the others still add up to the whole.
func TestStagesThatWereNotSeen(t *testing.T) {
	begin := time.Now()
	trail := &trail{}
	trail.begin(7, begin)
	trail.git(http.NotFoundHandler(), httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	got := trail.end(begin.Add(time.Minute))
	var sum time.Duration
	for _, d := range got.stages {
		sum += d
	}
	if got.whole != time.Minute || sum != time.Minute || got.stages[accepted] != 0 || got.stages[proved-1] == 0 {
		t.Errorf("the stages are %v", got)
	}
}

func TestStageTable(t *testing.T) {
	var all []passage
	for _, ms := range []time.Duration{3, 1, 2, 7, 5, 6, 4} {
		p := passage{whole: ms * time.Millisecond}
		p.stages[0] = p.whole
		all = append(all, p)
	}
	got := stageTable(all)
	for _, want := range []string{"| median of each | 4 | 4 | 0 |", "| slowest 1 | 7 | 7 |", "| slowest 5 | 3 | 3 |"} {
		if !strings.Contains(got, want) {
			t.Errorf("the table lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "slowest 6") || stageTable(nil) != "" {
		t.Errorf("the table is\n%s", got)
	}
}
