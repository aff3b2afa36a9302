#pragma once
/// Thread-block clusters: CUDA C++ Programming Guide, "Thread Block Clusters" and "Distributed Shared Memory". A launch
/// without clusters has clusters of one block.

inline dim3 __clusterDim() { return tuner_host::context.block->cluster_dim; }
inline dim3 __clusterRelativeBlockIdx() {
  const tuner_host::Index &at = tuner_host::context.block->index, &dim = tuner_host::context.block->cluster_dim;
  return {at.x % dim.x, at.y % dim.y, at.z % dim.z};
}
inline dim3 __clusterIdx() {
  const tuner_host::Index &at = tuner_host::context.block->index, &dim = tuner_host::context.block->cluster_dim;
  return {at.x / dim.x, at.y / dim.y, at.z / dim.z};
}
inline dim3 __clusterGridDimInClusters() {
  const tuner_host::Index &all = tuner_host::context.block->grid, &dim = tuner_host::context.block->cluster_dim;
  return {all.x / dim.x, all.y / dim.y, all.z / dim.z};
}
inline unsigned __clusterRelativeBlockRank() { return tuner_host::context.block->cluster_rank; }
inline unsigned __clusterSizeInBlocks() { return tuner_host::context.block->cluster_blocks; }
inline bool __clusterDimIsSpecified() { return __clusterSizeInBlocks() > 1; }

inline void __cluster_barrier_arrive(TUNER_HOST_SITE) {
  tuner_host::api->meet_block(tuner_host::context.block, tuner_host::kClusterArrive, 0, file, line);
}
inline void __cluster_barrier_arrive_relaxed(TUNER_HOST_SITE) { __cluster_barrier_arrive(file, line); }
inline void __cluster_barrier_wait(TUNER_HOST_SITE) {
  tuner_host::api->meet_block(tuner_host::context.block, tuner_host::kClusterWait, 0, file, line);
}

namespace tuner_host {

/// The block of the cluster that has \p address in its shared memory, and the beginning of that memory; null if no
/// block has it.
__tuner_unseen inline const Block* owner_of(const void* address, const char** begin) {
  const Block& own = *context.block;
  const char* const at = static_cast<const char*>(address);
  for (unsigned rank = 0; rank < own.cluster_blocks; ++rank) {
    const Block* const block = own.cluster[rank];
    *begin = static_cast<const char*>(block->shared);
    if (static_cast<unsigned long>(at - *begin) < block->shared_bytes) return block;
    *begin = block->static_begin;
    if (static_cast<unsigned long>(at - *begin) < block->static_bytes) return block;
  }
  return nullptr;
}

__tuner_unseen inline void* map_shared(const void* address, unsigned rank, const char* file, int line) {
  const Block& own = *context.block;
  const char* begin = nullptr;
  const Block* const owner = owner_of(address, &begin);
  if (owner == nullptr) api->fail(context.block, "this address is not in the shared memory of the cluster", file, line);
  if (rank >= own.cluster_blocks) api->fail(context.block, "the cluster has no block of this rank", file, line);
  char* const to =
      begin == owner->static_begin ? own.cluster[rank]->static_begin : static_cast<char*>(own.cluster[rank]->shared);
  return to + (static_cast<const char*>(address) - begin);
}

}  // namespace tuner_host

inline void* __cluster_map_shared_rank(const void* address, unsigned rank, TUNER_HOST_SITE) {
  return tuner_host::map_shared(address, rank, file, line);
}
inline unsigned __cluster_query_shared_rank(const void* address, TUNER_HOST_SITE) {
  const char* begin = nullptr;
  const tuner_host::Block* const owner = tuner_host::owner_of(address, &begin);
  if (owner == nullptr)
    tuner_host::api->fail(tuner_host::context.block, "this address is not in the shared memory of the cluster", file,
                          line);
  return owner->cluster_rank;
}
