//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// fleet is a generated platform and the repository that declares it, below one
// folder.
type fleet struct {
	dir   string
	zones int
}

// zonesPerFolder is how wide one folder of the repository is.
const zonesPerFolder = 100

func (f fleet) seed() string       { return filepath.Join(f.dir, "seed.json") }
func (f fleet) repository() string { return filepath.Join(f.dir, "repository") }
func (f fleet) config() string     { return filepath.Join(f.dir, "config.cue") }

func zoneID(i int) string { return fmt.Sprintf("f1ee%028d", i) }

func zoneName(i int) string { return fmt.Sprintf("zone-%05d.example", i) }

func (f fleet) write(ctx context.Context, binary string) error {
	account, err := f.writeSeed(ctx, binary)
	if err != nil {
		return err
	}
	base := fmt.Sprintf("package edge\n\naccount: prod: {\n\tid: %q\n\truleset: core: name: \"Core Ruleset\"\n}\n", account)
	files := map[string]string{
		"cue.mod/module.cue": "module: \"edge.example/fleet\"\nlanguage: version: \"v0.16.0\"\n",
		"base.cue":           base,
	}
	for first := 1; first <= f.zones; first += zonesPerFolder {
		files[fmt.Sprintf("team-%03d/zones.cue", first/zonesPerFolder)] = f.declare(first, min(first+zonesPerFolder-1, f.zones))
	}
	for name, text := range files {
		if err := f.writeFile(name, text); err != nil {
			return err
		}
	}
	if err := f.git(ctx, "init", "-q", "-b", "main", "."); err != nil {
		return err
	}
	return f.commit(ctx, "declare the fleet")
}

// declare declares some zones, no two neighbours alike.
func (f fleet) declare(first, last int) string { return f.declareFrom(first, last, 25) }

// declareFrom does so with another lowest threshold.
func (f fleet) declareFrom(first, last, lowest int) string {
	text := []byte("package edge\n\naccount: prod: zone: {\n")
	for i := first; i <= last; i++ {
		text = append(text, declareZone(i, lowest+i%40)...)
	}
	return string(append(text, "}\n"...))
}

func declareZone(i, score int) string {
	return fmt.Sprintf("\t%q: {\n\t\tid: %q\n\t\twaf: core: {\n\t\t\tparanoia: %d\n"+
		"\t\t\tthreshold: {score: %d, action: \"block\"}\n\t\t\tdisable: tags: [\"wordpress\"]\n\t\t}\n\t}\n",
		zoneName(i), zoneID(i), i%4+1, score)
}

func (f fleet) writeFile(name, text string) error {
	path := filepath.Join(f.repository(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// push commits another threshold for the first zone. The first folder of the
// repository declares it.
func (f fleet) push(ctx context.Context, score int) error {
	whole := f.declare(1, min(zonesPerFolder, f.zones))
	text := bytes.Replace([]byte(whole), []byte(declareZone(1, 26)), []byte(declareZone(1, score)), 1)
	if err := f.writeFile("team-000/zones.cue", string(text)); err != nil {
		return err
	}
	return f.commit(ctx, "change one zone")
}

// pushAll commits another threshold for every zone.
func (f fleet) pushAll(ctx context.Context) error {
	for first := 1; first <= f.zones; first += zonesPerFolder {
		text := f.declareFrom(first, min(first+zonesPerFolder-1, f.zones), 26)
		if err := f.writeFile(fmt.Sprintf("team-%03d/zones.cue", first/zonesPerFolder), text); err != nil {
			return err
		}
	}
	return f.commit(ctx, "change all zones")
}

func (f fleet) commit(ctx context.Context, message string) error {
	if err := f.git(ctx, "add", "."); err != nil {
		return err
	}
	return f.git(ctx, "-c", "user.name=bench", "-c", "user.email=bench@edge.example", "-c", "commit.gpgsign=false", "commit", "-q", "-m", message)
}

func (f fleet) git(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = f.repository()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(out))
	}
	return nil
}

// writeSeed writes a seed with the zones of the fleet: copies of the first zone
// of the simulator's own. It returns the id of their account.
func (f fleet) writeSeed(ctx context.Context, binary string) (account string, err error) {
	printed, err := exec.CommandContext(ctx, binary, "sim", "--print-seed").Output()
	if err != nil {
		return "", fmt.Errorf("printing a seed: %w", err)
	}
	var seed map[string]json.RawMessage
	if err := json.Unmarshal(printed, &seed); err != nil {
		return "", fmt.Errorf("reading a seed: %w", err)
	}
	var models []map[string]any
	if err := json.Unmarshal(seed["zones"], &models); err != nil || len(models) == 0 {
		return "", fmt.Errorf("reading the zones of a seed: %w", err)
	}
	account, _ = models[0]["account_id"].(string)
	zones := make([]json.RawMessage, f.zones)
	for i := range zones {
		if zones[i], err = copyZone(models[0], i+1); err != nil {
			return "", err
		}
	}
	if seed["zones"], err = json.Marshal(zones); err != nil {
		return "", err
	}
	data, err := json.Marshal(seed)
	if err != nil {
		return "", err
	}
	return account, os.WriteFile(f.seed(), data, 0o600)
}

// copyZone returns a zone like the model, with names and ids of its own.
func copyZone(model map[string]any, i int) (json.RawMessage, error) {
	model["id"], model["name"] = zoneID(i), zoneName(i)
	entryPoint, _ := model["entrypoint"].(map[string]any)
	rules, _ := entryPoint["rules"].([]any)
	if len(rules) == 0 {
		return nil, fmt.Errorf("the first zone of the simulator's seed deploys nothing")
	}
	entryPoint["id"] = fmt.Sprintf("e1ee%028d", i)
	for n, rule := range rules {
		rule, _ := rule.(map[string]any)
		rule["id"], rule["ref"] = fmt.Sprintf("d1ee%026d%02d", i, n), fmt.Sprintf("core-%d-%d", i, n)
	}
	return json.Marshal(model)
}
