#pragma once
// The names that a file has under nvcc without an #include: they come from the headers of the host's C library.
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define __extension__
