// Attention, forward: o = softmax(scale * q * transposed k) * v for each head. Every head has n queries, keys and values of
// 128 numbers of bfloat16; the sums are of float.
//
// A block takes 64 queries for each of its consumers, which are warpgroups on the tensor cores of Hopper. One more
// warpgroup copies keys and values to shared memory with tensor maps. No score goes to memory: a consumer computes the
// scores of some keys, turns them into weights, relative to the largest score so far, and adds the weighted values. When
// the largest score grows, the sums of before are scaled.
//
// Tensor cores and the unit for powers work at the same time in two ways. A consumer begins the scores of the next keys
// before the values of the last ones are added. And consumers may take turns, so that one computes powers while the
// products of the other run.
//
// The softmax over parts of a row is from M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax" (2018).
// Attention without a matrix of scores is from T. Dao et al., "FlashAttention" (2022), and the two overlaps are from
// J. Shah et al., "FlashAttention-3" (2024). hopper.cuh names the instructions.
//
// Parameters:
// - consumers  warpgroups that compute. Three have 160 registers a thread, two have 240.
// - keys       the keys of one step. Their scores and weights are in registers.
// - stages     the steps that are loaded ahead.
// - turns      two consumers take turns.

#pragma tuner kernel      attention
#pragma tuner size        heads : int = 64
#pragma tuner size        n     : int = 4096
#pragma tuner parameter   consumers = 1 2 3
#pragma tuner parameter   keys      = 64 80 96 112 128 144 160 176
#pragma tuner parameter   stages    = 2 3 4
#pragma tuner parameter   turns     = false true
#pragma tuner constraint  turns_of_two: not turns or consumers == 2
#pragma tuner constraint  registers:    consumers < 3 or keys <= 80
#pragma tuner in          q[heads * n * 128] : bfloat16, k[heads * n * 128] : bfloat16, v[heads * n * 128] : bfloat16
#pragma tuner out         o[heads * n * 128] : bfloat16
#pragma tuner fill        q, k, v = uniform -2 2
#pragma tuner scalar      scale : float = 0.08838834764831845 only   // must be positive
#pragma tuner tensormap   map_q = q[heads, n, 128] box 1, 64, 64 swizzle 128B
#pragma tuner tensormap   map_k = k[heads, n, 128] box 1, keys, 64 swizzle 128B
#pragma tuner tensormap   map_v = v[heads, n, 128] box 1, keys, 64 swizzle 128B
#pragma tuner tensormap   map_o = o[heads, n, 128] box 1, 64, 64 swizzle 128B
#pragma tuner grid        ceil_div(n, consumers * 64), heads
#pragma tuner block       128 * (consumers + 1)
#pragma tuner shared      consumers * 64 * 256 + 2 * stages * keys * 256 + 8 * (4 * stages + 1) + 1024
#pragma tuner arguments   map_q, map_k, map_v, map_o, n, scale
#pragma tuner instantiate attention<consumers, keys, stages, turns>
#pragma tuner reference   attentionReference
#pragma tuner grid        n, heads
#pragma tuner block       128
#pragma tuner shared      n * 4
#pragma tuner arguments   q, k, v, o, n, scale
#pragma tuner verify      heads=3 n=1
#pragma tuner verify      heads=2 n=257
#pragma tuner verify      heads=1 n=1000
#pragma tuner tolerance   relative 2e-2 absolute 5e-3
#pragma tuner bytes       4 * heads * n * 128 * 2
#pragma tuner flops       4 * heads * n * n * 128
#pragma tuner default     consumers=2 keys=128 stages=2 turns=false

#include "hopper.cuh"

using namespace hopper;
using Element = __nv_bfloat16;

