package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seawall-dev/seawall/reconcile/sink/sinktest"
)

// The credentials that Seawall has in the scripts for its sinks.
const (
	scriptVaultToken = "hvs.the-token-of-seawall-in-scripts"
	scriptKubeToken  = "eyJh.the-token-of-seawall-in-scripts.sig"
)

// vaultCommand: see TestScript.
func vaultCommand(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 1, 3, "vault start|seal|unseal|calls FILE|kept PATH FILE")
	s := stageOf(ts)
	switch args[0] {
	case "start":
		s.vault = sinktest.NewVault()
		ts.Defer(s.vault.Close)
		s.vault.Set(func(v *sinktest.Vault) {
			v.Echo = true
			v.Tokens[scriptVaultToken] = sinktest.AllRights
		})
		ts.Setenv("VAULT_URL", s.vault.URL)
		ts.Setenv("VAULT_CREDENTIAL", scriptVaultToken)
	case "seal", "unseal":
		s.vault.Set(func(v *sinktest.Vault) { v.Sealed = args[0] == "seal" })
	case "calls":
		writeLines(ts, args[1], s.vault.Calls())
	case "kept":
		versions := s.vault.Versions(args[1])
		if len(versions) == 0 {
			ts.Fatalf("nothing is kept at %s, only at %v", args[1], s.vault.Paths())
		}
		text, err := json.Marshal(versions[len(versions)-1].Data)
		ts.Check(err)
		writeLines(ts, args[2], []string{string(text)})
	default:
		ts.Fatalf("vault %s is no command", args[0])
	}
}

// clusterCommand: see TestScript.
func clusterCommand(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 1, 3, "cluster start FILE|down|up|put NAME [LABEL=VALUE]|calls FILE|kept NAME FILE")
	s := stageOf(ts)
	switch args[0] {
	case "start":
		s.cluster = sinktest.NewKubernetes()
		ts.Defer(s.cluster.Close)
		s.cluster.Set(func(k *sinktest.Kubernetes) { k.Echo, k.Token = true, scriptKubeToken })
		ts.Setenv("KUBE_CREDENTIAL", scriptKubeToken)
		ts.Check(os.WriteFile(ts.MkAbs("ca.pem"), s.cluster.CA(), 0o600))
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), fmt.Appendf(nil, kubeconfigOfScripts, s.cluster.URL, scriptKubeToken), 0o600))
	case "down", "up":
		s.cluster.Set(func(k *sinktest.Kubernetes) { k.Down = map[string]int{"down": 503}[args[0]] })
	case "put":
		label, value, _ := strings.Cut(strings.Join(args[2:], ""), "=")
		s.cluster.Put(args[1], sinktest.Secret{Labels: map[string]string{label: value}, Data: map[string][]byte{"theirs": []byte("precious")}})
	case "calls":
		writeLines(ts, args[1], s.cluster.Calls())
	case "kept":
		text, err := json.Marshal(entries(s.cluster.Secrets()[args[1]]))
		ts.Check(err)
		writeLines(ts, args[2], []string{string(text)})
	default:
		ts.Fatalf("cluster %s is no command", args[0])
	}
}

const kubeconfigOfScripts = `apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: here, user: seawall}}]
clusters: [{name: here, cluster: {server: %q, certificate-authority: ca.pem}}]
users: [{name: seawall, user: {token: %q}}]
`

func entries(s sinktest.Secret) map[string]string {
	texts := map[string]string{}
	for name, value := range s.Data {
		texts[name] = string(value)
	}
	return texts
}

func writeLines(ts *testscript.TestScript, file string, lines []string) {
	text := ""
	for _, line := range lines {
		text += line + "\n"
	}
	ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o600))
}
