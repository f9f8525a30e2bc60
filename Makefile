# The commands of developers and CI. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# Many machines of CI set it. Each of the hundreds of Python processes that tests start would compile its modules again.
unexport PYTHONDONTWRITEBYTECODE

CACHE ?= $(or $(TAILRACE_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/tailrace)
DATA ?= $(or $(TAILRACE_HOME),$(CURDIR)/.tailrace)
TAILRACE := bin/tailrace

# The development environment: the packages of bin/tailrace, ruff and pytest. One per content of the lock file.
DEV_LOCK := embedded/requirements-dev.lock
DEV := $(CACHE)/python-dev/$(firstword $(shell sha256sum $(DEV_LOCK)))
PYTHON := PYTHONPATH=embedded:. $(DEV)/bin/python
PYTEST := $(PYTHON) -m pytest
RUFF := $(DEV)/bin/ruff
MAVEN := mvn --batch-mode --quiet --file stream-jobs/pom.xml

PYTHON_CODE := benchmarks collectors dashboards docker docs e2e embedded helm schemas sql \
	$(addprefix .ci/,check-skips costs decisions dist lengths licences links terms timed version)
TESTS := embedded/tests collectors schemas dashboards docker helm benchmarks/capacity

##@ Running
.PHONY: demo
demo: ## Install and start everything, feed two days of a shop, print a link to each of its stories
	@$(TAILRACE) demo

.PHONY: up
up: ## Start the stack
	@$(TAILRACE) up

.PHONY: down
down: ## Stop the stack; data stays
	@$(TAILRACE) down

.PHONY: status
status: ## Show the components: state, address, version, memory
	@$(TAILRACE) status

# The keys of the transparency log and of its witness are secrets: a log without its key would be refused permanently.
OF_DATA := data demo logs run secrets transparency watch witness

.PHONY: clean-data
clean-data: ## Stop the stack, remove data, logs and passwords; sources.yaml and installed components stay
	@$(TAILRACE) down
	@cd '$(DATA)' 2>/dev/null && rm -rf $(OF_DATA) || true

##@ Checking
# The longest suites start first. The SQL tests are among them, because they use one core: as the last suite to end they would
# leave the other one idle.
SUITES := browser sql e2e-own e2e-shared e2e-detecting java python

# Four suites at a time keep two cores busy. More would cost more: a stack uses the cores also while its tests wait.
# `make test ALSO=lint AFTER=licences`, as in .ci/run, checks the style beside the first suites, and at the end the licences
# of the components that the suites have installed.
.PHONY: test
test: $(DEV) ## All tests that must pass before a merge: about 17 minutes on two idle cores
	@rm -f target/costs/*.json
	@$(MAKE) --jobs 4 --keep-going --output-sync=target timed-jars $(ALSO:%=timed-%) $(SUITES:%=timed-%) && result=0 || \
	    result=$$?; $(AFTER:%=$(MAKE) timed-% || result=$$?;) $(PYTHON) .ci/costs; exit $$result

# All suites need the jobs' jars. The Java tests use the classes that `make lint` has compiled.
.PHONY: $(SUITES:%=timed-%) timed-lint timed-jars timed-licences
$(SUITES:%=timed-%): timed-%: timed-jars
	@.ci/timed $* $(MAKE) test-$*

timed-java: $(ALSO:%=timed-%)

timed-lint timed-jars timed-licences: timed-%:
	@.ci/timed $* $(MAKE) $*

# Tests that start no server and build no program.
QUICK := embedded/tests collectors schemas dashboards/tests/test_assets.py dashboards/tests/test_chart_style.py \
	dashboards/tests/test_dashboard_tabs.py dashboards/tests/test_defaults.py helm/tests/test_values.py e2e/compare benchmarks/capacity
STARTING := supervisor supervisor_sources cli demo demo_shop_detect

.PHONY: test-quick
test-quick: $(DEV) ## Lint, unit tests and contracts, without any server: about 2 minutes on two idle cores
	@$(MAKE) --jobs 2 --output-sync=target quick-java quick-python lint-python lint-docs lint-docker lint-shell

# Maven once: it checks the style of the Java code, compiles it under Error Prone, and runs the tests. It takes longer than
# all others, so that two modules at a time keep the second core busy after them.
.PHONY: quick-java quick-python
quick-java:
	@$(MAVEN) -T 2 -Plint,benchmarks spotless:check test -Dexcluded.tags='long | benchmark | slow'

quick-python: $(DEV)
	@$(PYTEST) -q -m "not long and not browser" $(STARTING:%=--ignore embedded/tests/test_%.py) $(QUICK)

# `make lint` writes it: all sources that are not newer have been compiled.
COMPILED := stream-jobs/target/lint/compiled
COMPILED_SOURCES := stream-jobs/pom.xml $(wildcard stream-jobs/*/pom.xml stream-jobs/*/src) schemas/avro schemas/history

# It tests what `make lint` has compiled, or compiles it the same way. `verify` alone would compile all of it again: the
# jars that it makes are newer than the classes. It tests two modules at a time, because it is one of the last suites to end.
.PHONY: test-java
test-java: ## Unit and integration tests of schemas and stream-jobs
	@[ -e $(COMPILED) ] && [ -z "$$(find $(COMPILED_SOURCES) -newer $(COMPILED) -print -quit)" ] || \
	    $(MAVEN) -Plint test-compile
	@$(MAVEN) -T 2 -Plint verify -Dmaven.compiler.useIncrementalCompilation=false
	@.ci/check-skips stream-jobs/*/target/lint/*-reports

.PHONY: test-python
test-python: $(DEV) ## Unit and integration tests in Python: stack, collectors, dashboards, docker, helm
	@$(PYTEST) -q --junit-xml=target/unit.xml -m "not long and not browser and not replicas and not kubernetes" $(TESTS)
	@.ci/check-skips target/unit.xml

.PHONY: test-sql
test-sql: $(DEV) ## Every SQL query, migrations and the ledger on a real ClickHouse
	@$(PYTEST) -q --junit-xml=target/sql.xml -m "not long and not replicas" sql
	@.ci/check-skips target/sql.xml

.PHONY: e2e
e2e: $(DEV) ## End-to-end tests with real components, crashes, rotations and lost lines
	@$(MAKE) --jobs 2 --output-sync=target test-e2e-own test-e2e-shared test-e2e-detecting

.PHONY: test-e2e-shared test-e2e-detecting test-e2e-own
test-e2e-shared test-e2e-detecting test-e2e-own: test-e2e-%: $(DEV)
	@$(PYTEST) -q --junit-xml=target/e2e-$*.xml -m "not long and not replicas and not brokers and not flink_cluster" --stack $* --ignore e2e/compare e2e
	@.ci/check-skips target/e2e-$*.xml

.PHONY: test-browser
test-browser: $(DEV) ## Dashboards in a real browser
	@$(PYTEST) -q -m "browser and not long" dashboards

.PHONY: api-reference
api-reference: $(DEV) ## Write docs/openapi.json, the OpenAPI document of the REST API
	@$(PYTHON) -m tailrace.api.document > docs/openapi.json

.PHONY: pytest
pytest: $(DEV) ## Selected Python tests: ARGUMENTS="sql/tests/test_ledger.py -k gap"
	@$(PYTEST) $(ARGUMENTS)

.PHONY: jars
jars: $(DEV)
	@echo 'select 1' | $(TAILRACE) fingerprint >/dev/null  # builds them if the sources have changed

# All of sql/tests except those that test one server itself, its files or its schema. test_shards.py, in test-sql,
# compares schema and permissions.
NOT_ON_SHARDS := answers_of_a_full_disk archive_command archive_deletion ledger_speed bytes_behind clickhouse_backup \
	erasure erasure_backup evidence_frameworks hold_command hostile_clients legal_holds many_servers migrations \
	projections renamed_objects retention_overview reveal rewind rights shards tables transparency_proofs
ON_SHARDS = $(filter-out $(NOT_ON_SHARDS:%=sql/tests/test_%.py),$(sort $(wildcard sql/tests/test_*.py)))

.PHONY: test-shards
test-shards: $(DEV) ## Queries, ledger, evidence and permissions on a ClickHouse with two shards
	@SQL_TEST_SHARDS=2 $(PYTEST) -q -m "not long and not replicas" $(ON_SHARDS)

.PHONY: test-replicas
test-replicas: $(DEV) ## Replicated ClickHouse servers with ZooKeeper, killed while rows arrive: docs/TESTING.md
	@$(PYTEST) -q -m replicas --junit-xml=target/replicas.xml sql/tests e2e/test_replicated_rows.py
	@.ci/check-skips target/replicas.xml

.PHONY: test-brokers
test-brokers: $(DEV) ## Three Kafka brokers that are killed, filled and grown while logs are read: docs/TESTING.md
	@$(PYTEST) -q -m brokers --junit-xml=target/brokers.xml e2e/test_brokers.py
	@.ci/check-skips target/brokers.xml

.PHONY: test-flink
test-flink: $(DEV) ## The jobs on a Flink cluster with ZooKeeper and S3, killed while logs are read: docs/TESTING.md
	@$(PYTEST) -q -m flink_cluster --junit-xml=target/flink.xml e2e
	@.ci/check-skips target/flink.xml

.PHONY: test-containers
test-containers: $(DEV) ## Our images in containers, from the chart's manifests, with podman and runc: docs/TESTING.md
	@$(PYTEST) -q --junit-xml=target/containers.xml -m "long or not long" docker/tests/test_pods.py docker/tests/test_containers*.py \
	    docker/tests/test_hosts.py
	@.ci/check-skips target/containers.xml

.PHONY: test-long
test-long: $(DEV) ## Long tests: fuzzing, outages of minutes
	@$(MAVEN) verify -Plong
	@$(MAKE) fuzz
	@$(PYTEST) -q -m long $(TESTS) sql e2e
	@$(MAKE) test-shards

# Jazzer runs one target per JVM. By default all methods of FuzzTargetsTest that take bytes and return nothing.
FUZZ_TARGETS = $(shell sed -n 's/^    void \([A-Za-z]*\).byte.*/\1/p' \
	stream-jobs/query-core/src/test/java/io/tailrace/fuzz/FuzzTargetsTest.java)

.PHONY: test-kubernetes
test-kubernetes: $(DEV) ## The chart on a real API server with simulated nodes; the first run builds programs: 25 CPU-minutes
	@$(PYTEST) -q --junit-xml=target/kubernetes.xml -m kubernetes helm

.PHONY: fuzz
fuzz: ## Search for input that breaks a framer, parser or lexer, a minute for each target; FUZZ_TARGETS=lexer for one
	@for target in $(FUZZ_TARGETS); do echo "fuzzing $$target"; \
	    JAZZER_FUZZ=1 $(MAVEN) -Pfuzz --projects schemas,testing,query-core test \
	        -Dtest="FuzzTargetsTest#$$target" -Dsurefire.failIfNoSpecifiedTests=false; done

# For each area of the Java code: its module, the mutated classes, and the tests that must detect mutations.
MUTATED := lexer framers ledger correlation
IN_lexer := query-core
OF_lexer := io.tailrace.lexer.*
BY_lexer := io.tailrace.lexer.*,io.tailrace.fingerprint.*,io.tailrace.statement.*,io.tailrace.formats.GoldenTest
IN_framers := query-core
OF_framers := io.tailrace.*Framer*
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

.PHONY: compare
compare: $(DEV) ## Compare all outputs with those of another version: BASE=<git revision>; ARGUMENTS=--stack for all tables
	@$(PYTHON) -m e2e.compare $(or $(BASE),$(error BASE is not set: make compare BASE=<git revision>)) $(ARGUMENTS)

# The tests in which the collector matters. They take ten minutes on two idle cores.
WITH_COLLECTOR := collector failing_broker bad_input loss rotation coverage outages pipeline

.PHONY: test-fluent-bit
test-fluent-bit: $(DEV) ## The collector's end-to-end tests with another Fluent Bit: FLUENT_BIT=/path/to/fluent-bit
	@TAILRACE_FLUENT_BIT=$(or $(FLUENT_BIT),$(error FLUENT_BIT is not set: make test-fluent-bit FLUENT_BIT=<path>)) \
	    $(PYTEST) -q -m "not long" $(WITH_COLLECTOR:%=e2e/test_%.py)

.PHONY: chaos
chaos: $(DEV) ## Kill random components for MINUTES=10 while logs grow; automatic repair; compare with the manifest
	@$(PYTHON) -m e2e.chaos --minutes $(or $(MINUTES),10)

.PHONY: soak
soak: $(DEV) ## The whole stack for HOURS=1 under load and random faults: everything is exact, nothing grows; RUN=dir to continue
	@$(PYTHON) -m e2e.soak --hours $(or $(HOURS),1) $(RUN:%=--home %) $(ARGUMENTS)

.PHONY: lint
lint: lint-python lint-docs lint-docker lint-shell lint-java ## Check style: Python, links, Dockerfiles, shell, Java

# Spotless names a command of Maven that needs the directory of its pom.xml.
OR_FMT := || { echo "lint: \`make fmt\` corrects what can be formatted, in Python and Java" >&2; exit 1; }

# Where the root packages of import-linter are.
IMPORTED := embedded:embedded/superset:collectors/capture:collectors/census:collectors/pull

# .pre-commit-config.yaml runs these targets separately, and for Java only the formatting.
.PHONY: lint-python lint-docs lint-docker lint-shell lint-java lint-java-format
lint-python: $(DEV)
	@.ci/version --check
	@$(RUFF) check $(PYTHON_CODE) $(OR_FMT)
	@$(RUFF) format --check $(PYTHON_CODE) $(OR_FMT)
	@PYTHONPATH=$(IMPORTED) $(DEV)/bin/lint-imports --no-logo --no-cache

lint-docs: $(DEV)
	@.ci/links
	@.ci/decisions
	@python3 docs/site/stage.py target/docs
	@$(PYTHON) .ci/terms
	@$(PYTHON) .ci/lengths

lint-docker: $(DEV)
	@$(DEV)/bin/hadolint --config docker/.hadolint.yaml docker/Dockerfile docker/superset/Dockerfile

lint-shell:
	@if command -v shellcheck >/dev/null; then \
	    shellcheck bin/tailrace .ci/run docker/make-secrets docker/flink/tailrace-job collectors/host/package/*.sh; fi

lint-java:
	@mkdir -p $(dir $(COMPILED)) && touch $(COMPILED).begun
	@$(MAVEN) -Plint,benchmarks spotless:check test-compile $(OR_FMT)
	@mv $(COMPILED).begun $(COMPILED)

lint-java-format:
	@$(MAVEN) -Pbenchmarks spotless:check $(OR_FMT)

.PHONY: licences
licences: $(DEV) ## Packages, versions and licences into target/licences.md; fails on a licence that is not allowed
	@$(PYTHON) .ci/licences '$(CACHE)' target/licences.md

.PHONY: fmt
fmt: $(DEV) ## Format the code
	@$(RUFF) check --fix-only $(PYTHON_CODE)  # `--fix` fails for a line that `format` shortens
	@$(RUFF) format $(PYTHON_CODE)
	@$(MAVEN) -Pbenchmarks spotless:apply

##@ Documenting
# The Java commands are described by their own code.
COMMANDS_IN_JAVA := embedded/tailrace/cli/help/java_commands.json

.PHONY: cli-reference
cli-reference: jars ## docs/CLI.md from the parsers of all commands, docs/SEARCH.md from the list of fields
	@$(PYTHON) -m tailrace_local.reference java $(COMMANDS_IN_JAVA)
	@$(PYTHON) -m tailrace_local.reference page docs/CLI.md
	@$(PYTHON) -m tailrace.search.reference docs/SEARCH.md

.PHONY: man
man: $(DEV) ## Manual pages into target/man: tailrace(1), tailrace-digest(1) …
	@$(PYTHON) -m tailrace_local.reference man target/man
	@echo "target/man; to read one: man -l target/man/tailrace.1"

.PHONY: screenshots
screenshots: $(DEV) ## Pictures of the running demo's dashboards and pages into docs/images; ONLY='NAME …' for some
	@cd dashboards/tests && npm ci --silent --ignore-scripts --no-audit --no-fund
	@$(PYTHON) -m dashboards.screenshots http://127.0.0.1:$(or $(TAILRACE_PORT_SUPERSET),18088) '$(DATA)/secrets' $(ONLY)

.PHONY: screenshots-all
screenshots-all: $(DEV) ## The running demo's dashboards and pages in two sizes, light and dark, into docs/images/gallery; ONLY, RESUME=1
	@cd dashboards/tests && npm ci --silent --ignore-scripts --no-audit --no-fund
	@RESUME=$(RESUME) $(PYTHON) -m dashboards.gallery http://127.0.0.1:$(or $(TAILRACE_PORT_SUPERSET),18088) '$(DATA)/secrets' \
	    '$(CURDIR)/target/screenshots' $(ONLY)

DOCS := $(CACHE)/docs/$(firstword $(shell sha256sum docs/site/requirements.lock))

$(DOCS):
	@rm -rf $@ && python3 -m venv $@
	@$@/bin/pip install --quiet --disable-pip-version-check --require-hashes -r docs/site/requirements.lock || { rm -rf $@; exit 1; }

.PHONY: docs
docs: $(DOCS) ## The manual as a site, into site/: tutorials, how-to guides, reference, explanation
	@python3 docs/site/stage.py target/docs
	@$(DOCS)/bin/mkdocs build --quiet --config-file docs/site/mkdocs.yml
	@echo "site/index.html; to read it while you write: $(DOCS)/bin/python -m http.server --bind 127.0.0.1 --directory site"

##@ Measuring
.PHONY: bench-e2e
bench-e2e: $(DEV) ## From a 131 MB slow log to queryable rows: entries/s, CPU and memory per component; or ARGUMENTS=--alerts
	@$(PYTHON) -m e2e.bench $(ARGUMENTS)

.PHONY: bench-flink-state
bench-flink-state: $(DEV) ## Checkpoints and restores of the normalize job with gigabytes of RocksDB state; ARGUMENTS="--gigabytes 1 2 4"
	@$(PYTHON) -m e2e.bench_flink_state $(ARGUMENTS)

.PHONY: bench-flink-parallelism
bench-flink-parallelism: $(DEV) ## CPU-seconds of the normalize job for a million entries at parallelism 1, 2 and 4 on a Flink cluster
	@$(PYTHON) -m e2e.bench_flink_parallelism

.PHONY: bench-signing
bench-signing: $(DEV) ## CPU time and storage of signed logs and leaves of the transparency log: two stacks with the same slow log
	@$(PYTHON) -m e2e.bench_signing $(ARGUMENTS)

.PHONY: bench-pull
bench-pull: $(DEV) ## Megabytes per CPU-second of the puller for each kind of log, 100 MB each; ARGUMENTS="--only rds --megabytes 300"
	@$(PYTHON) -m e2e.bench_pull $(ARGUMENTS)

.PHONY: bench-pull-kafka
bench-pull-kafka: $(DEV) ## Megabytes per CPU-second into Kafka: Fluent Bit with a file, and the puller with each kind of log, in one run
	@PYTHONPATH=embedded:collectors/census:. $(DEV)/bin/python -m e2e.bench_pull_kafka $(ARGUMENTS)

.PHONY: bench-instances
bench-instances: $(DEV) ## The stack with many servers that have little traffic each: INSTANCES="10 100 1000 10000"; ARGUMENTS=--help
	@$(PYTHON) -m e2e.bench_instances $(if $(INSTANCES),--instances $(INSTANCES)) $(ARGUMENTS)

.PHONY: capacity
capacity: $(DEV) ## Servers, failures and cost for an amount of logs, simulated from measured service times; ARGUMENTS="--terabytes 10"
	@$(PYTHON) -m benchmarks.capacity $(ARGUMENTS)

.PHONY: bench-pull-instances
bench-pull-instances: $(DEV) ## CPU time, memory, requests and lag of one puller for 1,000 instances in compressed time; ARGUMENTS="--minutes 60" or "--direct"
	@PYTHONPATH=embedded:collectors/pull:collectors/capture:collectors/census:. $(DEV)/bin/python -m e2e.bench_pull_instances $(ARGUMENTS)

.PHONY: bench-digests
bench-digests: $(DEV) ## CPU time of a MySQL 8.0 for samples of 10,000 statement digests; counts under load; ARGUMENTS="--samples 60"
	@PYTHONPATH=embedded:collectors/capture:. $(DEV)/bin/python -m e2e.bench_digests $(ARGUMENTS)

.PHONY: bench-detect
bench-forwarding: $(DEV) ## Events per second and CPU-seconds of forwarding to a local HTTP Event Collector; ARGUMENTS=--processes 2
	@$(PYTHON) -m e2e.bench_forwarding $(ARGUMENTS)

bench-detect: ## Throughput of the detect job in events/s and per CPU-second, with 100 rules, 3,000 and ours; OPTIONS for Maven
	@$(MAVEN) -pl flink-jobs -am verify -Dexcluded.tags=long -Dtest=None \
	    -Dit.test='$(or $(BENCHMARK),DetectionThroughputIT)' -Dsurefire.failIfNoSpecifiedTests=false \
	    -Dfailsafe.failIfNoSpecifiedTests=false $(OPTIONS)

.PHONY: bench-pseudonyms
bench-pseudonyms: ## CPU-seconds per million entries and stored bytes with and without pseudonyms; OPTIONS for Maven
	@$(MAVEN) -pl flink-jobs -am test -Dexcluded.tags=long -Dtest=PseudonymCostIT -Dtest.jvm=-XX:+UseSerialGC \
	    -Dsurefire.failIfNoSpecifiedTests=false $(OPTIONS)

.PHONY: bench-rules
bench-rules: $(DEV) ## CPU time of rules, correlations and detectors per event, with the pack and 3,000 rules; ARGUMENTS="--passes 8"
	@$(MAVEN) -Pbenchmarks -pl schemas,testing,query-core,detection,plans,spans,benchmarks -Dmaven.test.skip=true package
	@$(PYTHON) benchmarks/detection/bench.py $(ARGUMENTS)

.PHONY: bench-rebalancing
bench-rebalancing: $(DEV) ## A shard added to two with 10 million events, and removed: time, rows/s, CPU, disk; ARGUMENTS="--events 1000000"
	@$(PYTHON) -m benchmarks.rebalancing.bench $(ARGUMENTS)

.PHONY: bench-dashboards
bench-dashboards: $(DEV) ## Every dashboard over 10 million events of 90 days in a browser; ARGUMENTS=--only SLUG, --home DIR to keep it
	@$(PYTHON) -m dashboards.bench $(ARGUMENTS)

.PHONY: bench-pages
bench-pages: $(DEV) ## The queries of work pages over 10 million events of 90 days; ARGUMENTS=--verbose, --only TITLE, --home DIR to keep it
	@PYTHONPATH=embedded:embedded/superset:. $(DEV)/bin/python -m dashboards.bench.pages $(ARGUMENTS)

.PHONY: bench-peers
bench-peers: ## `tailrace digest` compared with pt-query-digest and go-mysql; ARGUMENTS=--write for docs/BENCHMARKS.md
	@python3 benchmarks/peers/bench.py $(ARGUMENTS)

.PHONY: bench-core
bench-core: ## Framer, parser, lexer, fingerprint and detection separately (JMH); ARGUMENTS for JMH
	@$(MAVEN) -Pbenchmarks -pl schemas,testing,query-core,detection,plans,spans,benchmarks -Dmaven.test.skip=true package
	@java -jar stream-jobs/benchmarks/target/benchmarks.jar $(ARGUMENTS)

##@ Maintaining
SBOM := target/sbom

.PHONY: sbom
sbom: ## Packages of our images without their base images, in CycloneDX: target/sbom, a file per jar and lock file
	@$(MAVEN) -pl cli,flink-jobs -am -Dmaven.test.skip=true compile \
	    org.cyclonedx:cyclonedx-maven-plugin:2.9.3:makeBom \
	    -DincludeProvidedScope=false -DincludeTestScope=false -DoutputFormat=json -DoutputName=sbom
	@[ -x $(CACHE)/cyclonedx/bin/cyclonedx-py ] || { python3 -m venv $(CACHE)/cyclonedx && \
	    $(CACHE)/cyclonedx/bin/pip install --quiet --disable-pip-version-check cyclonedx-bom==7.5.0; }
	@mkdir -p $(SBOM)
	@for job in cli flink-jobs; do cp stream-jobs/$$job/target/sbom.json $(SBOM)/$$job.cdx.json; done
	@$(CACHE)/cyclonedx/bin/cyclonedx-py requirements --output-reproducible -o $(SBOM)/tools-python.cdx.json \
	    embedded/requirements.lock
	@{ awk '/^[a-z]/ {taken = /^(clickhouse-connect|confluent-kafka|backports-zstd|lz4)==/} taken' embedded/superset/requirements.lock; \
	    cat docker/superset/requirements.lock; } | \
	    $(CACHE)/cyclonedx/bin/cyclonedx-py requirements --output-reproducible -o $(SBOM)/superset-python.cdx.json -
	@ls $(SBOM)

.PHONY: dist
dist: $(DEV) jars sbom ## The files of a release, into dist/: wheels, jars, packages, chart, rule pack, SBOM, checksums
	@$(PYTHON) .ci/dist dist $(SBOM)
	@cd dist && sha256sum --quiet --check SHA256SUMS && ls

LOCK := $(CACHE)/pip-tools

SAVEPOINTS := stream-jobs/flink-jobs/src/test/resources/savepoints

.PHONY: release-state
release-state: $(DEV) ## Savepoints, rows and messages of a release for SavepointRestoreIT: NAME=v0.1.0, REPOSITORY=its checkout
	@$(PYTHON) -m e2e.release_state $(SAVEPOINTS)/$(NAME) $(if $(REPOSITORY),--repository $(REPOSITORY))

# Superset's packages are resolved for the oldest Python 3.11: Debian 12's 3.11.2 needs a package more than 3.11.3.
.PHONY: lock
lock: $(DEV) ## Write the Python lock files again from requirements*.in; fitting pins stay
	@$(DEV)/bin/python -m venv $(LOCK) && $(LOCK)/bin/pip install --quiet --disable-pip-version-check pip-tools==7.5.2
	@$(LOCK)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r embedded/superset/installer.lock
	@for name in embedded/{requirements,requirements-dev} docker/superset/requirements docs/site/requirements; do \
	    ( cd $$(dirname $$name) && name=$$(basename $$name) && \
	    CUSTOM_COMPILE_COMMAND="make lock" $(LOCK)/bin/pip-compile --quiet --generate-hashes \
	        --strip-extras --no-emit-index-url --no-emit-find-links --output-file $$name.lock $$name.in ); done
	@cd embedded/superset && for name in requirements ldap installer; do \
	    UV_CUSTOM_COMPILE_COMMAND="make lock" $(LOCK)/bin/uv pip compile --quiet --generate-hashes --no-annotate \
	        --python-version 3.11 --output-file $$name.lock $$name.in; done

.PHONY: help
help: ## Show this
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	    /^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(DEV):
	@$(TAILRACE) --version >/dev/null  # installs Debian's python3-venv
	@echo "installing ruff, pytest and their dependencies, once"
	@rm -rf $@ && python3 -m venv $@
	@$@/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $(DEV_LOCK) || { rm -rf $@; exit 1; }
	@touch $@
