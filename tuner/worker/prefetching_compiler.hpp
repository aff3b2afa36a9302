#pragma once
/// A compiler that has begun with what it will be asked for first: an NVIDIA context takes as long to open as tuner's
/// own kernels take to compile, so both happen at once.

#include <future>
#include <memory>
#include <vector>

#include <tuner/backend/backend.hpp>

namespace tuner::worker {

class PrefetchingCompiler : public Compiler {
 public:
  /// Starts compiling \p expected, in order, on a thread of its own.
  PrefetchingCompiler(std::unique_ptr<Compiler> compiler, std::vector<CompileRequest> expected);

  CompileResult compile(const CompileRequest& request) override;
  std::string identity() const override { return compiler_->identity(); }

 private:
  struct Expected {
    CompileRequest request;
    std::promise<CompileResult> promise;
    std::shared_future<CompileResult> result;
  };
  std::unique_ptr<Compiler> compiler_;
  std::vector<Expected> expected_;
  std::future<void> done_;  // last: its destructor waits for the thread
};

}  // namespace tuner::worker
