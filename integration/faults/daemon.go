package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const hookSecret = "a-secret-of-the-faults-alone-0001"

// daemon is `seawall run` in a process of its own.
type daemon struct {
	cmd     *exec.Cmd
	address string        // of health, metrics and webhooks
	ended   chan struct{} // closed once the process has ended
	log     lines
}

// stopGrace is how long a daemon may take to end before it is killed.
const stopGrace = 40 * time.Second

// startDaemon starts it and waits until it serves. Its log is kept in a file.
func startDaemon(ctx context.Context, binary, config, log string) (*daemon, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	d := &daemon{cmd: exec.Command(binary, "run", "--config", config, "--log-format", "json", "--log-level", "debug"), ended: make(chan struct{})}
	stderr, err := d.cmd.StderrPipe()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if err := d.cmd.Start(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	serving := make(chan string, 1)
	go d.listen(stderr, file, serving)
	select {
	case d.address = <-serving:
		return d, nil
	case <-d.ended:
		return nil, fmt.Errorf("the daemon ended at its start; see %s", log)
	case <-ctx.Done():
		d.stop()
		return nil, ctx.Err()
	}
}

// listen keeps the log until the process ends.
func (d *daemon) listen(stderr io.Reader, file *os.File, serving chan<- string) {
	defer close(d.ended)
	defer file.Close()
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		d.log.add(lines.Bytes())
		_, _ = file.Write(append(lines.Bytes(), '\n'))
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
			select {
			case serving <- line.Address:
			default:
			}
		}
	}
	_, _ = io.Copy(io.Discard, stderr) // after a line that is too long
	_ = d.cmd.Wait()
}

// running reports whether the process has not ended.
func (d *daemon) running() bool {
	select {
	case <-d.ended:
		return false
	default:
		return true
	}
}

func (d *daemon) stop() {
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-d.ended:
	case <-time.After(stopGrace):
		_ = d.cmd.Process.Kill()
		<-d.ended
	}
}

// poke has the daemon look at git, as a forge's webhook does.
func (d *daemon) poke(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+d.address+"/hook/git", http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+hookSecret)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		return fmt.Errorf("the webhook was answered %s", res.Status)
	}
	return nil
}

// configure writes the configuration below dir and returns its file. No limit is in the way:
// commits here weaken many zones.
func configure(dir string, s shape, p *platform, r *repository) (string, error) {
	requests, per := s.requests, s.per
	if requests == 0 {
		requests, per = 100_000_000, time.Minute
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	text := fmt.Sprintf(`source: url: %q
platform: base_url: %q
credentials: rulesets: file: %q
schedule: {sync: "@every %s", sweep: "@every %s"}
budget: {requests: %d, per: %q, concurrency: %d}
state: dir: %q
listen: "127.0.0.1:0"
guards: default: off: true
hooks: faults: {kind: "generic", secret: file: %q}
`, r.url(), p.baseURL(), file("token"), s.sync, s.sweep, requests, per.String(), s.concurrency, file("state"), file("hook-secret"))
	for name, content := range map[string]string{"config.cue": text, "token": p.token + "\n", "hook-secret": hookSecret + "\n"} {
		if err := os.WriteFile(file(name), []byte(content), 0o600); err != nil {
			return "", err
		}
	}
	return file("config.cue"), nil
}
