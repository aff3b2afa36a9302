// Instructions of Hopper for the kernels beside this file: barriers in shared memory, bulk copies of tensor maps, blocks of
// a cluster, and products of warpgroups.
//
// Sources: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier", "Data Movement and Conversion
// Instructions: cp.async.bulk.tensor, stmatrix, mapa" and "Asynchronous Warpgroup Level Matrix Instructions".
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace hopper {

using Barrier = unsigned long long;
using Descriptor = unsigned long long;

__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// The first address in dynamic shared memory at which a swizzled tile may begin.
__device__ inline unsigned char* align_tiles(unsigned char* memory) {
  return memory + (1024 - shared_address(memory) % 1024) % 1024;
}

__device__ inline int block_in_cluster() {
  int rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// What a block wrote to shared memory before is seen by the others of its cluster afterwards.
__device__ inline void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// The barrier `number` (1 to 15) of `threads` threads of the block.
__device__ inline void sync_threads(int number, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
/// Counts as this thread's part in sync_threads(), without waiting.
__device__ inline void arrive_threads(int number, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// --- Barriers in shared memory -----------------------------------------------------------------------------------------

__device__ inline void init_barrier(Barrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals));
}
/// After init_barrier(), before the others may see the barriers.
__device__ inline void publish_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/// Arrives, and completes the phase only after so many bytes were copied.
__device__ inline void expect_bytes(Barrier* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}

__device__ inline void arrive(Barrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Arrives at the barrier in the same place of another block of the cluster. It orders nothing between the two blocks'
/// own accesses to memory, and so needs no fence, which would cost a microsecond: products read shared memory before
/// they complete, and copies write it after they were told.
__device__ inline void arrive_at(Barrier* barrier, int block) {
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
      "}\n" ::"r"(shared_address(barrier)), "r"(block)
      : "memory");
}

/// Waits until the phase with this parity has completed. The phase before the first has parity 1.
__device__ inline void wait_for(Barrier* barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(shared_address(barrier)), "r"(parity)
      : "memory");
}

// --- Bulk copies ---------------------------------------------------------------------------------------------------------

/// Copies the box at (x, y), x along rows, to shared memory.
__device__ inline void load_box(void* to, const CUtensorMap* map, int x, int y, Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          shared_address(to)),
      "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier))
      : "memory");
}
__device__ inline void load_box(void* to, const CUtensorMap* map, int x, int y, int z, Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(to)),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(barrier))
      : "memory");
}
/// Copies the box to the same place of every block in `blocks`, a bit for each, and completes at the barrier there.
__device__ inline void load_box_for(unsigned short blocks, void* to, const CUtensorMap* map, int x, int y,
                                    Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
      "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier)), "h"(blocks)
      : "memory");
}

__device__ inline void store_box(const CUtensorMap* map, const void* from, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(shared_address(from)), "r"(x), "r"(y)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ inline void store_box(const CUtensorMap* map, const void* from, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
               "r"(shared_address(from)), "r"(x), "r"(y), "r"(z)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until all but `pending` of this thread's stores have read their shared memory.
template <int pending>
__device__ inline void wait_for_reads() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}
/// Waits until all of this thread's stores are done. A block that ends takes its shared memory along.
__device__ inline void wait_for_stores() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
/// Between a thread's own writes to shared memory and bulk copies that read them.
__device__ inline void publish_writes() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// Stores four matrices of 8 x 8 elements of 16 bits from the registers of a warp. Each lane gives the address of one
/// row of eight: lanes 0 to 7 for a, 8 to 15 for b, and so on.
template <bool transposed>
__device__ inline void store_matrices(unsigned address, unsigned a, unsigned b, unsigned c, unsigned d) {
  if constexpr (transposed)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(a),
                 "r"(b), "r"(c), "r"(d)
                 : "memory");
  else
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(a), "r"(b),
                 "r"(c), "r"(d)
                 : "memory");
}

