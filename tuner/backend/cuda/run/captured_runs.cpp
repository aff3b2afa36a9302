#include <tuner/backend/cuda/run/captured_runs.hpp>

namespace tuner::cuda {

CUresult CapturedRuns::capture(CUstream stream, const std::function<CUresult()>& queue) {
  const Driver& cu = driver();
  graph_.reset();
  if (cu.cuStreamBeginCapture == nullptr || cu.cuStreamEndCapture == nullptr ||
      cu.cuGraphInstantiateWithFlags == nullptr || cu.cuGraphLaunch == nullptr || cu.cuGraphExecDestroy == nullptr ||
      cu.cuGraphDestroy == nullptr)
    return CUDA_ERROR_NOT_SUPPORTED;
  // Relaxed: other threads may load and allocate meanwhile.
  if (const CUresult begun = cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED); begun != CUDA_SUCCESS)
    return begun;
  const CUresult queued = queue();
  CUgraph captured = nullptr;
  const CUresult ended = cu.cuStreamEndCapture(stream, &captured);  // always, or the stream stays captured
  CUresult result = queued != CUDA_SUCCESS ? queued : ended;
  if (result == CUDA_SUCCESS) {
    CUgraphExec graph = nullptr;
    result = cu.cuGraphInstantiateWithFlags(&graph, captured, 0);
    graph_.reset(graph);
  }
  if (captured != nullptr) cu.cuGraphDestroy(captured);
  return result;
}

CUresult CapturedRuns::replay(CUstream stream) const { return driver().cuGraphLaunch(graph_.get(), stream); }

}  // namespace tuner::cuda
