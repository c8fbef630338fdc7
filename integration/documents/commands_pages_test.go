package documents

import (
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
)

const (
	someEnded  = 3 // exit codes of seawall deprecations
	withoutNew = 4
	partial    = 4 // of plan and apply: a folder has no ledger, so its tokens are unknown
	denied     = 2
)

// answered gives the answer that a person gives on a terminal.
var answered = []string{"seawall revert --", "seawall revert --yes --"}

// withCertificate is why a command is not run that sends a client certificate.
const withCertificate = "tests of reconcile/login and of actions send such requests"

// calls are inputs of seawall deprecations check: programs with calls of which some have
// ended.
const calls = `mkdir src scripts infra &&
	echo '192.0.2.7 - - [02/Mar/2026:10:00:00 +0000] "GET /client/v4/zones/00000000000000000000000000000a01/firewall/rules HTTP/1.1" 200 12' >access.log &&
	gzip --keep access.log && cp access.log access.log.zst &&
	echo 'curl https://api.example.com/client/v4/zones/00000000000000000000000000000a01/dns_records?name=contains:shop' | tee src/get.sh >scripts/get.sh &&
	echo 'resource "cloudflare_filter" "a" {}' >infra/main.tf &&
	echo '{"format_version": "1.2", "planned_values": {"root_module": {"resources": [{"address": "cloudflare_filter.a", "type": "cloudflare_filter", "name": "a", "values": {}}]}}}' >plan.out &&
	echo 'dns-record-filter-syntax  **  2099-01-01  the vendor has promised to keep it' >known.txt`

// declareToken declares a token that is not in git yet, and rotateToken has one in use that
// rotates.
const (
	declareToken = `sed 's/"ci-dns"/"ci-next"/; s/key: "dns"/key: "next"/' edge.cue | awk '/^package/ { print } /^token/ { on = 1 } on' >next.cue`
	rotateToken  = `rm next.cue && sed -i 's/expires_on: .*/rotate: {every: "720h", overlap: "48h"}/' edge.cue && git commit --quiet --all --message Rotate && git push --quiet && in_sync &&
		for _ in {1..300}; do [ $(seawall token list | grep -c '^ci-dns .* delivered') = 2 ] && break; sleep 0.1; done`
)

