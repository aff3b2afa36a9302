#!/bin/sh
# Records a launch of your program and tunes the kernel for exactly its inputs, in two commands.
#   recording.sh TUNE PROGRAM KERNEL [WORK_FOLDER]     PROGRAM: recorded_launch, KERNEL: axpy.cu
set -eu
export TUNER_TUNE=never  # otherwise the first launch would tune for a short time
tune=$1
program=$2
kernel=$3
work=${4:-$(mktemp -d)}
rm -rf "$work"
mkdir -p "$work"

# 1. Run the unchanged program. It stores the arguments of its launches of axpy.
TUNER_RECORD='axpy*' TUNER_RECORD_DIR="$work" "$program" "$kernel"

# 2. Tune the kernel with these arguments, at any time and on any machine.
"$tune" --recording "$work"/axpy-*.recording --trials 4 --quiet

# The program's next run is served with the result.
"$program" "$kernel" | tee "$work/served"
grep -q exact "$work/served"
