#include <tuner/backend/cuda/support_kernels.hpp>

#include <utility>

namespace tuner::cuda {

namespace {

std::string support_text(std::string_view name) {
  for (const SupportFile& file : support_files())
    if (file.name == name) return std::string(file.text);
  throw Error("tuner has no embedded kernels called " + std::string(name));
}

/// For NVRTC, which has these functions under other names.
std::string fill_value_text() {
  constexpr std::string_view once = "#pragma once\n";
  return "#define __builtin_memcpy memcpy\n"
         "#define __builtin_huge_val() __longlong_as_double(0x7ff0000000000000LL)\n" +
         support_text("fill_value.hpp").substr(once.size());
}

}  // namespace

CompileRequest support_request(std::string_view file, std::vector<std::string> kernels,
                               const std::string& architecture) {
  std::string text = support_text(file);
  if (file == "data.cu") text = fill_value_text() + text;
  return {std::move(text), "tuner/support/" + std::string(file), std::move(kernels), {}, architecture};
}

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
