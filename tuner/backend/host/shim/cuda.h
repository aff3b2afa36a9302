#pragma once
/// The names of the driver's interface that device code can use; the rest is in tuner_host.h.
#include "tuner_host.h"

using CUdeviceptr = unsigned long long;
using CUtexObject = unsigned long long;
using CUsurfObject = unsigned long long;
#ifndef CUDA_VERSION
#define CUDA_VERSION 13000
#endif
