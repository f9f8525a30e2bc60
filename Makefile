# What people and CI call. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

CACHE ?= $(or $(TAILRACE_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/tailrace)
DATA ?= $(or $(TAILRACE_HOME),$(CURDIR)/.tailrace)
TAILRACE := bin/tailrace

# The development environment: what bin/tailrace needs, ruff and pytest. One per content of the lock file.
DEV_LOCK := embedded/requirements-dev.lock
DEV := $(CACHE)/python-dev/$(firstword $(shell sha256sum $(DEV_LOCK)))
PYTHON := PYTHONPATH=embedded:. $(DEV)/bin/python
PYTEST := $(PYTHON) -m pytest
RUFF := $(DEV)/bin/ruff
MAVEN := mvn --batch-mode --quiet --file stream-jobs/pom.xml

PYTHON_CODE := benchmarks collectors dashboards docker e2e embedded helm schemas sql
# Of sql the last: its modules share a server, which ends with the session.
TESTS := embedded/tests collectors schemas dashboards docker helm sql

##@ Running
.PHONY: demo
demo: ## Install what is missing, start everything, feed real logs, show what was found
	@$(TAILRACE) demo

.PHONY: up
up: ## Start the stack
	@$(TAILRACE) up

.PHONY: down
down: ## Stop the stack; data stays
	@$(TAILRACE) down

.PHONY: status
status: ## Show the parts: state, address, version, memory
	@$(TAILRACE) status

.PHONY: clean-data
clean-data: ## Stop the stack, remove data, logs and passwords; sources.yaml and what is installed stay
	@$(TAILRACE) down
	@cd '$(DATA)' 2>/dev/null && rm -rf data logs run secrets watch || true

##@ Checking
# The longest first.
SUITES := e2e-own browser e2e-shared e2e-detecting python java

# Four suites at a time keep two cores busy: a suite waits for processes a third of its time. All need the jobs' jars.
.PHONY: test
test: $(DEV) jars ## Everything that must pass before a change lands: 25 to 30 minutes on two idle cores
	@rm -f $(SUITES:%=target/costs/%.json)
	@$(MAKE) --jobs 4 --keep-going --output-sync=target $(SUITES:%=timed-%) && result=0 || result=$$?; \
	    $(PYTHON) .ci/costs; exit $$result

.PHONY: $(SUITES:%=timed-%)
$(SUITES:%=timed-%): timed-%:
	@.ci/timed $* $(MAKE) test-$*

# `.ci/run` checks the style while it builds the jars: each of them keeps one core busy.
.PHONY: lint-and-jars timed-lint timed-jars
lint-and-jars: $(DEV)
	@$(MAKE) --jobs 2 --output-sync=target timed-lint timed-jars

timed-lint timed-jars: timed-%:
	@.ci/timed $* $(MAKE) $*

# What starts no server and builds no program.
QUICK := embedded/tests collectors schemas dashboards/tests/test_assets.py helm/tests/test_values.py
STARTING := supervisor cli demo

.PHONY: test-quick
test-quick: $(DEV) ## Lint, unit tests and contracts, without any server: 3 minutes
	@$(MAKE) --jobs 2 --output-sync=target quick-java quick-python lint-python lint-docker lint-shell

# Maven once: it checks the style of the Java code, compiles it under Error Prone, and runs the tests.
.PHONY: quick-java quick-python
quick-java:
	@$(MAVEN) -Plint,benchmarks spotless:check test -Dexcluded.tags='long | benchmark | slow'

quick-python: $(DEV)
	@$(PYTEST) -q -m "not long and not browser" $(STARTING:%=--ignore embedded/tests/test_%.py) $(QUICK)

# It tests what `make lint` has compiled, or compiles it the same way. `verify` alone would compile all of it again: the
# jars that it makes are newer than the classes.
.PHONY: test-java
test-java: ## Unit and integration tests of schemas and stream-jobs
	@$(MAVEN) -Plint test-compile
	@$(MAVEN) -Plint verify -Dmaven.compiler.useIncrementalCompilation=false
	@.ci/check-skips stream-jobs/*/target/lint/*-reports

.PHONY: test-python
test-python: $(DEV) ## Unit and integration tests of all but the Java: embedded stack, collectors, SQL, dashboards, docker, helm
	@$(PYTEST) -q --junit-xml=target/unit.xml -m "not long and not browser" $(TESTS)
	@.ci/check-skips target/unit.xml

.PHONY: e2e
e2e: $(DEV) ## End to end, under fire: real parts, killed, rotated, with lost lines
	@$(MAKE) --jobs 2 --output-sync=target test-e2e-own test-e2e-shared test-e2e-detecting

.PHONY: test-e2e-shared test-e2e-detecting test-e2e-own
test-e2e-shared test-e2e-detecting test-e2e-own: test-e2e-%: $(DEV)
	@$(PYTEST) -q --junit-xml=target/e2e-$*.xml -m "not long" --stack $* e2e
	@.ci/check-skips target/e2e-$*.xml

.PHONY: test-browser
test-browser: $(DEV) ## Dashboards in a real browser
	@$(PYTEST) -q -m "browser and not long" dashboards

.PHONY: pytest
pytest: $(DEV) ## Some Python tests: ARGUMENTS="sql/tests/test_books.py -k gap"
	@$(PYTEST) $(ARGUMENTS)

.PHONY: jars
jars: $(DEV)
	@echo 'select 1' | $(TAILRACE) fingerprint >/dev/null  # builds them if the sources have changed

# Of sql/tests what does not ask about tables of one server; test_shards.py compares the rest, in test-python.
ON_SHARDS := access alert_actions auditor_views books compliance_queries developer_queries evidence filters lag \
	logging_in_force plan_queries reviews security_queries server_facts trace_queries users

.PHONY: test-shards
test-shards: $(DEV) ## Queries, books, evidence and rights on a ClickHouse of two shards
	@SQL_TEST_SHARDS=2 $(PYTEST) -q -m "not long" $(ON_SHARDS:%=sql/tests/test_%.py)

.PHONY: test-long
test-long: $(DEV) ## What takes longer: long fuzzing, outages of minutes
	@$(MAVEN) verify -Plong
	@$(MAKE) fuzz
	@$(PYTEST) -q -m long $(TESTS) e2e
	@$(MAKE) test-shards

# Jazzer searches with one target in a JVM.
FUZZ_TARGETS := slowLog generalLog errorLog anyFormat lexer

.PHONY: fuzz
fuzz: ## Search for input that breaks a framer, parser or lexer, a minute for each target
	@for target in $(FUZZ_TARGETS); do echo "fuzzing $$target"; \
	    JAZZER_FUZZ=1 $(MAVEN) -Pfuzz --projects schemas,testing,query-core test \
	        -Dtest="FuzzTargetsTest#$$target" -Dsurefire.failIfNoSpecifiedTests=false; done

# For each area of the Java code: its module, the classes to change, and the tests that must notice.
MUTATED := lexer framers ledger correlation
IN_lexer := query-core
OF_lexer := io.tailrace.lexer.*
BY_lexer := io.tailrace.lexer.*,io.tailrace.fingerprint.*,io.tailrace.statement.*,io.tailrace.formats.GoldenTest
IN_framers := query-core
OF_framers := io.tailrace.slowlog.SlowLogFramer*,io.tailrace.generallog.GeneralLogFramer*,io.tailrace.errorlog.ErrorLogFramer*,io.tailrace.audit.*Framer*
BY_framers := io.tailrace.*Framer*Test,io.tailrace.formats.Forged*,io.tailrace.formats.GoldenTest,io.tailrace.formats.AuditPropertiesTest
IN_ledger := query-core
OF_ledger := io.tailrace.reassembly.*
BY_ledger := io.tailrace.reassembly.*
IN_correlation := detection
OF_correlation := io.tailrace.detection.correlation.*
BY_correlation := io.tailrace.detection.*

.PHONY: mutation
mutation: ## Score of the tests of lexer, framers, ledger and correlation (PIT): docs/TESTING.md; ONLY=lexer
	@for area in $(or $(ONLY),$(MUTATED)); do $(MAKE) "mutation-$$area"; done

.PHONY: $(MUTATED:%=mutation-%)
$(MUTATED:%=mutation-%): mutation-%:
	@echo $*
	@$(MAVEN) -Pmutation -pl $(IN_$*) -am -Dmutation.area=$* -DtargetClasses='$(OF_$*)' -DtargetTests='$(BY_$*)' $(OPTIONS) \
	    test-compile org.pitest:pitest-maven:mutationCoverage

.PHONY: chaos
chaos: $(DEV) ## Kill parts at random for MINUTES=10 while logs grow, then compare with the manifest
	@$(PYTHON) -m e2e.chaos --minutes $(or $(MINUTES),10)

.PHONY: lint
lint: lint-python lint-docker lint-shell lint-java ## Check style: Python, Dockerfiles, shell, Java

# .pre-commit-config.yaml runs these parts of it, and of Java's the formatting alone.
.PHONY: lint-python lint-docker lint-shell lint-java lint-java-format
lint-python: $(DEV)
	@$(RUFF) check $(PYTHON_CODE) .ci/check-skips .ci/licences .ci/timed .ci/costs
	@$(RUFF) format --check $(PYTHON_CODE) .ci/check-skips .ci/licences .ci/timed .ci/costs
	@PYTHONPATH=embedded $(DEV)/bin/lint-imports --no-logo --no-cache

lint-docker: $(DEV)
	@$(DEV)/bin/hadolint --config docker/.hadolint.yaml docker/Dockerfile docker/superset/Dockerfile

lint-shell:
	@if command -v shellcheck >/dev/null; then \
	    shellcheck bin/tailrace .ci/run docker/make-secrets docker/flink/tailrace-job; fi

lint-java:
	@$(MAVEN) -Plint,benchmarks spotless:check test-compile

lint-java-format:
	@$(MAVEN) -Pbenchmarks spotless:check

.PHONY: licences
licences: $(DEV) ## What it is made with: packages, versions, licences, into target/licences.md; fails on one that is not allowed
	@$(PYTHON) .ci/licences '$(CACHE)' target/licences.md

.PHONY: fmt
fmt: $(DEV) ## Format what can be formatted
	@$(RUFF) check --fix $(PYTHON_CODE)
	@$(RUFF) format $(PYTHON_CODE)
	@$(MAVEN) spotless:apply

##@ Documenting
.PHONY: screenshots
screenshots: $(DEV) ## Pictures of the running demo's dashboards, into docs/images; ONLY='slug …' for some
	@cd dashboards/tests && npm ci --silent --ignore-scripts --no-audit --no-fund && \
	    SUPERSET_URL=http://127.0.0.1:$(or $(TAILRACE_PORT_SUPERSET),18088) SECRETS='$(DATA)/secrets' \
	    node screenshots.mjs $(CURDIR)/docs/images $(ONLY)
	@$(PYTHON) -m dashboards.pictures $(or $(ONLY:%=docs/images/%.png),docs/images/*.png)

##@ Measuring
.PHONY: bench-e2e
bench-e2e: $(DEV) ## From a 131 MB slow log to queryable rows: entries/s, CPU and memory per part; or ARGUMENTS=--alerts
	@$(PYTHON) -m e2e.bench $(ARGUMENTS)

.PHONY: bench-detect
bench-detect: ## The detect job at its limit: events/s and per CPU-second, with 100 rules, 3,000 and the pack; OPTIONS for Maven
	@$(MAVEN) -pl flink-jobs -am verify -Dexcluded.tags=long -Dtest=None \
	    -Dit.test='$(or $(BENCHMARK),DetectionThroughputIT)' -Dsurefire.failIfNoSpecifiedTests=false \
	    -Dfailsafe.failIfNoSpecifiedTests=false $(OPTIONS)

.PHONY: bench-dashboards
bench-dashboards: $(DEV) ## Every dashboard over 10 million events of 90 days in a browser; ARGUMENTS=--only SLUG, --home DIR to keep it
	@$(PYTHON) -m dashboards.bench $(ARGUMENTS)

.PHONY: bench-peers
bench-peers: ## `tailrace digest` beside pt-query-digest and go-mysql; ARGUMENTS=--write for docs/BENCHMARKS.md
	@python3 benchmarks/peers/bench.py $(ARGUMENTS)

.PHONY: bench-core
bench-core: ## Framer, parser, lexer, fingerprint and detection by themselves (JMH); ARGUMENTS for JMH
	@$(MAVEN) -Pbenchmarks -pl schemas,testing,query-core,detection,plans,spans,benchmarks -Dmaven.test.skip=true package
	@java -jar stream-jobs/benchmarks/target/benchmarks.jar $(ARGUMENTS)

##@ Maintaining
SBOM := target/sbom

.PHONY: sbom
sbom: ## Lists of what our images hold besides their bases, in CycloneDX: target/sbom, a file for each jar and lock file
	@$(MAVEN) -pl cli,flink-jobs -am -Dmaven.test.skip=true compile \
	    org.cyclonedx:cyclonedx-maven-plugin:2.9.3:makeBom \
	    -DincludeProvidedScope=false -DincludeTestScope=false -DoutputFormat=json -DoutputName=sbom
	@[ -x $(CACHE)/cyclonedx/bin/cyclonedx-py ] || { python3 -m venv $(CACHE)/cyclonedx && \
	    $(CACHE)/cyclonedx/bin/pip install --quiet --disable-pip-version-check cyclonedx-bom==7.5.0; }
	@mkdir -p $(SBOM)
	@for job in cli flink-jobs; do cp stream-jobs/$$job/target/sbom.json $(SBOM)/$$job.cdx.json; done
	@$(CACHE)/cyclonedx/bin/cyclonedx-py requirements --output-reproducible -o $(SBOM)/tools-python.cdx.json \
	    embedded/requirements.lock
	@{ awk '/^[a-z]/ {taken = /^(clickhouse-connect|backports-zstd|lz4)==/} taken' embedded/superset/requirements.lock; \
	    cat docker/superset/requirements.lock; } | \
	    $(CACHE)/cyclonedx/bin/cyclonedx-py requirements --output-reproducible -o $(SBOM)/superset-python.cdx.json -
	@ls $(SBOM)

LOCK := $(CACHE)/pip-tools

# What Superset runs with is found for the oldest Python 3.11, whichever this one is: Debian 12's 3.11.2 needs a package
# more than 3.11.3.
.PHONY: lock
lock: $(DEV) ## Write the Python lock files anew from requirements*.in; what is pinned stays as long as it fits
	@$(DEV)/bin/python -m venv $(LOCK) && $(LOCK)/bin/pip install --quiet --disable-pip-version-check pip-tools==7.5.2
	@$(LOCK)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r embedded/superset/installer.lock
	@for name in embedded/{requirements,requirements-dev} docker/superset/requirements; do \
	    ( cd $$(dirname $$name) && name=$$(basename $$name) && \
	    CUSTOM_COMPILE_COMMAND="make lock" $(LOCK)/bin/pip-compile --quiet --generate-hashes \
	        --strip-extras --no-emit-index-url --no-emit-find-links --output-file $$name.lock $$name.in ); done
	@cd embedded/superset && for name in requirements installer; do \
	    UV_CUSTOM_COMPILE_COMMAND="make lock" $(LOCK)/bin/uv pip compile --quiet --generate-hashes --no-annotate \
	        --python-version 3.11 --output-file $$name.lock $$name.in; done

.PHONY: help
help: ## Show this
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	    /^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(DEV):
	@$(TAILRACE) --version >/dev/null  # has Debian's python3-venv installed
	@echo "installing ruff, pytest and what they need, once"
	@rm -rf $@ && python3 -m venv $@
	@$@/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $(DEV_LOCK) || { rm -rf $@; exit 1; }
	@touch $@
