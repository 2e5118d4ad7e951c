#!/bin/sh
# Run once by PostgreSQL's image: one role owns the tables, another serves (docs/team-operations.md).
set -eu
psql -v ON_ERROR_STOP=1 -v owner="$POSTGRES_PASSWORD" -v service="$SERVICE_PASSWORD" <<'SQL'
CREATE ROLE holdfast_owner LOGIN PASSWORD :'owner';
CREATE ROLE holdfast LOGIN PASSWORD :'service';
CREATE DATABASE holdfast OWNER holdfast_owner;
SQL
