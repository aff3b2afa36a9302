#pragma once
/// The parts of cooperative groups that kernels need (CUDA C++ Programming Guide, "Cooperative Groups"): grid_group,
/// cluster_group, thread_block, thread_block_tile, thread_group, coalesced_group and their collectives.

#include "tuner_host.h"

namespace cooperative_groups {

class thread_block {
 public:
  static void sync(TUNER_HOST_SITE) { ::__syncthreads(file, line); }
  struct arrival_token {};
  static arrival_token barrier_arrive() { return {}; }
  /// Waits until all threads are here, where CUDA waits only until they have arrived.
  static void barrier_wait(arrival_token&&, TUNER_HOST_SITE) { ::__syncthreads(file, line); }
  static unsigned thread_rank() { return tuner_host::context.thread->linear; }
  static unsigned size() { return tuner_host::context.block->threads; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return tuner_host::context.block->index; }
  static dim3 thread_index() { return tuner_host::context.thread->index; }
  static dim3 group_dim() { return tuner_host::context.block->dim; }
  static dim3 dim_threads() { return tuner_host::context.block->dim; }
};
inline thread_block this_thread_block() { return {}; }

/// All threads of the cluster.
class cluster_group {
 public:
  struct arrival_token {};
  static void sync(TUNER_HOST_SITE) {
    ::__cluster_barrier_arrive(file, line);
    ::__cluster_barrier_wait(file, line);
  }
  static arrival_token barrier_arrive(TUNER_HOST_SITE) {
    return ::__cluster_barrier_arrive(file, line), arrival_token();
  }
  static void barrier_wait(TUNER_HOST_SITE) { ::__cluster_barrier_wait(file, line); }
  static void barrier_wait(arrival_token&&, TUNER_HOST_SITE) { ::__cluster_barrier_wait(file, line); }
  template <typename T>
  static T* map_shared_rank(T* address, int rank, TUNER_HOST_SITE) {
    return static_cast<T*>(::__cluster_map_shared_rank(address, static_cast<unsigned>(rank), file, line));
  }
  static unsigned query_shared_rank(const void* address, TUNER_HOST_SITE) {
    return ::__cluster_query_shared_rank(address, file, line);
  }
  static dim3 block_index() { return ::__clusterRelativeBlockIdx(); }
  static unsigned block_rank() { return ::__clusterRelativeBlockRank(); }
  static dim3 dim_blocks() { return ::__clusterDim(); }
  static unsigned num_blocks() { return ::__clusterSizeInBlocks(); }
  static dim3 dim_threads() {
    const dim3 blocks = dim_blocks(), threads = thread_block::dim_threads();
    return {blocks.x * threads.x, blocks.y * threads.y, blocks.z * threads.z};
  }
  static dim3 thread_index() {
    const dim3 block = block_index(), threads = thread_block::dim_threads(), at = thread_block::thread_index();
    return {block.x * threads.x + at.x, block.y * threads.y + at.y, block.z * threads.z + at.z};
  }
  static unsigned thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  static unsigned num_threads() { return num_blocks() * thread_block::size(); }
  static unsigned size() { return num_threads(); }
};
inline cluster_group this_cluster() { return {}; }

/// All threads of the grid. They can wait for each other if the launch is cooperative.
class grid_group {
 public:
  static void sync(TUNER_HOST_SITE) {
    tuner_host::api->meet_block(tuner_host::context.block, tuner_host::kGridBarrier, 0, file, line);
  }
  static bool is_valid() { return tuner_host::context.block->cooperative; }
  static unsigned long long num_blocks() { return blocks(group_dim()); }
  static unsigned long long block_rank() {
    const dim3 at = block_index(), all = group_dim();
    return at.x + all.x * (at.y + static_cast<unsigned long long>(all.y) * at.z);
  }
  static unsigned long long num_threads() { return num_blocks() * thread_block::size(); }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  static dim3 group_dim() { return tuner_host::context.block->grid; }
  static dim3 dim_blocks() { return group_dim(); }
  static dim3 block_index() { return tuner_host::context.block->index; }
  static dim3 dim_clusters() { return ::__clusterGridDimInClusters(); }
  static dim3 cluster_index() { return ::__clusterIdx(); }
  static unsigned long long num_clusters() { return blocks(dim_clusters()); }
  static unsigned long long cluster_rank() {
    const dim3 at = cluster_index(), all = dim_clusters();
    return at.x + all.x * (at.y + static_cast<unsigned long long>(all.y) * at.z);
  }

