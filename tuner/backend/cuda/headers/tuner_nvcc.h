#pragma once
// What nvcc gives a file without an #include, by the headers of the host's C library.
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define __extension__
