#pragma once
// This folder is searched after those of the author, so the next headers are the library's.
#include_next <float.h>
#include_next <limits.h>
#include_next <math.h>
#include_next <stddef.h>
#include_next <stdint.h>
#include_next <stdio.h>
#include_next <string.h>
#include_next <time.h>