/// Four words from the same place in the shared memory of another block of the cluster.
__device__ inline float4 load_from_block(const float* from, int block) {
  float4 value;
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %4, %5;\n"
      "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there];\n"
      "}\n"
      : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
      : "r"(shared_address(from)), "r"(block)
      : "memory");
  return value;
}
/// Two words to the same place in the shared memory of another block of the cluster.
__device__ inline void store_to_block(float2* to, int block, float2 value) {
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "st.shared::cluster.v2.f32 [there], {%2, %3};\n"
      "}\n" ::"r"(shared_address(to)), "r"(block), "f"(value.x), "f"(value.y)
      : "memory");
}

// --- Products of a warpgroup, which is four warps ----------------------------------------------------------------------

/// More registers for each thread of this warpgroup, or fewer.
template <int registers>
__device__ inline void grow_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers)); }
template <int registers>
__device__ inline void shrink_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers)); }

/// A matrix in shared memory whose rows run along the sum: `swizzle` bytes of each row, as a box with that swizzle is.
template <int swizzle>
__device__ inline Descriptor rows_along_sum(const void* tile) {
  constexpr Descriptor layout = swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;
  return layout << 62 | Descriptor(8 * swizzle / 16) << 32 | Descriptor(1) << 16 | (shared_address(tile) & 0x3ffff) >> 4;
}
/// A matrix whose rows run across the sum, in parts of 128 bytes (swizzled) that are `part_bytes` apart.
__device__ inline Descriptor rows_across_sum(const void* tile, int part_bytes) {
  return Descriptor(1) << 62 | Descriptor(1024 / 16) << 32 | Descriptor(part_bytes / 16) << 16 |
         (shared_address(tile) & 0x3ffff) >> 4;
}

__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Waits until all but `pending` groups of products are done.
template <int pending>
__device__ inline void wait_for_products() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory"); }

