#include <tuner/backend/cuda/support_kernels.hpp>

#include <utility>

namespace tuner::cuda {

SupportKernels::SupportKernels(Compiler& compiler, const std::string& architecture, const std::string& source,
                               const std::string& file_name, std::vector<std::string> kernels) {
  CompileRequest request;
  request.source = source;
  request.file_name = file_name;
  request.expressions = std::move(kernels);
  request.architecture = architecture;
  const CompileResult result = compiler.compile(request);
  if (const CompileError* error = std::get_if<CompileError>(&result)) {
    throw Error("tuner's own kernels do not compile: " + error->message + "\n" + error->log);
  }
  const Image& image = std::get<Image>(result);
  module_ = load_module(image.code.data());
  for (const CompiledFunction& compiled : image.functions) {
    CUfunction function = nullptr;
    check(driver().cuModuleGetFunction(&function, module_.get(), compiled.symbol.c_str()), "cuModuleGetFunction");
    functions_.push_back(function);
  }
}

}  // namespace tuner::cuda
