/// Bytes beside a kernel's static shared memory. A kernel that writes past the end of a `__shared__` array changes them
/// and nothing else. Compiled by itself with a name for TUNER_HOST_GUARD and a number of TUNER_HOST_GUARD_BYTES. The
/// object is linked before or after the kernel's: the linker keeps this order.

#include "tuner_host_abi.h"

static thread_local unsigned char guard[TUNER_HOST_GUARD_BYTES];

extern "C" __attribute__((visibility("default"))) tuner_host::Guard TUNER_HOST_GUARD() { return {guard, sizeof guard}; }