 private:
  static unsigned long long blocks(dim3 of) { return static_cast<unsigned long long>(of.x) * of.y * of.z; }
};
inline grid_group this_grid() { return {}; }

template <unsigned N, typename Parent = void>
class thread_block_tile;

/// The threads of a tile; 0 for other groups.
template <typename Group>
inline constexpr unsigned __tuner_tile_threads = 0;
template <unsigned N, typename Parent>
inline constexpr unsigned __tuner_tile_threads<thread_block_tile<N, Parent>> = N;

/// N consecutive threads, N a power of two up to a warp.
template <unsigned N, typename Parent>
class thread_block_tile {
  static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  thread_block_tile() = default;
  /// A tile of a block is also a tile without a parent: `thread_block_tile<32> tile = tiled_partition<32>(block)`.
  template <typename Other>
  thread_block_tile(const thread_block_tile<N, Other>& other) : parent_(other.parent_) {}
  static constexpr unsigned size() { return N; }
  static constexpr unsigned num_threads() { return N; }
  static unsigned thread_rank() { return tuner_host::lane() & (N - 1); }
  unsigned meta_group_rank() const {
    const unsigned thread = tuner_host::context.thread->linear;
    return (parent_ > 0 ? thread % parent_ : thread) / N;
  }
  unsigned meta_group_size() const {
    return ((parent_ > 0 ? parent_ : tuner_host::context.block->threads) + N - 1) / N;
  }
  static void sync(TUNER_HOST_SITE) { ::__syncwarp(mask(), file, line); }
  template <typename T>
  static T shfl(T value, int source, TUNER_HOST_SITE) {
    return ::__shfl_sync(mask(), value, source, static_cast<int>(N), file, line);
  }
  template <typename T>
  static T shfl_up(T value, unsigned delta, TUNER_HOST_SITE) {
    return ::__shfl_up_sync(mask(), value, delta, static_cast<int>(N), file, line);
  }
  template <typename T>
  static T shfl_down(T value, unsigned delta, TUNER_HOST_SITE) {
    return ::__shfl_down_sync(mask(), value, delta, static_cast<int>(N), file, line);
  }
  template <typename T>
  static T shfl_xor(T value, unsigned lane_mask, TUNER_HOST_SITE) {
    return ::__shfl_xor_sync(mask(), value, static_cast<int>(lane_mask), static_cast<int>(N), file, line);
  }
  static int any(int predicate, TUNER_HOST_SITE) { return ::__any_sync(mask(), predicate, file, line); }
  static int all(int predicate, TUNER_HOST_SITE) { return ::__all_sync(mask(), predicate, file, line); }
  static unsigned ballot(int predicate, TUNER_HOST_SITE) {
    return ::__ballot_sync(mask(), predicate, file, line) >> first();
  }
  template <typename T>
  static unsigned match_any(T value, TUNER_HOST_SITE) {
    return ::__match_any_sync(mask(), value, file, line) >> first();
  }
  template <typename T>
  static unsigned match_all(T value, int& all, TUNER_HOST_SITE) {
    return ::__match_all_sync(mask(), value, &all, file, line) >> first();
  }

 private:
  friend struct tuner_partition;
  template <unsigned, typename>
  friend class thread_block_tile;
  static unsigned first() { return tuner_host::lane() & ~(N - 1); }
  static unsigned mask() { return (N == 32 ? 0xffffffffu : (1u << (N % 32)) - 1u) << first(); }

  unsigned parent_ = __tuner_tile_threads<Parent>;  // threads of the tile of which this is a part; 0: a part of the block
};

template <unsigned N, typename Parent>
inline thread_block_tile<N, Parent> tiled_partition(const Parent&) {
  return {};
}

/// Consecutive threads whose number is known at run time: a block, or a part of one. Such a group only has sync().
class thread_group {
 public:
  thread_group(const thread_block&) : size_(thread_block::size()) {}
  template <unsigned N, typename Parent>
  thread_group(const thread_block_tile<N, Parent>&) : first_(tuner_host::context.thread->linear & ~(N - 1)), size_(N) {}
  unsigned size() const { return size_; }
  unsigned num_threads() const { return size_; }
  unsigned thread_rank() const { return thread_block::thread_rank() - first_; }
  void sync(TUNER_HOST_SITE) const {
    if (size_ == thread_block::size()) return ::__syncthreads(file, line);
    ::__syncwarp((size_ == 32 ? 0xffffffffu : (1u << size_) - 1u) << (first_ % 32), file, line);
  }

