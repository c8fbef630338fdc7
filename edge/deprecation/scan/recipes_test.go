package scan

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The commands of recipes are calls on their lines, whatever stands before them and whether
// make's variables are set in the file.
func TestMakefile(t *testing.T) {
	const text = `# DELETE /zones/none/filters
CURL ?= curl -sS -H "Authorization: Bearer $$TOKEN"
API := https://api.example.com/client/v4
URL = $(API)/zones/unused/filters
LOOP = $(LOOP)$(LOOP)
TAGS != curl $(API)/accounts/a
FIRST := $(shell curl "$(API)/user" | jq -r '.[0]')
ifdef DEBUG
Q :=
endif

all: check ; @curl $(API)/zones/1

check:
	@curl -H "Authorization: Bearer $$TOKEN" "$(API)/zones/$(ZONE)/filters"
	-$(CURL) -X DELETE '${API}/zones/$@/filters/$(ID)'
	+@ curl \
	  -X PATCH \
	  --json '{"value":"$(VALUE)"}' $(OTHER)/zones/$$zone/settings/minify
	$(Q)curl "$(HOST)/client/v4/zones/$(LOOP)/pagerules"
	for z in $(ZONES); do curl "$(API)/zones/$$z/rate_limits"; done
	./call PUT /zones/$(ZONE)/a
	# curl $(API)/comment
	$(CURL) $(UNKNOWN)
`
	got, stats := literalsOf(t, fstest.MapFS{"ci/Makefile": {Data: []byte(text)}}, Options{})
	want := []string{
		"ci/Makefile:12 GET https://api.example.com/client/v4/zones/1",
		"ci/Makefile:15 GET https://api.example.com/client/v4/zones/{}/filters",
		"ci/Makefile:16 DELETE https://api.example.com/client/v4/zones/{}/filters/{}",
		"ci/Makefile:17 PATCH /zones/{}/settings/minify",
		"ci/Makefile:20 GET /client/v4/zones/{}/pagerules",
		"ci/Makefile:21 GET https://api.example.com/client/v4/zones/{}/rate_limits",
		"ci/Makefile:22 PUT /zones/{}/a",
		"ci/Makefile:4 https://api.example.com/client/v4/zones/unused/filters",
		"ci/Makefile:6 GET https://api.example.com/client/v4/accounts/a",
		"ci/Makefile:7 GET https://api.example.com/client/v4/user",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if stats.Skipped != 1 || stats.First[0].Line != 24 { // its address is left open
		t.Errorf("stats say %+v", stats)
	}
}

// just and Docker have recipes of commands, too.
func TestOtherRecipes(t *testing.T) {
	got, _ := literalsOf(t, fstest.MapFS{
		"calls.mk":   {Data: []byte("all:\n\t$(WGET) --method=DELETE https://h.example/zones/1/filters\n")},
		"justfile":   {Data: []byte("api := env(\"API\")\n\nlist zone:\n    @curl -X DELETE \"{{api}}/zones/{{zone}}/filters\"\n")},
		"Dockerfile": {Data: []byte("FROM alpine\nRUN apk add curl && curl -X PUT \"$API/zones/$ZONE/filters\"\n")},
	}, Options{})
	want := []string{"Dockerfile:2 PUT /zones/{}/filters", "calls.mk:2 DELETE https://h.example/zones/1/filters", "justfile:4 DELETE /zones/{}/filters"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Requests that Java puts together are calls on the lines of their paths. The path of one
// method is not that of another method's parameter, and the answer's getBody is no GET.
func TestJavaConcatenation(t *testing.T) {
	const text = `class Client {
  private static final String BASE = "https://api.example.com/client/v4";
  void a() throws Exception {
    String path = "/zones/" + zone + "/filters";
    send("POST", path, "{}");
  }
  private HttpResponse<String> send(String method, String path, String body) throws IOException {
    return client.send(HttpRequest.newBuilder(URI.create(HOST + path))
        .method(method, BodyPublishers.ofString(body)).build(), BodyHandlers.ofString());
  }
  void b(Rule rule) {
    String url = BASE
        + "/zones/" + zone
        + "/firewall/rules/" + rule.id();
    client.send(HttpRequest.newBuilder(URI.create(url)).DELETE().build(), BodyHandlers.ofString()).body();
    rest.exchange(BASE + "/zones/" + zone + "/pagerules", HttpMethod.PATCH, new HttpEntity<>(body), String.class).getBody();
    HttpURLConnection c = (HttpURLConnection) new URL(BASE + "/user").openConnection();
    c.setRequestMethod("PUT");
    StringBuilder path = new StringBuilder().append("/accounts/").append(account);
    path.append("/rulesets");
    send("GET", path.toString(), null);
  }
}
`
	got, _ := literalsOf(t, fstest.MapFS{"Client.java": {Data: []byte(text)}}, Options{})
	want := []string{
		"Client.java:4 POST /zones/{}/filters",
		"Client.java:13 DELETE https://api.example.com/client/v4/zones/{}/firewall/rules/{}",
		"Client.java:16 PATCH https://api.example.com/client/v4/zones/{}/pagerules",
		"Client.java:17 PUT https://api.example.com/client/v4/user",
		"Client.java:19 GET /accounts/{}/rulesets",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What stands within $(shell …) is read once, as a command of its own: how deep brackets lie in
// it, what quotes are around it, and whether the variable is used does not matter.
func TestMakefileShell(t *testing.T) {
	const text = `API = https://h.example
FETCH = curl -H "D: $(shell date)" $(API)/used
DEEP := $(shell curl $(API)/deep/$(patsubst a,b,$(word 1,$(sort $(L)))))
ZONE := $(shell curl $(API)/zones)

all:
	$(FETCH)
	echo '$(shell curl $(API)/quoted)' $(ZONE)
	echo $(DEEP) $(shell curl $(API)/recipe/$(or $(strip $(word 1,$(sort $(L))))))
`
	got, _ := literalsOf(t, fstest.MapFS{"Makefile": {Data: []byte(text)}}, Options{})
	want := []string{
		"Makefile:8 GET https://h.example/quoted",
		"Makefile:9 GET https://h.example/recipe/{}",
		"Makefile:7 GET https://h.example/used",
		"Makefile:3 GET https://h.example/deep/{}",
		"Makefile:4 GET https://h.example/zones",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A Makefile that is written to make a reader work for ever does not.
func TestMakefileStaysBounded(t *testing.T) {
	doubles := "A0 = https://api.example.com/zones/1/filters\n"
	for i := range 60 {
		doubles += fmt.Sprintf("A%d = $(A%d)$(A%d)\n", i+1, i, i)
	}
	for name, text := range map[string]string{
		"doubling": doubles + "a:\n" + strings.Repeat("\tcurl $(A60)\n", 1000),
		"nested":   "a:\n\tcurl " + strings.Repeat("$(strip ", 50_000) + "\n",
		"unclosed": "A = " + strings.Repeat("$(shell ", 50_000) + "\nendef\ndefine\ndefine B\n",
		"itself":   "A := x\n" + strings.Repeat("A := $(A)$(A)\n", 1000) + "export\na:\n\tcurl $$A\n",
	} {
		start := time.Now()
		_, _, err := scanAll(strings.NewReader(text), "Makefile", Options{})
		if took := time.Since(start); err != nil || took > 30*time.Second {
			t.Errorf("%s: %v after %v", name, err, took)
		}
	}
}
