#pragma once
// What stands before each tile, in one pass: a block looks back at what the blocks before it have published.
// Source: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016).

#include "scan.cuh"

// The state that a tile's block has published: nothing yet, the tile's own value, or that of all tiles up to it. State and
// value are one 64-bit word, never seen half written (PTX ISA, "Memory Consistency Model"), and nothing else is read
// because of it: no fence is needed.
enum State : unsigned { nothing, of_tile, of_all };
constexpr unsigned value_bits = 62;
template <typename V>
__device__ uint64 publication(State state, V value) {
  const uint64 bits = sizeof(V) == 4 ? static_cast<unsigned>(value) : value;
  return static_cast<uint64>(state) << value_bits | bits;
}

// The sum of the values of all tiles before this one; publishes what comes out. Called by one warp. Lane 0 looks at the
// tile before, lane 1 at the one before that: back to the nearest that knows all before it. Tiles are numbered in the order
// in which their blocks started, so that the blocks waited for run or have ended.
template <typename V>
__device__ V look_back(volatile uint64* states, unsigned tile, V value) {
  if (tile == 0) {
    if (lane() == 0) states[0] = publication(of_all, value);
    return V(0);
  }
  if (lane() == 0) states[tile] = publication(of_tile, value);
  V before = 0;
  for (unsigned next = tile;;) {  // tiles below `next` are still to be looked at; one of them knows all before it
    unsigned needed, complete;
    uint64 seen;
    do {
      seen = lane() < next ? states[next - 1 - lane()] : publication(of_all, V(0));
      complete = __ballot_sync(all_lanes, seen >> value_bits == of_all);
      needed = complete ^ (complete - 1);  // the lanes up to the first that knows all; where none does, all lanes
    } while (__any_sync(all_lanes, (needed >> lane() & 1) != 0 && seen >> value_bits == nothing));
    V part = (needed >> lane() & 1) != 0 ? static_cast<V>(seen & ((1ull << value_bits) - 1)) : V(0);
#pragma unroll
    for (unsigned offset = warp / 2; offset > 0; offset /= 2)
      part = plus(part, __shfl_xor_sync(all_lanes, part, offset));
    before = plus(part, before);
    if (complete != 0) break;
    next -= warp;
  }
  if (lane() == 0) states[tile] = publication(of_all, plus(before, value));
  return before;
}

template <unsigned threads, unsigned items>
__device__ unsigned count_tiles(uint64 n) {
  return n == 0 ? 1 : static_cast<unsigned>((n + threads * items - 1) / (threads * items));
}

template <unsigned threads, unsigned items>
__global__ void clearStates(uint64 n, uint64* states, unsigned* ticket) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count_tiles<threads, items>(n)) states[i] = publication(nothing, 0);
  if (i == 0) *ticket = 0;
}
