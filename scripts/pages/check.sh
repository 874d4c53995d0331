#!/usr/bin/env bash
# Checks the JavaScript of the pages: format, lint, line length, types and tests.
# `check.sh --fix` formats and fixes what it can.
set -euo pipefail
cd "$(dirname "$0")"
assets=../../crates/report/src/html/assets tests=../../tests/pages
of_class=../../crates/class-server/src/pages/assets

npm ci --silent --no-audit --no-fund
check=(node_modules/.bin/biome check --config-path=. --error-on-warnings)
[ "${1:-}" != --fix ] || check+=(--write)
"${check[@]}" "$assets"/*.js "$assets"/*.ts "$of_class"/*.js "$tests"/*.mjs ./*.json
# Texts and comments, which the formatter leaves as they are.
if LC_ALL=C.UTF-8 grep -nE '^.{121,}' "$assets"/*.js "$assets"/*.ts "$of_class"/*.js "$tests"/*.mjs; then
  echo "lines of more than 120 characters" >&2
  exit 1
fi
node_modules/.bin/tsc --project .
node --test "$tests"/*.test.mjs
