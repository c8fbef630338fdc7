package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// BareClient asks for the entry points of a fleet, over connections that stay open, and does
// nothing more: measurements have it for their floor.
type BareClient struct {
	baseURL, token string
	concurrency    int
	http           http.Client
}

// NewBareClient asks so many at a time.
func NewBareClient(baseURL, token string, concurrency int) *BareClient {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost, transport.MaxConnsPerHost = concurrency, concurrency
	return &BareClient{baseURL, token, concurrency, http.Client{Transport: transport}}
}

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

// ReadFleet reads and decodes the entry points of zones 1 to n of a [mem.Fleet].
func (c *BareClient) ReadFleet(n int) error {
	zones := make(chan edge.Scope)
	failures := make([]error, c.concurrency)
	var group sync.WaitGroup
	for worker := range c.concurrency {
		group.Go(func() {
			for zone := range zones {
				failures[worker] = errors.Join(failures[worker], c.read(zone))
			}
		})
	}
	for i := 1; i <= n; i++ {
		zones <- mem.FleetZone(i)
	}
	close(zones)
	group.Wait()
	return errors.Join(failures...)
}

func (c *BareClient) read(zone edge.Scope) error {
	path := edge.EntryPointPath(zone, edge.PhaseFirewallManaged)
	req, err := http.NewRequest(http.MethodGet, c.baseURL+path, nil)
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
