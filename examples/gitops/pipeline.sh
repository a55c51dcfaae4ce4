#!/bin/sh
# What the pipeline runs, beside postern.yaml: `check` shows what would change, `apply` does it.
set -eu
cd "$(dirname "$0")"

case "${1:-}" in
  check) dry=--dry-run ;;
  apply) dry= ;;
  *) echo "pipeline.sh check|apply" >&2; exit 2 ;;
esac

${POSTERN:-postern} check >/dev/null
for file in teams/*.yaml; do
  team=$(basename "$file" .yaml)
  ${POSTERN:-postern} resources apply "$file" --prune "team=$team" $dry
done
