//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// platform is a simulator in a process of its own.
type platform struct {
	BaseURL       string `json:"base_url"`
	RulesetsToken string `json:"rulesets_token"`

	cmd *exec.Cmd
}

func startPlatform(ctx context.Context, binary, seed string, latency time.Duration) (*platform, error) {
	args := []string{"sim", "--seed", seed, "--no-rate-limit", "--log-level", "error"}
	if latency > 0 {
		args = append(args, "--quirk", "slow="+latency.String())
	}
	p := &platform{cmd: exec.CommandContext(ctx, binary, args...)}
	p.cmd.Stderr = os.Stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, p)
	}
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("reading its greeting: %w", err)
	}
	return p, nil
}

func (p *platform) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Wait()
}

// request is what the transcript tells of one.
type request struct{ Method, Path string }

// transcript returns the requests since it was last forgotten.
func (p *platform) transcript(ctx context.Context) ([]request, error) {
	var list []request
	body, err := p.control(ctx, http.MethodGet)
	if err != nil {
		return nil, fmt.Errorf("reading the transcript: %w", err)
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("reading the transcript: %w", err)
	}
	return list, nil
}

func (p *platform) forget(ctx context.Context) error {
	if _, err := p.control(ctx, http.MethodDelete); err != nil {
		return fmt.Errorf("forgetting the transcript: %w", err)
	}
	return nil
}

func (p *platform) control(ctx context.Context, method string) ([]byte, error) {
	scheme, rest, _ := strings.Cut(p.BaseURL, "://")
	host, _, _ := strings.Cut(rest, "/")
	req, err := http.NewRequestWithContext(ctx, method, scheme+"://"+host+"/__sim/transcript", nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s", res.Status, body)
	}
	return body, err
}
