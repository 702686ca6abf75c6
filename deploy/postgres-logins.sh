#!/bin/sh
# The logins of services and of /rest/v1 (docs/operations.md#embedded-engines-and-users), before the first migration, which
# grants both what they need.
psql --set ON_ERROR_STOP=1 --set service="$SERVICE_PASSWORD" --set gateway="$GATEWAY_PASSWORD" --username postgres --dbname answerscope <<'EOF'
CREATE ROLE answerscope LOGIN NOINHERIT PASSWORD :'service';
CREATE ROLE authenticator LOGIN NOINHERIT PASSWORD :'gateway';
EOF
