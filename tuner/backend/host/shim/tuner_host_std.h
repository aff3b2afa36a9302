#pragma once
// The names of std that a file has under nvcc without an #include. Not in tuner_host.h: many kernels need none of them.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <utility>
#if __has_include(<bits/stl_algobase.h>)
#include <bits/stl_algobase.h>
#else
#include <algorithm>
#endif
