//go:build linux

package main

import (
	"bufio"
	"bytes"
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
	body, err := p.control(ctx, http.MethodGet, "transcript", nil)
	if err != nil {
		return nil, fmt.Errorf("reading the transcript: %w", err)
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("reading the transcript: %w", err)
	}
	return list, nil
}

func (p *platform) forget(ctx context.Context) error {
	if _, err := p.control(ctx, http.MethodDelete, "transcript", nil); err != nil {
		return fmt.Errorf("forgetting the transcript: %w", err)
	}
	return nil
}

// drift gives every zone the entry point that it has in a seed.
func (p *platform) drift(ctx context.Context, seed string) error {
	data, err := os.ReadFile(seed)
	if err != nil {
		return err
	}
	var old struct {
		Zones []struct {
			ID         string          `json:"id"`
			EntryPoint json.RawMessage `json:"entrypoint"`
		} `json:"zones"`
	}
	if err := json.Unmarshal(data, &old); err != nil {
		return fmt.Errorf("reading %s: %w", seed, err)
	}
	for _, zone := range old.Zones {
		if _, err := p.control(ctx, http.MethodPut, "zones/"+zone.ID+"/entrypoint", zone.EntryPoint); err != nil {
			return fmt.Errorf("changing zone %s: %w", zone.ID, err)
		}
	}
	return nil
}

func (p *platform) control(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	scheme, rest, _ := strings.Cut(p.BaseURL, "://")
	host, _, _ := strings.Cut(rest, "/")
	req, err := http.NewRequestWithContext(ctx, method, scheme+"://"+host+"/__sim/"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s", res.Status, answer)
	}
	return answer, err
}