 private:
  friend thread_group tiled_partition(const thread_group& parent, unsigned size);
  unsigned first_ = 0, size_;
};

/// The calling thread's part of \p parent: \p size threads, a power of two up to a warp.
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  thread_group part = parent;
  part.first_ += parent.thread_rank() / size * size;
  part.size_ = size;
  return part;
}
inline thread_group tiled_partition(const thread_block& parent, unsigned size) {
  return tiled_partition(thread_group(parent), size);
}

/// Some lanes of a warp. Their ranks are in the order of the lanes.
class coalesced_group {
 public:
  explicit coalesced_group(unsigned lanes) : lanes_(lanes) {}
  unsigned size() const { return __builtin_popcount(lanes_); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return __builtin_popcount(lanes_ & ((1u << tuner_host::lane()) - 1u)); }
  unsigned meta_group_rank() const { return group_; }
  unsigned meta_group_size() const { return groups_; }
  void sync(TUNER_HOST_SITE) const { ::__syncwarp(lanes_, file, line); }
  template <typename T>
  T shfl(T value, int source, TUNER_HOST_SITE) const {
    return from(value, static_cast<unsigned>(source) % size(), file, line);
  }
  template <typename T>
  T shfl_up(T value, unsigned delta, TUNER_HOST_SITE) const {
    return from(value, thread_rank() < delta ? thread_rank() : thread_rank() - delta, file, line);
  }
  template <typename T>
  T shfl_down(T value, unsigned delta, TUNER_HOST_SITE) const {
    return from(value, thread_rank() + delta < size() ? thread_rank() + delta : thread_rank(), file, line);
  }
  int any(int predicate, TUNER_HOST_SITE) const { return ::__any_sync(lanes_, predicate, file, line); }
  int all(int predicate, TUNER_HOST_SITE) const { return ::__all_sync(lanes_, predicate, file, line); }
  unsigned ballot(int predicate, TUNER_HOST_SITE) const {
    return ranks(::__ballot_sync(lanes_, predicate, file, line));
  }
  template <typename T>
  unsigned match_any(T value, TUNER_HOST_SITE) const {
    return ranks(::__match_any_sync(lanes_, value, file, line));
  }
  template <typename T>
  unsigned match_all(T value, int& all, TUNER_HOST_SITE) const {
    return ranks(::__match_all_sync(lanes_, value, &all, file, line));
  }

 private:
  friend struct tuner_partition;
  unsigned lane_of(unsigned rank) const {
    unsigned lanes = lanes_;
    for (; rank > 0; --rank) lanes &= lanes - 1;
    return __builtin_ctz(lanes);
  }
  template <typename T>
  T from(T value, unsigned rank, const char* file, int line) const {
    return ::__shfl_sync(lanes_, value, static_cast<int>(lane_of(rank)), 32, file, line);
  }
  /// The bits of \p lanes at their ranks.
  unsigned ranks(unsigned lanes) const {
    unsigned result = 0, rank = 0;
    for (unsigned rest = lanes_; rest != 0; rest &= rest - 1, ++rank)
      if ((lanes & rest & -rest) != 0) result |= 1u << rank;
    return result;
  }
  unsigned lanes_, group_ = 0, groups_ = 1;
};
/// The lanes that have converged: only the calling one, which CUDA allows.
inline coalesced_group coalesced_threads() { return coalesced_group(1u << tuner_host::lane()); }

struct tuner_partition {
  template <unsigned N, typename Parent>
  static unsigned lanes(const thread_block_tile<N, Parent>& tile) {
    return tile.mask();
  }
  static unsigned lanes(const coalesced_group& group) { return group.lanes_; }
  static coalesced_group part(unsigned lanes, unsigned group, unsigned groups) {
    coalesced_group result(lanes);
    result.group_ = group;
    result.groups_ = groups;
    return result;
  }
};

