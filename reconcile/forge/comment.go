package forge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/seawall-dev/seawall/edge"
)

// Comment makes the one comment of a pull request say body. Marker, an HTML
// comment that nobody sees, is its first line and what it is found by: it is
// created once and updated in place ever after. A second one, which another
// process has created at the same time, is deleted. An identical text sends nothing
// but the question. Only comments of the token's own account are considered,
// since anyone can copy a marker. A body that is too long for the forges is cut,
// and says so.
func (f *Forge) Comment(ctx context.Context, pr int, marker, body string) error {
	doing := fmt.Sprintf("commenting on pull request %d", pr)
	return f.do(ctx, doing, func(ctx context.Context) error {
		if err := checkMarker(marker); err != nil {
			return err
		}
		if f.kind == GitLab {
			body = inert(body)
		}
		f.commenting.Lock()
		defer f.commenting.Unlock()
		return f.comment(ctx, pr, marker, fit(marker+"\n"+edge.Redact(body), maxBody))
	})
}

func (f *Forge) comment(ctx context.Context, pr int, marker, text string) error {
	me, err := f.me.get(ctx, f.token, f.driver.user)
	if err != nil {
		return fmt.Errorf("reading the user of the token: %w", err)
	}
	there, err := f.say(ctx, pr, me, marker, text)
	if err != nil || there {
		return err
	}
	if err := f.driver.create(ctx, pr, text); err != nil {
		return err
	}
	// Another process may have created one since the list was read, where this one was stopped meanwhile.
	_, err = f.say(ctx, pr, me, marker, text)
	return err
}

// say makes the oldest of this account's comments with a marker say text, and deletes the others. It
// reports whether there is one.
func (f *Forge) say(ctx context.Context, pr int, me int64, marker, text string) (there bool, err error) {
	all, err := f.driver.comments(ctx, pr)
	if err != nil {
		return false, err
	}
	for _, c := range all {
		switch {
		case c.author != me || firstLine(c.body) != marker:
			continue
		case there:
			err = f.driver.remove(ctx, pr, c.id)
		case lines(c.body) != lines(text):
			err = f.driver.update(ctx, pr, c.id, text)
		}
		if there = true; err != nil {
			return true, err
		}
	}
	return there, nil
}

func checkMarker(marker string) error {
	inner, ok := strings.CutPrefix(marker, "<!-- ")
	inner, closed := strings.CutSuffix(inner, " -->")
	if !ok || !closed || inner == "" || strings.ContainsAny(inner, "\r\n<>") || strings.TrimSpace(inner) != inner {
		return fmt.Errorf("%q is not a marker: it is one line, <!-- … -->", marker)
	}
	return nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimRight(line, "\r \t")
}

// lines is a text as it is compared: forges change the ends of lines, and drop
// space at the end.
func lines(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
}

// identity remembers whose a token is for as long as it is the same token.
type identity struct {
	mu    sync.Mutex
	token edge.Secret
	id    int64
}

func (i *identity) get(ctx context.Context, token func() (edge.Secret, error), ask func(context.Context) (int64, error)) (int64, error) {
	now, err := token()
	if err != nil {
		return 0, fmt.Errorf("reading the token: %w", err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.id != 0 && i.token.Equal(now) {
		return i.id, nil
	}
	id, err := ask(ctx)
	if err == nil && id == 0 {
		err = errors.New("the forge does not say")
	}
	if err != nil {
		return 0, err
	}
	i.token, i.id = now, id
	return id, nil
}
