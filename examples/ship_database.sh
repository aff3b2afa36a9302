#!/bin/sh
# Tunes on one machine, ships the result as text, and serves it read-only on another, as a packager would.
#   ship_database.sh TUNE [WORK_FOLDER]     TUNE: the tune program
set -eu
tune=$1
work=${2:-$(mktemp -d)}
mkdir -p "$work"

# 1. Tune into a database of its own. A real job tunes several sizes, without a limit on trials.
"$tune" --kernel sumMatrix2D --size nx=96,ny=64 --trials 4 --db "$work/tuned.db" --quiet

# 2. What was learnt, as text that can be reviewed and kept in version control.
"$tune" db export --db "$work/tuned.db" "$work/my_gpu.jsonl"
grep -c sumMatrix2D "$work/my_gpu.jsonl"

# 3. A fresh machine imports it and is served without measuring anything.
"$tune" db import --db "$work/fresh.db" "$work/my_gpu.jsonl"
"$tune" show sumMatrix2D --why --db "$work/fresh.db" --size nx=96,ny=64