/// The threads of \p parent, a tile or coalesced threads, that have the same \p label as the calling one.
template <typename Parent, typename Label>
inline coalesced_group labeled_partition(const Parent& parent, Label label, TUNER_HOST_SITE) {
  const unsigned all = tuner_partition::lanes(parent), own = ::__match_any_sync(all, label, file, line);
  // Groups are counted in the order of their first lanes.
  const bool is_first = tuner_host::lane() == static_cast<unsigned>(__builtin_ctz(own));
  const unsigned firsts = ::__ballot_sync(all, is_first, file, line);
  return tuner_partition::part(own, __builtin_popcount(firsts & ((own & -own) - 1u)), __builtin_popcount(firsts));
}
/// The threads that have the same \p predicate. The group of `true` has rank 1.
template <typename Parent>
inline coalesced_group binary_partition(const Parent& parent, bool predicate, TUNER_HOST_SITE) {
  const unsigned all = tuner_partition::lanes(parent), yes = ::__ballot_sync(all, predicate, file, line);
  return tuner_partition::part(predicate ? yes : all & ~yes, predicate, 2);
}

template <typename Group>
inline void sync(const Group& group, TUNER_HOST_SITE) {
  group.sync(file, line);
}

TUNER_HOST_OPERATION(plus, a + b)
TUNER_HOST_OPERATION(less, b < a ? b : a)
TUNER_HOST_OPERATION(greater, a < b ? b : a)
TUNER_HOST_OPERATION(bit_and, a& b)
TUNER_HOST_OPERATION(bit_or, a | b)
TUNER_HOST_OPERATION(bit_xor, a ^ b)

/// The values of all threads of a tile, combined in the order of a butterfly. All threads get the result.
template <unsigned N, typename Parent, typename T, typename Operation>
inline T reduce(const thread_block_tile<N, Parent>& tile, T value, Operation operation, TUNER_HOST_SITE) {
  for (unsigned step = N / 2; step > 0; step /= 2) value = operation(value, tile.shfl_xor(value, step, file, line));
  return value;
}
template <typename T, typename Operation>
inline T reduce(const coalesced_group& group, T value, Operation operation, TUNER_HOST_SITE) {
  T all = group.shfl(value, 0, file, line);
  for (unsigned rank = 1; rank < group.size(); ++rank) all = operation(all, group.shfl(value, rank, file, line));
  return all;
}

/// The combined values of the threads of a tile up to this one.
template <unsigned N, typename Parent, typename T, typename Operation = plus<T>>
inline T inclusive_scan(const thread_block_tile<N, Parent>& tile, T value, Operation operation = {}, TUNER_HOST_SITE) {
  for (unsigned step = 1; step < N; step *= 2) {
    const T before = tile.shfl_up(value, step, file, line);
    if (tile.thread_rank() >= step) value = operation(before, value);
  }
  return value;
}
/// The combined values of the threads of a tile before this one; T() for the first.
template <unsigned N, typename Parent, typename T, typename Operation = plus<T>>
inline T exclusive_scan(const thread_block_tile<N, Parent>& tile, T value, Operation operation = {}, TUNER_HOST_SITE) {
  const T before = tile.shfl_up(inclusive_scan(tile, value, operation, file, line), 1, file, line);
  return tile.thread_rank() == 0 ? T() : before;
}

/// Each thread of \p group copies its share. After wait() all shares are copied. The sizes are in bytes.
template <typename Group, typename T>
inline void memcpy_async(const Group& group, T* to, const T* from, size_t bytes) {
  for (size_t at = group.thread_rank(); at < bytes; at += group.size())
    reinterpret_cast<char*>(to)[at] = reinterpret_cast<const char*>(from)[at];
}
/// The sizes of \p to and \p from are in elements. Elements of \p to that \p from does not have are zero.
template <typename Group, typename T, typename ToSize, typename FromSize>
inline void memcpy_async(const Group& group, T* to, const ToSize& to_size, const T* from, const FromSize& from_size) {
  const size_t all = to_size, given = from_size;
  for (size_t at = group.thread_rank(); at < all; at += group.size())
    if (at < given)
      to[at] = from[at];
    else
      __builtin_memset(static_cast<void*>(to + at), 0, sizeof(T));
}
template <unsigned prior, typename Group>
inline void wait_prior(const Group& group, TUNER_HOST_SITE) {
  group.sync(file, line);
}
template <typename Group>
inline void wait(const Group& group, TUNER_HOST_SITE) {
  group.sync(file, line);
}

}  // namespace cooperative_groups
