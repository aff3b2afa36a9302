// Kernels for timing other kernels: hold the stream until the host has queued all work, restore memory, run before
// them, evict L2, and read clocks.

namespace tuner_support {

using Bits = unsigned long long;

struct Stamp {
  Bits cycles;       // SM clock
  Bits nanoseconds;  // the GPU's timer
  unsigned sm;       // cycles of different SMs are not comparable
  unsigned expired;  // hold() gave up waiting
};

__device__ Bits nanoseconds() {
  Bits now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__device__ void write_stamp(volatile Stamp* to, unsigned expired) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  to->sm = sm;
  to->expired = expired;
  to->nanoseconds = nanoseconds();
  to->cycles = clock64();
}

// One thread that keeps the stream busy until *released reaches \p ticket (counting modulo 2^32). It gives up after
// \p limit_ns: a host that died, or that waits for the device itself, must not block the stream for ever.
__global__ void hold(const volatile unsigned* released, unsigned ticket, Bits limit_ns, Stamp* began, Stamp* ended) {
  write_stamp(began, 0);
  const Bits start = nanoseconds();
  bool expired = false;
  while (static_cast<int>(*released - ticket) < 0 && !expired) expired = nanoseconds() - start > limit_ns;
  write_stamp(ended, expired);
}

__global__ void stamp(Stamp* to) { write_stamp(to, 0); }

struct SmallRefill {
  unsigned char* to;
  const unsigned char* from;  // null: filled with `value`
  unsigned bytes, value;
};

struct SmallRefills {
  SmallRefill of_block[128];
};

// Each block writes one piece of memory.
__global__ void refill(const SmallRefills refills) {
  const SmallRefill& one = refills.of_block[blockIdx.x];
  for (unsigned i = threadIdx.x; i < one.bytes; i += blockDim.x) one.to[i] = one.from ? one.from[i] : one.value;
  __threadfence();  // for a launch after it that begins before this one has ended
}

// Stands for a program's kernel before the timed one: occupies the device for \p ns and touches no memory.
__global__ void lead(Bits ns) {
  const Bits start = nanoseconds();
  while (nanoseconds() - start < ns) {
  }
}

// Reads \p count 16-byte words (twice the size of L2). This evicts all other data and leaves only clean lines. A memset
// would leave dirty lines, which would be written back while the next kernel is timed.
__global__ void flush(const uint4* data, Bits count, unsigned* sink) {
  const Bits stride = gridDim.x * static_cast<Bits>(blockDim.x);
  unsigned seen = 0;
#pragma unroll 4
  for (Bits i = blockIdx.x * static_cast<Bits>(blockDim.x) + threadIdx.x; i < count; i += stride) {
    const uint4 word = data[i];
    seen |= word.x | word.y | word.z | word.w;
  }
  if (seen != 0) *sink = seen;  // never, because the data is zero, but the compiler cannot know that
}

}  // namespace tuner_support