// commandPages say what the commands of a document need; a page that is not here needs nothing.
var commandPages = map[string]commandPage{
	"README.md":              {elsewhere: "TestReadmeTutorial"},
	"docs/adopt-a-fleet.md":  {elsewhere: "TestTutorialAdoptAFleet"},
	"docs/from-terraform.md": {elsewhere: "TestTutorialFromTerraform"},
	"deploy/README.md":       {elsewhere: "make real: they need root, a container engine or a cluster"},

	"docs/add-a-zone.md": {
		before: `sed -i 's|^platform: \(.*\)$|platform: {\1, profile: "extended"}|; /^waves:/d' "$SEAWALL_CONFIG" &&
	echo '_shop: core: {paranoia: *2 | int, unmanaged: "remove"}' >tiers.cue && sed -i '1i package edge' tiers.cue &&
	git add tiers.cue && git commit --quiet --message "Add a tier" && git push --quiet && systemctl start seawall && in_sync`,
		commands: map[string]shown{
			"seawall validate .":                           {says: "valid: 2 zones, 2 deployments"},
			"seawall plan --dir . --only zone=new.example": {says: `\+ prod / new.example .* / core  deploys  strengthens  edge.cue:17:55\n(.*\n)+    tag paranoia-level-3 enabled  unset → false  tiers.cue:2:15\n`},
			"seawall why new.example":                      {before: "git push --quiet origin HEAD:main && in_sync", says: "is in sync"},
		},
	},

	"docs/expressions.md": {commands: map[string]shown{
		"seawall expression check 'ip.src eqq 192.0.2.9'": {code: 1, says: `did you mean "eq"`},
		"seawall expression test --request request.json":  {before: `echo '{"url": "https://shop.example/login", "ip": "203.0.113.9"}' > request.json`},
	}},
	"docs/backup-and-restore.md": {spans: true, before: "apply_two && systemctl start seawall"},
	"docs/disaster.md":           {spans: true, before: "apply_two"},
	"docs/incident.md": {spans: true, before: "apply_two && systemctl start seawall", other: answered, commands: map[string]shown{
		"seawall revert --commit COMMIT --yes": {says: "1 zone put back; the commit is stopped in 0 zones"},
		"seawall hold list":                    {before: "git revert --no-edit HEAD && git push --quiet", says: "shop.example .* INC-1"},
		"seawall why shop.example":             {before: "in_sync", says: "is in sync"},
		"seawall status":                       {before: "in_sync"},
	}},
	"docs/rotate-credentials.md": {spans: true, before: "systemctl start seawall", commands: map[string]shown{
		"seawall status": {before: "in_sync", says: "1 in sync"},
	}},
	"docs/staged-rollout.md": {spans: true, before: "apply_two", commands: map[string]shown{
		"seawall waves resume": {code: 1, says: "no rollout is halted"},
	}},
	"docs/upgrade.md": {spans: true, before: "systemctl start seawall && in_sync", commands: map[string]shown{
		"seawall plan --dir DIR --base-url URL": {says: "1 in sync"},
	}},

	"docs/deprecations.md": {
		before: calls + ` && git switch --quiet --create topic && git add src scripts infra && git commit --quiet --message "Add programs"`,
		commands: map[string]shown{
			"seawall deprecations check access.log.gz":                                {code: someEnded, says: "firewall-rules-and-filters"},
			"seawall deprecations check src":                                          {code: someEnded, says: "dns-record-filter-syntax"},
			"seawall deprecations check $(git diff --name-only --diff-filter=d main)": {code: someEnded, says: "infra/main.tf:1"},
			"seawall deprecations check --fix scripts infra":                          {code: someEnded, says: "scripts/get.sh"},
			"seawall deprecations check --fix --yes scripts infra":                    {code: someEnded, says: "scripts/get.sh"},
			"terraform show -json plan.out | seawall deprecations check -":            {says: "0 calls checked"},
			"seawall deprecations check --dir . --at 2027-01-01":                      {says: "no deprecated feature is in use"},
		},
	},
	"docs/api.md": {before: "systemctl start seawall && in_sync", commands: map[string]shown{
		"curl -s http://127.0.0.1:8710/api/v1/status":                                                                                                                       {says: `"mode": ?"apply"`},
		"curl -s http://127.0.0.1:8710/api/v1/zones/00000000000000000000000000000a01":                                                                                       {says: `"zone": ?"shop.example"`},
		"curl -s 'http://127.0.0.1:8710/api/v1/zones?outcom=refused'":                                                                                                       {says: `there is no parameter \\"outcom\\"`},
		"timeout 5 curl -sN http://127.0.0.1:8710/events":                                                                                                                   {code: 124, says: "event: changed\ndata: {\"version\":\\d+}"},
		"curl --cert ci.pem --key ci.key https://seawall.example/api/v1/zones":                                                                                              {not: withCertificate},
		`curl --cert ci.pem --key ci.key --json '{"zones": ["00000000000000000000000000000a01"]}' https://seawall.example/api/v1/actions/read`:                              {not: withCertificate},
		`curl --cert ci.pem --key ci.key --json '{"zone": "00000000000000000000000000000a01", "for": "2h", "reason": "INC-1"}' https://seawall.example/api/v1/actions/hold`: {not: withCertificate},
	}},
	"docs/operations.md": {before: "systemctl start seawall && in_sync"},
	"docs/sinks.md": {commands: map[string]shown{
		"kubectl -n apps label secret dns app.kubernetes.io/managed-by=seawall": {not: "make real: TestKubernetesSink labels a Secret"},
	}},
	"docs/simulator.md": {
		other: []string{"http://127.0.0.1:8787", "http://127.0.0.1:$port"},
		commands: map[string]shown{
			`EDGE_URL=http://127.0.0.1:8787/client/v4 go test ./...`: {
				before: `for _ in {1..1200}; do curl --silent --output /dev/null http://127.0.0.1:8787/__sim/transcript && break; sleep 0.05; done`, says: "501|404",
			},
		},
	},
	"docs/tokens.md": {before: "systemctl start seawall && in_sync", commands: map[string]shown{
		"seawall plan --dir .": {before: declareToken, says: "token ci-next  create"},
		"seawall token rotate ci-dns --yes": {
			before: rotateToken, says: "token ci-dns  created, secret delivered; the old token works until it expires",
		},
	}},
	"docs/webhooks.md": {before: "systemctl start seawall"},
	"docs/cli.md": {long: true, before: calls + " && apply_two", other: append(answered, "examples/fleet", mustAbs(harness.Root)+"/examples/fleet", "Example Ltd", string(mem.Account)), commands: map[string]shown{
		"seawall apply --dir . --base-url http://127.0.0.1:8787/client/v4":                                             {code: partial},
		"seawall deprecations check access.log":                                                                        {code: someEnded},
		"zstdcat access.log.zst | seawall deprecations check -":                                                        {code: someEnded},
		"seawall deprecations check src scripts/*.sh --suppress known.txt":                                             {says: "suppressed"},
		"seawall deprecations check src --at 2027-01-01 -o sarif > deprecations.sarif":                                 {code: someEnded},
		"seawall deprecations list":                                                                                    {code: withoutNew},
		"seawall deprecations list --at 2025-03-01 --within 90d":                                                       {code: someEnded},
		"seawall hold release zone shop.example":                                                                       {before: "seawall hold zone shop.example --for 2h --reason INC-1"},
		"seawall revert --commit 1a2b3c4":                                                                              {before: "seawall hold release zone shop.example", says: "applied and proved"},
		"seawall token rotate ci-dns":                                                                                  {code: 1, says: "there is no terminal"},
		"seawall token rotate ci-dns --yes":                                                                            {code: 1, says: "without rotate"},
		"seawall token resolve ci-dns --retry":                                                                         {code: 1},
		"seawall token resolve ci-dns --adopt ed17574386854bf78a67040be0a770b0":                                        {code: 1},
		"seawall token explain ci-dns --group 4755a26eedb94da69e1066d98aa820be --account prod --ip 192.0.2.7 --at now": {code: denied},
		"seawall waves resume":                                                                                         {code: 1, says: "no rollout is halted"},
		"seawall absorb shop.example --dir my-edge --dry-run":                                                          {before: "cp -r . my-edge"},
		"seawall apply change.plan":                                                                                    {before: "seawall plan --out change.plan"},
		"seawall demo":                                                                                                 {not: "demo.txtar"},
		"seawall demo --serve":                                                                                         {not: "TestReadmeTutorial"},
		"seawall demo --deprecations":                                                                                  {not: "demo.txtar"},
		"seawall init --config config.cue my-edge":                                                                     {not: "init-config.txtar"},
		"seawall init my-edge && seawall validate my-edge":                                                             {before: "rm -rf my-edge"},
		"seawall import --profile extended --base-url https://api.example.com/client/v4 my-edge":                       {before: "rm -rf my-edge"},
		`seawall import --profile extended --account "Example Ltd" --zone shop.example my-edge`:                        {before: "rm -rf my-edge"},
		"seawall import --account prod=0123456789abcdef0123456789abcdef --zones zones.txt --base-url https://api.example.com/client/v4 my-edge": {before: "rm -rf my-edge; echo shop.example 00000000000000000000000000000a01 >zones.txt"},
		"seawall import --from terraform.tfstate --tokens my-edge":                                                                              {not: "TestTutorialFromTerraform"},
		"seawall run --config /etc/seawall/config.cue":                                                                                          {until: "serving"},
		"seawall sim --listen 127.0.0.1:8787":                                                                                                   {until: "base_url"},
		"seawall sim --quirk patch=merge --quirk throttle=10":                                                                                   {until: "base_url"},
		"seawall sim --at 2025-06-15 --quirk deprecation-headers":                                                                               {until: "base_url"},
		"seawall sim --profile vendor":                                                                                                          {until: "base_url"},
		"seawall sim --print-seed > seed.json && seawall sim --seed seed.json":                                                                  {not: "sim.txtar"},
		"seawall status": {before: "git revert --no-edit HEAD && git push --quiet && systemctl start seawall && in_sync"},
	}},
}
