//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// floorCommand is the first argument of the process that is the floor.
const floorCommand = "floor"

// entryPoint is the least that comparing a zone needs.
type entryPoint struct {
	ID, Version string
	Rules       []struct {
		ID, Action, Expression string
		Enabled                *bool
		ActionParameters       struct {
			ID        string
			Overrides struct {
				Categories []struct {
					Category string
					Enabled  *bool
				}
				Rules []struct {
					ID             string
					Action         string
					Enabled        *bool
					ScoreThreshold *int `json:"score_threshold"`
				}
			}
		} `json:"action_parameters"`
	}
}

// bareClient asks for entry points, over connections that stay open.
type bareClient struct {
	base, token string
	http        http.Client
}

// floorMain reads a fleet once and prints how long that took, in nanoseconds: the
// floor is not charged for the start of a process.
func floorMain(args []string) error {
	var base string
	var zones, concurrency int
	flags := flag.NewFlagSet(floorCommand, flag.ExitOnError)
	flags.StringVar(&base, "base-url", "", "")
	flags.IntVar(&zones, "zones", 0, "")
	flags.IntVar(&concurrency, "concurrency", 0, "")
	_ = flags.Parse(args) // it exits by itself
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost, transport.MaxConnsPerHost = concurrency, concurrency
	c := bareClient{base: base, token: os.Getenv(tokenVariable), http: http.Client{Transport: transport}}
	begin := time.Now()
	if err := c.readAll(zones, concurrency); err != nil {
		return err
	}
	_, err := fmt.Println(time.Since(begin).Nanoseconds())
	return err
}

func (c *bareClient) readAll(zones, concurrency int) error {
	next := make(chan int)
	failures := make([]error, concurrency)
	var group sync.WaitGroup
	for worker := range concurrency {
		group.Go(func() {
			for i := range next {
				failures[worker] = errors.Join(failures[worker], c.read(i))
			}
		})
	}
	for i := 1; i <= zones; i++ {
		next <- i
	}
	close(next)
	group.Wait()
	return errors.Join(failures...)
}

func (c *bareClient) read(zone int) error {
	path := "/zones/" + zoneID(zone) + "/rulesets/phases/http_request_firewall_managed/entrypoint"
	req, err := http.NewRequest(http.MethodGet, c.base+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	var answer struct{ Result entryPoint }
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	if len(answer.Result.Rules) == 0 {
		return fmt.Errorf("GET %s: %s without rules", path, res.Status)
	}
	return nil
}
