# drift-detector: `make help` lists the targets. Needs Go, make and git.

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  := $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
# Seconds since 1970: the time of files in release archives.
TIME    := $(shell git log -1 --format=%ct 2>/dev/null || echo 315532800)

# Of the largest libraries no function is inlined: 3.2 MB less, and detect takes as long (docs/benchmarks.md).
LEAN    := $(addsuffix /...=-l,$(addprefix -gcflags=,github.com/aws github.com/vmware/govmomi k8s.io sigs.k8s.io))
# Tests and the program share Go's build cache.
export GOFLAGS += -trimpath $(LEAN)
# Nothing of the machine or the checkout's path goes into the binary. Functions begin at every
# 16 bytes, as on arm64, not at every 32: 0.7 MB less.
PROGRAM := drift-detector/cmd/drift-detector/program
BUILD   := -trimpath $(LEAN) -buildvcs=false -ldflags "-s -w -funcalign=16 -X $(PROGRAM).version=$(VERSION) -X $(PROGRAM).commit=$(COMMIT)"
TARGETS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
DIST    := dist

# Bytes that the binary for linux/amd64 may have.
MAX_SIZE := 52000000

# Go's build cache keeps these two, and all clones share it.
GOFUMPT     := go run mvdan.cc/gofumpt@v0.12.0
STATICCHECK := go run honnef.co/go/tools/cmd/staticcheck@v0.8.2

# What only tests, CI and measuring need is in modules of its own.
MODULES     := . testdata/oracle testdata/oracle/controllers testdata/oracle/kubernetes testdata/browser testdata/bench testdata/live testdata/azuresdk .ci/image .ci/package .ci/site

# The minors of Cluster API whose controllers are run: go.mod has one, v1.12.mod another.
CONTROLLERS := testdata/oracle/controllers
MINORS      := go v1.12
OF_MINOR     = -modfile=$$minor.mod -tags=capi$$(echo $$minor | tr -dc 0-9)

