#!/bin/sh
# From a launch of one's program to a kernel that is tuned for its very inputs: two commands.
#   capture.sh TUNE PROGRAM KERNEL [WORK_FOLDER]     PROGRAM: captured_launch, KERNEL: axpy.cu
set -eu
export TUNER_TUNE=never  # or the first launch would tune, for as long as a program can wait
tune=$1
program=$2
kernel=$3
work=${4:-$(mktemp -d)}
rm -rf "$work"
mkdir -p "$work"

# 1. The program as it is, told to leave what its launches of axpy were given.
TUNER_CAPTURE='axpy*' TUNER_CAPTURE_DIR="$work" "$program" "$kernel"

# 2. The kernel tuned with that, wherever and whenever there is time.
"$tune" --capture "$work"/axpy-*.capture --trials 4 --quiet

# The program's next run is served with it.
"$program" "$kernel" | tee "$work/served"
grep -q exact "$work/served"
