#include <tuner/backend/cuda/support_kernels.hpp>

namespace tuner::cuda {

SupportKernels::SupportKernels(const CompileResult& compiled) {
  if (const CompileError* error = std::get_if<CompileError>(&compiled)) {
    throw Error("tuner's own kernels do not compile: " + error->message + "\n" + error->log);
  }
  const Image& image = std::get<Image>(compiled);
  module_ = load_module(image.code.data());
  for (const CompiledFunction& kernel : image.functions) {
    CUfunction function = nullptr;
    check(driver().cuModuleGetFunction(&function, module_.get(), kernel.symbol.c_str()), "cuModuleGetFunction");
    functions_.push_back(function);
  }
}

}  // namespace tuner::cuda