/// Keeps the compiler from moving the registers of sums across products that still run.
template <int count>
__device__ inline void hold(float (&sums)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

// The texts of inline assembly name every register. TEXT_8 is "%0, ... %7", and SUMS_8 are its operands.
#define TEXT_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define TEXT_16 TEXT_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define TEXT_24 TEXT_16 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define TEXT_32 TEXT_24 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define TEXT_40 TEXT_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define TEXT_48 TEXT_40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define TEXT_56 TEXT_48 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define TEXT_64 TEXT_56 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define TEXT_72 TEXT_64 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define TEXT_80 TEXT_72 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define TEXT_88 TEXT_80 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define TEXT_96 TEXT_88 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define TEXT_104 TEXT_96 ", %96, %97, %98, %99, %100, %101, %102, %103"
#define TEXT_112 TEXT_104 ", %104, %105, %106, %107, %108, %109, %110, %111"
#define TEXT_120 TEXT_112 ", %112, %113, %114, %115, %116, %117, %118, %119"
#define TEXT_128 TEXT_120 ", %120, %121, %122, %123, %124, %125, %126, %127"
#define FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SUMS_8 FOUR(0), FOUR(4)
#define SUMS_16 SUMS_8, FOUR(8), FOUR(12)
#define SUMS_24 SUMS_16, FOUR(16), FOUR(20)
#define SUMS_32 SUMS_24, FOUR(24), FOUR(28)
#define SUMS_40 SUMS_32, FOUR(32), FOUR(36)
#define SUMS_48 SUMS_40, FOUR(40), FOUR(44)
#define SUMS_56 SUMS_48, FOUR(48), FOUR(52)
#define SUMS_64 SUMS_56, FOUR(56), FOUR(60)
#define SUMS_72 SUMS_64, FOUR(64), FOUR(68)
#define SUMS_80 SUMS_72, FOUR(72), FOUR(76)
#define SUMS_88 SUMS_80, FOUR(80), FOUR(84)
#define SUMS_96 SUMS_88, FOUR(88), FOUR(92)
#define SUMS_104 SUMS_96, FOUR(96), FOUR(100)
#define SUMS_112 SUMS_104, FOUR(104), FOUR(108)
#define SUMS_120 SUMS_112, FOUR(112), FOUR(116)
#define SUMS_128 SUMS_120, FOUR(120), FOUR(124)

/// Product<T, n>::add(sums, a, b, with_sums): sums = a * b, or sums += a * b, for 64 x n sums. The rows of both matrices
/// run along the sum, of which one product takes 32 bytes. Lane l of warp w has the sums of the rows 16 * w + l / 4 (in
/// sums[0], sums[1], sums[4], …) and 8 rows further (sums[2], sums[3], …), for the columns 8 * j + l % 4 * 2 and the
/// next.
template <typename T, int n>
struct Product;
#define MULTIPLY(T, N, COUNT, A, B, WITH, K, TAIL)                                                       \
  template <>                                                                                            \
  struct Product<T, N> {                                                                                 \
    __device__ static void add(float (&d)[COUNT], Descriptor a, Descriptor b, int with_sums) {           \
      asm volatile("{\n.reg .pred with;\nsetp.ne.b32 with, " WITH                                        \
                   ", 0;\nwgmma.mma_async.sync.aligned.m64n" #N K " {" TEXT_##COUNT "}, " A ", " B       \
                   ", with, 1, 1" TAIL ";\n}"                                                            \
                   : SUMS_##COUNT                                                                        \
                   : "l"(a), "l"(b), "r"(with_sums));                                                    \
    }                                                                                                    \
  };
#define MULTIPLY_ALL(T, K, TAIL) \
  MULTIPLY(T, 16, 8, "%8", "%9", "%10", K, TAIL) \
  MULTIPLY(T, 32, 16, "%16", "%17", "%18", K, TAIL) \
  MULTIPLY(T, 48, 24, "%24", "%25", "%26", K, TAIL) \
  MULTIPLY(T, 64, 32, "%32", "%33", "%34", K, TAIL) \
  MULTIPLY(T, 80, 40, "%40", "%41", "%42", K, TAIL) \
  MULTIPLY(T, 96, 48, "%48", "%49", "%50", K, TAIL) \
  MULTIPLY(T, 112, 56, "%56", "%57", "%58", K, TAIL) \
  MULTIPLY(T, 128, 64, "%64", "%65", "%66", K, TAIL) \
  MULTIPLY(T, 144, 72, "%72", "%73", "%74", K, TAIL) \
  MULTIPLY(T, 160, 80, "%80", "%81", "%82", K, TAIL) \
  MULTIPLY(T, 176, 88, "%88", "%89", "%90", K, TAIL) \
  MULTIPLY(T, 192, 96, "%96", "%97", "%98", K, TAIL) \
  MULTIPLY(T, 208, 104, "%104", "%105", "%106", K, TAIL) \
  MULTIPLY(T, 224, 112, "%112", "%113", "%114", K, TAIL) \
  MULTIPLY(T, 240, 120, "%120", "%121", "%122", K, TAIL) \
  MULTIPLY(T, 256, 128, "%128", "%129", "%130", K, TAIL)
MULTIPLY_ALL(__nv_bfloat16, "k16.f32.bf16.bf16", ", 0, 0")
MULTIPLY_ALL(__half, "k16.f32.f16.f16", ", 0, 0")
MULTIPLY_ALL(__nv_fp8_e4m3, "k32.f32.e4m3.e4m3", "")

/// sums += a * b for 64 x 128 sums, with a in registers (packed as the sums of another product) and b by
/// rows_across_sum().
__device__ inline void add_product(float (&d)[64], const unsigned* a, Descriptor b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" TEXT_64
               "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
               : SUMS_64
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

/// Two numbers in one register, as T.
template <typename T>
__device__ unsigned packed(float low, float high);
template <>
__device__ inline unsigned packed<__half>(float low, float high) {
  unsigned both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
template <>
__device__ inline unsigned packed<__nv_bfloat16>(float low, float high) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

}  // namespace hopper
