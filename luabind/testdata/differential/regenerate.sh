#!/bin/sh
# Writes cases.jsonl anew: each generated program with the answer of PUC Lua 5.1 (lua5.1 must be installed).
set -eu
cd "$(dirname "$0")"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go run . > "$dir/programs"
lua5.1 answer.lua < "$dir/programs" > cases.jsonl
