# Everything here needs Go and make, and nothing else; `make race` needs a C compiler too.

FUZZTIME      ?= 60s
# How long the tests of one package may take. The random runs of looptest/random take ten minutes of CPU time.
TIMEOUT       ?= 180m
STATICCHECK   := honnef.co/go/tools/cmd/staticcheck@v0.8.2
WORKFLOWCHECK := go.temporal.io/sdk/contrib/tools/workflowcheck@v0.6.0
# The modules of the repo: the core, and those that stand apart from it.
MODULES       := . $(patsubst %/go.mod,%,$(wildcard adapter/*/go.mod cmd/*/go.mod examples/go.mod examples/*/go.mod bench/go.mod bench/work/go.mod tools/go.mod))
# Those whose requests to a provider are golden files.
WIRE          := adapter/openai adapter/anthropic adapter/genai adapter/ollama

.PHONY: build demo test test-all test-release test-temporal test-fleet test-browser race arch bench bench-quick fuzz golden lint api release

build: ## the command, as bin/retake
	go -C cmd/retake build -o "$(CURDIR)/bin/retake" .

demo: ## a scripted model gets a call wrong twice and an answer wrong once, and is put right
	@cd examples && go run ./quickstart

# Without -shuffle, because go test keeps the results of packages that have not changed only then.
test: ## the core and the command, with fewer cases where a test has very many: some minutes
	go test -short ./...
	cd cmd/retake && go test -short ./...

# The number of random runs that each driver makes (package looptest/random); RETAKE_SEED is the first seed.
# Vetting is left to lint: for each way of building it looks at all dependencies anew.
test-all: export RETAKE_CASES ?= 10000
test-all: $(MODULES:%=test@%) ## every module, with all cases; -j 2 tests two modules at a time
$(MODULES:%=test@%): test@%:
	cd $* && go test -vet=off -timeout $(TIMEOUT) -shuffle=on ./...

test-release: ## a release, installed as a user would: with no workspace and no replace
	cd tools && go test -tags install -count=1 -timeout 60m -v -run CanInstall ./release

TEMPORAL_CLI  := github.com/temporalio/cli/cmd/temporal@v1.5.1
bin/temporal:
	GOBIN=$(CURDIR)/bin go install $(TEMPORAL_CLI)

test-temporal: bin/temporal ## workers and a real server on loopback, killed and started again
	cd adapter/temporal && RETAKE_TEMPORAL=$(CURDIR)/bin/temporal go test -tags temporal -count=1 -timeout 30m -v -run 'Outlive|TalkedTo|AnotherWorker|IsCancelled|Record|Costs' .

test-browser: ## the pages in a headless Chromium; RETAKE_SCREENSHOT=docs/console.png writes the picture of the README
	go test -count=1 -v -run 'Browser' ./report/...

# The modules whose tests start servers of their own.
FLEET := $(wildcard adapter/dbos adapter/postgres adapter/redis examples/river)

test-fleet: export RETAKE_FLEET := 1
test-fleet: export RETAKE_KILLS ?= 40
test-fleet: $(FLEET:%=fleet@%) ## real PostgreSQL and Redis: processes and servers are killed and started again, RETAKE_KILLS times
$(FLEET:%=fleet@%): fleet@%:
	cd $* && go test -count=1 -timeout 20m -v -run 'Kill|Fleet|Outlive|River' .

# Not the modules that measure and release, and not the examples: what they start is tested where it is made, and
# compiling all that they use once more takes longer than most tests. Nor those that only send by the client of an SDK:
# what they share is raced in adapter/kit.
RACE := $(filter-out bench bench/work tools examples examples/% adapter/openai adapter/anthropic adapter/anthropicv2,$(MODULES))

race: export RETAKE_CASES ?= 40
race: $(RACE:%=race@%) ## what CI runs: the race detector, in random order
$(RACE:%=race@%): race@%:
	cd $* && go test -vet=off -timeout 20m -race -short -shuffle=on ./...

# Delays, decisions and schemas are the same on every machine: the tests compare with exact values.
ARCH_TESTS := ./backoff ./policy ./fault ./ratelimit ./schema ./loop/machine ./limit ./internal/simulate

arch: ## the pure packages on other machines; 386 where the kernel runs it, arm64 where qemu-aarch64 is there to
	@if GOARCH=386 go test -run '^$$' ./internal/several >/dev/null 2>&1; then GOARCH=386 go test -short $(ARCH_TESTS); \
	else GOARCH=386 go vet $(ARCH_TESTS) && echo "this kernel runs no 386 program: its tests are only compiled"; fi
	GOAMD64=v3 go test -short $(ARCH_TESTS)
	GOARCH=arm64 go vet $(ARCH_TESTS)
	GOOS=windows go vet ./journal/...
	cd cmd/retake && GOOS=windows go vet ./...
	@if command -v qemu-aarch64 >/dev/null; then GOARCH=arm64 go test -short -exec qemu-aarch64 ./backoff ./policy; \
	else echo "no qemu-aarch64: the arm64 tests are only compiled"; fi

bench: ## every row beside its peers, in one sitting: writes the table of docs/benchmarks.md
	cd bench && GOWORK=off go run ./cmd/table

bench-quick: ## the same, quick and coarse, beside the committed baseline; writes nothing
	cd bench && GOWORK=off go run ./cmd/table -count 1 -benchtime 20ms -sessions 2000 -docs ''

fuzz: ## every fuzz target for FUZZTIME
	@for m in $(MODULES); do (cd $$m && go list ./... | while read -r p; do \
		for f in $$(go test -list '^Fuzz' "$$p" | grep '^Fuzz'); do \
			echo "$$p $$f"; go test -run='^$$' -fuzz="^$$f\$$" -fuzztime=$(FUZZTIME) -fuzzminimizetime=20x "$$p" || exit 1; \
		done; \
	done) || exit 1; done

golden: ## rewrite the golden files; then read the diff, and commit only what you understand
	go test ./fault ./ratelimit ./result ./policy ./policy/file ./feedback ./schema ./looptest/scenario ./journal ./report -args -rewrite
	@for m in cmd/retake $(WIRE) adapter/mcp examples/trip examples/snippets; do (cd $$m && go test . -args -rewrite) || exit 1; done
	cd adapter/kit && go test ./kittest -args -rewrite

lint: lint-format lint-workflows lint-api $(MODULES:%=lint@%)
$(MODULES:%=lint@%): lint@%:
	cd $* && go vet ./... && go run $(STATICCHECK) ./... && go mod tidy -diff
lint-format:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "gofmt -w $$unformatted"; exit 1; }
lint-workflows:
	cd adapter/temporal && go vet -tags temporal ./... && go run $(WORKFLOWCHECK) -config workflowcheck.config.yaml ./...
lint-api: ## what is exported is what stands in api/
	cd tools && go vet -tags install ./... && go run ./api -repo ..

api: ## write down what the packages export, and how much that is
	cd tools && go run ./api -repo .. -write && cat ../api/README.md

release: ## say what a release of VERSION does; with DO=1, do it
	@cd tools && go run ./release -repo .. -version '$(VERSION)' $(if $(DO),-do)
