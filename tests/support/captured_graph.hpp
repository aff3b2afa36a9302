#pragma once
/// For tests of launches that are captured into a graph.

#include <tuner/backend/cuda/driver/driver.hpp>

namespace tuner::testing {

/// A graph of the work that \p calls enqueues on \p stream; destroyed with the object.
class CapturedGraph {
 public:
  CapturedGraph(CUstream stream, const auto& calls) {
    cuda::check(cuda::driver().cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture");
    calls();
    cuda::check(cuda::driver().cuStreamEndCapture(stream, &graph_), "cuStreamEndCapture");
  }
  ~CapturedGraph() {
    if (executable_ != nullptr) cuda::driver().cuGraphExecDestroy(executable_);
    cuda::driver().cuGraphDestroy(graph_);
  }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  void launch(CUstream stream) {
    if (executable_ == nullptr)
      cuda::check(cuda::driver().cuGraphInstantiateWithFlags(&executable_, graph_, 0), "cuGraphInstantiateWithFlags");
    cuda::check(cuda::driver().cuGraphLaunch(executable_, stream), "cuGraphLaunch");
  }

 private:
  CUgraph graph_ = nullptr;
  CUgraphExec executable_ = nullptr;
};

}  // namespace tuner::testing