__device__ float power_of_two(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}
// Four neighbouring lanes share the sums of a row.
__device__ float largest_of_four(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
__device__ float sum_of_four(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

template <int consumers, int keys, int stages, bool turns>
__global__ __launch_bounds__(128 * (consumers + 1), 1) void attention(const __grid_constant__ CUtensorMap map_q,
                                                                      const __grid_constant__ CUtensorMap map_k,
                                                                      const __grid_constant__ CUtensorMap map_v,
                                                                      const __grid_constant__ CUtensorMap map_o, int n,
                                                                      float scale) {
  constexpr int half = 128 * keys, tile = 2 * half, own_bytes = 64 * 256;  // a half: 64 of 128 columns
  const float infinity = __int_as_float(0x7f800000);
  extern __shared__ unsigned char memory[];
  unsigned char* const queries = align_tiles(memory);
  unsigned char* const tiles_k = queries + consumers * own_bytes;
  unsigned char* const tiles_v = tiles_k + stages * tile;
  Barrier* const full_k = reinterpret_cast<Barrier*>(tiles_v + stages * tile);
  Barrier *const full_v = full_k + stages, *const empty_k = full_v + stages, *const empty_v = empty_k + stages;
  Barrier* const full_q = empty_v + stages;
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      init_barrier(full_k + i, 1), init_barrier(full_v + i, 1);
      init_barrier(empty_k + i, consumers), init_barrier(empty_v + i, consumers);
    }
    init_barrier(full_q, 1);
    publish_barriers();
  }
  __syncthreads();

  const int head = blockIdx.y, first = blockIdx.x * consumers * 64, steps = (n + keys - 1) / keys;
  if (threadIdx.x < 128) {
    shrink_registers<(consumers == 3 ? 32 : 24)>();
    if (threadIdx.x == 0) {
      expect_bytes(full_q, consumers * own_bytes);
      for (int i = 0; i < 2 * consumers; ++i)
        load_box(queries + i * own_bytes / 2, &map_q, i % 2 * 64, first + i / 2 * 64, head, full_q);
      int stage = 0;
      unsigned parity = 1;
      for (int step = 0; step < steps; ++step) {
        wait_for(empty_k + stage, parity);
        expect_bytes(full_k + stage, tile);
        for (int i = 0; i < 2; ++i)
          load_box(tiles_k + stage * tile + i * half, &map_k, i * 64, step * keys, head, full_k + stage);
        wait_for(empty_v + stage, parity);
        expect_bytes(full_v + stage, tile);
        for (int i = 0; i < 2; ++i)
          load_box(tiles_v + stage * tile + i * half, &map_v, i * 64, step * keys, head, full_v + stage);
        if (++stage == stages) stage = 0, parity ^= 1;
      }
    }
    return;
  }

  grow_registers<(consumers == 3 ? 160 : 240)>();
  const int consumer = threadIdx.x / 128 - 1, thread = threadIdx.x % 128, lane = thread % 32, warp = thread / 32;
  const float scale_of_two = scale * 1.4426950408889634f;  // powers of two take the place of powers of e
  const Descriptor own = rows_along_sum<128>(queries + consumer * own_bytes);
  // A thread has the sums of two rows, `lane / 4` and 8 rows further.
  float sums[64] = {}, scores[keys / 2], largest[2] = {-infinity, -infinity}, total[2] = {}, factor[2];
  unsigned weights[keys / 4];

  const auto begin_scores = [&](int stage) {
    hold(scores);
    begin_products();
    const Descriptor b = rows_along_sum<128>(tiles_k + stage * tile);
#pragma unroll
    for (int part = 0; part < 8; ++part)
      Product<Element, keys>::add(scores, own + (part / 4 * (own_bytes / 2) + part % 4 * 32) / 16,
                                  b + (part / 4 * half + part % 4 * 32) / 16, part > 0);
    end_products();
    hold(scores);
  };
  const auto begin_values = [&](int stage) {
    hold(sums);
    begin_products();
    const Descriptor b = rows_across_sum(tiles_v + stage * tile, half);
#pragma unroll
    for (int part = 0; part < keys / 16; ++part) add_product(sums, weights + part * 4, b + part * 16 * 128 / 16);
    end_products();
    hold(sums);
  };
  // Turns scores into weights, relative to the largest score so far.
  const auto weigh = [&](int step) {
    if ((step + 1) * keys > n) {
#pragma unroll
      for (int i = 0; i < keys / 2; ++i)
        if (step * keys + i / 4 * 8 + lane % 4 * 2 + i % 2 >= n) scores[i] = -infinity;
    }
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      float now = largest[row], sum = 0;
#pragma unroll
      for (int i = 2 * row; i < keys / 2; i += 4) now = fmaxf(now, fmaxf(scores[i], scores[i + 1]));
      now = largest_of_four(now);
      factor[row] = power_of_two((largest[row] - now) * scale_of_two);
      largest[row] = now;
#pragma unroll
      for (int i = 2 * row; i < keys / 2; i += 4) {
        scores[i] = power_of_two(fmaf(scores[i], scale_of_two, -now * scale_of_two));
        scores[i + 1] = power_of_two(fmaf(scores[i + 1], scale_of_two, -now * scale_of_two));
        sum += scores[i] + scores[i + 1];
      }
      total[row] = total[row] * factor[row] + sum;
    }
  };
  const auto keep_weights = [&] {
#pragma unroll
    for (int i = 0; i < keys / 4; ++i) weights[i] = packed<Element>(scores[2 * i], scores[2 * i + 1]);
  };
  const auto take_turn = [&] {
    if constexpr (turns) sync_threads(1 + consumer, 256);
  };
  const auto give_turn = [&] {
    if constexpr (turns) arrive_threads(2 - consumer, 256);
  };

  if (consumer == 1) give_turn();
  int stage = 0;
  unsigned parity = 0;
  wait_for(full_q, 0);
  wait_for(full_k, 0);
  take_turn();
  begin_scores(0);
  wait_for_products<0>();
  give_turn();
  hold(scores);
  if (thread == 0) arrive(empty_k);
  weigh(0);
  keep_weights();
  for (int step = 1; step < steps; ++step) {
    const int before = stage;
    const unsigned parity_before = parity;
    if (++stage == stages) stage = 0, parity ^= 1;
    wait_for(full_k + stage, parity);
    take_turn();
    begin_scores(stage);
    wait_for(full_v + before, parity_before);
    begin_values(before);
    give_turn();
    wait_for_products<1>();
    hold(scores);
    if (thread == 0) arrive(empty_k + stage);
    weigh(step);
    wait_for_products<0>();
    hold(sums);
    if (thread == 0) arrive(empty_v + before);
#pragma unroll
    for (int i = 0; i < 64; ++i) sums[i] *= factor[i / 2 % 2];
    keep_weights();
  }
  wait_for(full_v + stage, parity);
  take_turn();
  begin_values(stage);
  if (consumer == 0) give_turn();
  wait_for_products<0>();
  hold(sums);

  // The place of the queries takes the results, swizzled.
  const float share[2] = {1 / sum_of_four(total[0]), 1 / sum_of_four(total[1])};
