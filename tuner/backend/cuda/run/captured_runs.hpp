#pragma once
/// A graph of the work that is queued on a stream, to be replayed.

#include <functional>
#include <memory>

#include <tuner/backend/cuda/driver/context.hpp>

namespace tuner::cuda {

/// In the current context. Launches keep their attributes: a cooperative launch, a cluster, and a launch that may begin
/// early, which gets an edge of that kind.
class CapturedRuns {
 public:
  /// Replaces the graph by one of what \p queue queues on \p stream, in that order. \p queue returns an error of the
  /// driver, and does not throw. Returns the first error; CUDA_ERROR_NOT_SUPPORTED: this driver has no graphs.
  CUresult capture(CUstream stream, const std::function<CUresult()>& queue);
  CUresult replay(CUstream stream) const;
  /// Frees the graph, of which no replay is pending.
  void reset() { graph_.reset(); }
  /// Drops the handle: that of a lost context cannot be freed.
  void leak() noexcept { (void)graph_.release(); }

 private:
  std::unique_ptr<CUgraphExec_st, HandleDeleter<&Driver::cuGraphExecDestroy>> graph_;
};

}  // namespace tuner::cuda