# What tests run that is no Go; all clones share that, too.
CACHE        := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/drift-detector
MOTO_VERSION := 5.2.5
MOTO         := $(CACHE)/moto-$(MOTO_VERSION)
CLOUD        := testdata/openstack/cloud
OPENSTACK    := $(CACHE)/openstack-$(firstword $(shell cat $(CLOUD)/*.txt | cksum))
AXE_VERSION  := 4.14.1
AXE          := $(CACHE)/axe-core-$(AXE_VERSION)/node_modules/axe-core/axe.min.js

.DEFAULT_GOAL := build
.PHONY: goflags build demo test race cover update test-aws test-openstack test-azure test-browser test-live test-windows test-controllers faults fuzz bench bench-go size advisories lint docs release image install uninstall packages help

goflags:
	@echo $(GOFLAGS)

build: ## build bin/drift-detector, a static binary
	CGO_ENABLED=0 go build $(BUILD) -o bin/drift-detector ./cmd/drift-detector

demo: ## show what it does: a lost management cluster, its backup, a simulated vCenter
	@echo "Building. The first time, Go downloads modules and compiles them: 2 to 4 minutes."
	@$(MAKE) --no-print-directory -s build
	@go run ./cmd/demo

# More at a time than there are cores: the tests of the command wait for servers.
test: ## run all tests
	go test -timeout 60m -parallel 4 ./...

# Of what lists at once, all tests; of the providers and of whole runs, the tests in which
# several listings, logins or an interrupt meet. One whole run at a time: what only tests do
# is to run the program twice in one process.
MEET := Test(Conformance|Interrupted.*|TwoUsersOfOneVCenter|AccountIsNotLocked|ALostLogin.*|NobodyElseLocks.*|AMomentOfTrouble.*|TwoRunsWriteTheSameBytes|AWSVerdicts|APIServersFail|OneOfTwoVCentersDown|AWSDeniedInOneRegionOfTwo|Progress.*)
# Other packages would be compiled and linked for nothing.
MEET_IN = $$(grep -rlE --include '*_test.go' --exclude-dir testdata '^func $(MEET)\(' $(1) | xargs -n 1 dirname | sort -u | sed 's|^|./|')

race: ## look for data races, in what does several things at once
	CGO_ENABLED=1 go test -race -timeout 20m ./infra ./infra/nodes
	CGO_ENABLED=1 go test -race -timeout 20m -run '^$(MEET)$$' $(call MEET_IN,infra)
	CGO_ENABLED=1 go test -race -timeout 20m -parallel 1 -run '^$(MEET)$$' $(call MEET_IN,internal cmd)

FAULTS ?= all

faults: ## spoil each call, handshake and answer of each server, and hold every verdict: 40 minutes
	@FAULTS='$(FAULTS)' go test ./internal/runs/faults -run '^TestFaultMatrix$$' -count 1 -timeout 2h -v | grep -v -e '^=== ' -e '^--- PASS'

cover: ## say how much of the code the tests run: each function, and the whole last
	@mkdir -p bin
	go test -parallel 4 -coverpkg ./... -coverprofile bin/cover.out ./...
	@go tool cover -func bin/cover.out
	@echo "Line by line: go tool cover -html bin/cover.out"

update: ## write what tests hold and code makes: golden files, parts of docs/
	go test ./docs ./infra/all -update
	go test ./report/text -update
	go test ./detector -run 'VerdictsPage|WhatIsSaid' -update
	go test ./cmd/drift-detector/program -run Documented -update
	cd testdata/oracle && go test . -run Kustomize -update

test-aws: $(MOTO)/bin/moto_server ## hold the AWS provider against moto, an AWS in Python that it installs under ~/.cache
	MOTO_PYTHON=$(MOTO)/bin/python go test -tags moto -count 1 -run Moto ./infra/aws/list ./infra/store

test-openstack: $(OPENSTACK)/ready ## hold the OpenStack provider against a real OpenStack, which it installs under ~/.cache: 600 MB
	$(OPENSTACK)/bin/python $(CLOUD)/cloud.py go test -tags openstack -count 1 -timeout 30m -run Replayed ./internal/runs/openstack

test-azure: ## hold the Azure provider against the fake to which the lab's controllers spoke (Python 3, openssl), and the fakes of Azure's SDK
	python3 testdata/azure/faked.py go test -tags armfake -count 1 -run Faked ./infra/azure/list
	cd testdata/azuresdk && go test -count 1 ./...

test-browser: $(AXE) ## open HTML reports in Chromium, which must be installed, and look
	cd testdata/browser && AXE=$(AXE) go test -count 1 -timeout 30m ./...

# Not a part of .ci/run: compiling Kubernetes takes longer than all the rest of it. The servers
# are built as anybody builds them.
test-live: ## read the lab from a real kube-apiserver with etcd: 2 minutes, the first time 15, which it takes to build them
	@mkdir -p bin/live
	CGO_ENABLED=0 go build $(BUILD) -o bin/live/drift-detector ./cmd/drift-detector
	cd testdata/live && GOFLAGS= CGO_ENABLED=0 go build -o $(CURDIR)/bin/live/etcd go.etcd.io/etcd/server/v3
	cd testdata/live && GOFLAGS= CGO_ENABLED=0 go build -o $(CURDIR)/bin/live/kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver
	cd testdata/live && go test -count 1 . -args -programs $(CURDIR)/bin/live

# Not a part of .ci/run: wine has 700 MB.
test-windows: ## run the program for Windows under wine, which must be installed: 3 minutes (Debian: apt-get install --no-install-recommends wine64)
	@mkdir -p bin/windows
	CGO_ENABLED=0 go build $(BUILD) -o bin/windows/drift-detector ./cmd/drift-detector
	CGO_ENABLED=0 GOOS=windows GOARCH=amd64 go build $(BUILD) -o bin/windows/drift-detector.exe ./cmd/drift-detector
	go test -count 1 ./testdata/windows -args -programs $(CURDIR)/bin/windows

WORLDS := 8
SEED   := 1

# For one world by hand, see the README there. The program is built apart: CI has another
# target at work that builds it.
test-controllers: ## restore WORLDS (8) random worlds, from SEED (1) on, with the real controllers of two minors of Cluster API, and compare
	@mkdir -p bin/controllers
	CGO_ENABLED=0 go build $(BUILD) -o bin/controllers/drift-detector ./cmd/drift-detector
	cd testdata/oracle && go run ./inventories -program $(CURDIR)/bin/controllers/drift-detector -testdata .. -o $(CURDIR)/bin/controllers
	@cd $(CONTROLLERS) && status=0; for minor in $(MINORS); do \
	  GOGC=400 go test $(OF_MINOR) -count 1 -timeout 24h -args -worlds $(WORLDS) -seed $(SEED) -keep $(CURDIR)/bin/controllers || status=1; done; exit $$status

FUZZTIME := 60s

# One target at a time, each in a process of its own; go test finds them by their names.
# What fails one is written to testdata/fuzz of its package: commit it with the repair,
# and every make test runs it.
fuzz: ## look for inputs that break what reads foreign files, each target for FUZZTIME (60s)
	@for folder in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u); do \
	  targets=$$(go test -list '^Fuzz' $$folder) || { echo "$$targets"; exit 1; }; \
	  for target in $$(echo "$$targets" | grep '^Fuzz'); do echo "== $$folder $$target"; \
	    go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x $$folder || exit 1; done; done

# 5 minutes on 2 cores; the first time generates backups under bin/bench. The whole of
# the page: make bench BENCH='-machines 1000,10000,50000 -vms 3000,50000'
BENCH := -machines 1000,10000 -vms 3000

bench: build ## measure whole runs against gunzip, Velero's reader, jq and govc, and write docs/benchmarks.md
	cd testdata/bench && go build -o $(CURDIR)/bin/bench-subjects ./subjects && go build -o $(CURDIR)/bin/bench-runs .
	bin/bench-runs -root . -page docs/benchmarks.md $(BENCH)

bench-go: ## run the Go benchmarks of reading and deciding
	go test -run '^$$' -bench . -benchmem ./backup ./detector ./detector/releases

size: build ## print the binary's size per release target, and hold linux/amd64 to its limit
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; here=$$(go env GOOS)/$$(go env GOARCH); for target in $(TARGETS); do \
	  binary=bin/drift-detector; if [ "$$target" != "$$here" ]; then binary=$$dir/binary; \
	    CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} go build $(BUILD) -o "$$binary" ./cmd/drift-detector || exit 1; fi; \
	  size=$$(($$(wc -c < "$$binary"))); printf '%-14s %9d bytes\n' "$$target" "$$size"; \
	  if [ "$$target" = linux/amd64 ] && [ "$$size" -gt $(MAX_SIZE) ]; then \
	    echo "$$target is above its limit of $(MAX_SIZE) bytes" >&2; exit 1; fi; \
	done

advisories: build ## look for known vulnerabilities of what is linked, and that those listed are not reachable
	@go run ./.ci/advisories bin/drift-detector

# The tags add the files that only make test-aws, test-openstack and test-azure build. staticcheck
# knows no -modfile, so it sees go.mod's minor of Cluster API alone.
lint: ## check format, go vet and staticcheck
	@unformatted=$$($(GOFUMPT) -l . .ci testdata/windows testdata/oracle testdata/browser testdata/bench testdata/live testdata/azuresdk) || exit 1; \
	if [ -n "$$unformatted" ]; then echo "not gofumpt'd:"; echo "$$unformatted"; exit 1; fi
	@for module in $(MODULES); do echo "go vet, staticcheck: $$module"; (cd $$module && go vet -tags moto,openstack,armfake ./... && $(STATICCHECK) -tags moto,openstack,armfake ./...) || exit 1; done
	@for minor in $(filter-out go,$(MINORS)); do echo "go vet: $(CONTROLLERS) with $$minor.mod"; (cd $(CONTROLLERS) && go vet $(OF_MINOR) ./...) || exit 1; done
	go vet ./.ci/release ./.ci/advisories ./testdata/windows
	$(STATICCHECK) ./.ci/release ./.ci/advisories ./testdata/windows

docs: ## make a site of README.md and docs/ in dist/site, which needs no server and no network
	cd .ci/site && go run . $(CURDIR) $(CURDIR)/$(DIST)/site

# Where the files of a release are to be had, below the folder of its version: install.sh, the
# formula and the manifest lead there. BUILDER is a URI: who builds, for the provenance.
RELEASES ?= https://github.com/OWNER/drift-detector/releases/download
BUILDER  ?=
# A file with minisign's secret key, which signs SHA256SUMS.
SIGN_KEY ?=

packages: ## write deb and rpm for amd64 and arm64 into dist/: the release of Linux alone
	@$(MAKE) --no-print-directory -s release TARGETS="linux/amd64 linux/arm64"

release: ## cross-compile archives, deb and rpm, with installers, provenance and SHA256SUMS, into dist/, byte-identical for one commit
	go run ./.ci/release -out $(DIST) -version $(VERSION) -commit $(COMMIT) -time $(TIME) -releases "$(RELEASES)" -builder "$(BUILDER)" -key "$(SIGN_KEY)" -targets "$(TARGETS)" -- $(BUILD) ./cmd/drift-detector

# Platforms of the image. Load it: podman load, skopeo copy oci-archive:FILE, docker load (25 or later).
IMAGE_PLATFORMS := linux/amd64 linux/arm64

image: ## write dist/drift-detector-image.tar, an OCI image for amd64 and arm64, without a container runtime
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; mkdir -p $(DIST); binaries=; for platform in $(IMAGE_PLATFORMS); do \
	  binary=$$dir/$${platform#*/}; binaries="$$binaries $$platform=$$binary"; \
	  CGO_ENABLED=0 GOOS=linux GOARCH=$${platform#*/} GOAMD64=v1 go build $(BUILD) -o "$$binary" ./cmd/drift-detector || exit 1; done; \
	go run ./.ci/release -describe "$$binaries" -version $(VERSION) -time $(TIME) -- $(BUILD) ./cmd/drift-detector || exit 1; \
	out=$$(cd $(DIST) && pwd)/drift-detector-image.tar; \
	(cd .ci/image && go run . -out "$$out" -version $(VERSION) -revision $(COMMIT) -time $(TIME) $$binaries) && echo "$$out"

PREFIX ?= /usr/local

# quoted is one word of a shell, also with spaces and quotes.
quoted  = '$(subst ','\'',$(1))'
PROGRAM = $(DESTDIR)$(PREFIX)/bin/drift-detector
SHARE   = $(DESTDIR)$(PREFIX)/share
MAN     = man/man1/drift-detector.1
BASH    = bash-completion/completions/drift-detector
ZSH     = zsh/site-functions/_drift-detector
FISH    = fish/vendor_completions.d/drift-detector.fish

# All is made before anything is installed. It is for everybody, under any umask; folders that are there keep
# their mode. The program goes beside its place, then there: one that runs keeps its own.
install: build ## install the program, its manual page and completions below PREFIX (/usr/local)
	@test ! -d $(call quoted,$(PROGRAM)) || { echo $(call quoted,$(PROGRAM) is a folder) >&2; exit 1; }
	@mkdir -p $(addprefix bin/share/,$(dir $(MAN) $(BASH) $(ZSH) $(FISH)))
	@{ bin/drift-detector man > bin/share/$(MAN) && bin/drift-detector completion bash > bin/share/$(BASH) && \
	  bin/drift-detector completion zsh > bin/share/$(ZSH) && bin/drift-detector completion fish > bin/share/$(FISH); } || \
	  { echo "bin/drift-detector does not run on this machine, as one that was built for another: nothing was installed" >&2; exit 1; }
	umask 022; mkdir -p $(call quoted,$(DESTDIR)$(PREFIX)/bin) $(foreach file,$(MAN) $(BASH) $(ZSH) $(FISH),$(call quoted,$(SHARE)/$(dir $(file))))
	install -m 0755 bin/drift-detector $(call quoted,$(PROGRAM).new)
	mv -f $(call quoted,$(PROGRAM).new) $(call quoted,$(PROGRAM))
	install -m 0644 bin/share/$(MAN) $(call quoted,$(SHARE)/$(MAN))
	install -m 0644 bin/share/$(BASH) $(call quoted,$(SHARE)/$(BASH))
	install -m 0644 bin/share/$(ZSH) $(call quoted,$(SHARE)/$(ZSH))
	install -m 0644 bin/share/$(FISH) $(call quoted,$(SHARE)/$(FISH))

uninstall: ## remove what install has put below PREFIX
	rm -f $(call quoted,$(PROGRAM)) $(foreach file,$(MAN) $(BASH) $(ZSH) $(FISH),$(call quoted,$(SHARE)/$(file)))

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(MOTO)/bin/moto_server: # the last that pip writes
	python3 -m venv $(MOTO)
	$(MOTO)/bin/pip install -q 'moto[server]==$(MOTO_VERSION)'

# What it needs of other packages changes, so these are pinned, too. An installation that broke off
# is begun again.
$(OPENSTACK)/ready:
	python3 -m venv --clear $(OPENSTACK)
	$(OPENSTACK)/bin/pip install -q -r $(CLOUD)/requirements.txt -c $(CLOUD)/constraints.txt
	touch $@

# It needs no build, so nothing of it is run here.
$(AXE):
	npm install --prefix $(CACHE)/axe-core-$(AXE_VERSION) --no-save --ignore-scripts --no-audit --no-fund axe-core@$(AXE_VERSION)