#pragma unroll
  for (int i = 0; i < 64; ++i) sums[i] *= share[i / 2 % 2];
  unsigned char* const to = queries + consumer * own_bytes;
#pragma unroll
  for (int chunk = 0; chunk < 16; chunk += 2) {
    const int row = warp * 16 + lane % 16, piece = chunk + lane / 16;  // of 16 bytes
    const unsigned at = piece / 8 * (own_bytes / 2) + row * 128 + (piece % 8 ^ row % 8) * 16;
    const float* const d = sums + chunk * 4;
    store_matrices<false>(shared_address(to) + at, packed<Element>(d[0], d[1]), packed<Element>(d[2], d[3]),
                          packed<Element>(d[4], d[5]), packed<Element>(d[6], d[7]));
  }
  publish_writes();
  sync_threads(4 + consumer, 128);
  if (thread == 0) {
    for (int i = 0; i < 2; ++i) store_box(&map_o, to + i * own_bytes / 2, i * 64, first + consumer * 64, head);
    wait_for_stores();
  }
}

// A block for each query. Thread i has column i of the result.
__global__ void attentionReference(const Element* q, const Element* k, const Element* v, Element* o, int n, float scale) {
  extern __shared__ float scores[];
  __shared__ float most;
  const long long head = static_cast<long long>(blockIdx.y) * n * 128;
  const Element* const query = q + head + blockIdx.x * 128ll;
  for (int key = threadIdx.x; key < n; key += blockDim.x) {
    float sum = 0;
    for (int i = 0; i < 128; ++i) sum += float(query[i]) * float(k[head + key * 128ll + i]);
    scores[key] = sum * scale;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    most = scores[0];
    for (int key = 1; key < n; ++key) most = fmaxf(most, scores[key]);
  }
  __syncthreads();
  float sum = 0, total = 0;
  for (int key = 0; key < n; ++key) {
    const float weight = expf(scores[key] - most);
    total += weight;
    sum += weight * float(v[head + key * 128ll + threadIdx.x]);
  }
  o[head + blockIdx.x * 128ll + threadIdx.x] = Element(sum / total);
}
