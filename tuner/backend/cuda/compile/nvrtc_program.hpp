#pragma once
/// Owns a program of NVRTC.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <tuner/backend/cuda/compile/device_headers.hpp>
#include <tuner/backend/cuda/driver/nvrtc.hpp>
#include <tuner/core/cpp/scanner.hpp>

namespace tuner::cuda {

/// Its functions throw NvrtcError. \p nvrtc, given first, must outlive it.
class Program {
 public:
  Program(const Nvrtc& nvrtc, const std::string& source, const std::string& name, const DeviceHeaders& headers)
      : nvrtc_(nvrtc) {
    std::vector<const char*> names, texts;
    for (const std::string& header : headers.names) names.push_back(header.c_str());
    for (const std::string& text : headers.texts) texts.push_back(text.c_str());
    require(nvrtc.nvrtcCreateProgram(&program_, source.c_str(), name.c_str(), static_cast<int>(names.size()),
                                     texts.data(), names.data()),
            "nvrtcCreateProgram");
  }
  ~Program() { nvrtc_.nvrtcDestroyProgram(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void add(const std::string& expression) {
    require(nvrtc_.nvrtcAddNameExpression(program_, in_global_namespace(expression).c_str()), "nvrtcAddNameExpression");
  }

  nvrtcResult compile(const std::vector<std::string>& options) {
    std::vector<const char*> raw;
    for (const std::string& option : options) raw.push_back(option.c_str());
    return nvrtc_.nvrtcCompileProgram(program_, static_cast<int>(raw.size()), raw.data());
  }

  std::string log() { return text(nvrtc_.nvrtcGetProgramLogSize, nvrtc_.nvrtcGetProgramLog, "nvrtcGetProgramLog"); }
  std::string ptx() { return text(nvrtc_.nvrtcGetPTXSize, nvrtc_.nvrtcGetPTX, "nvrtcGetPTX"); }

  std::vector<std::byte> cubin() {
    std::size_t size = 0;
    require(nvrtc_.nvrtcGetCUBINSize(program_, &size), "nvrtcGetCUBINSize");
    std::vector<std::byte> code(size);
    require(nvrtc_.nvrtcGetCUBIN(program_, reinterpret_cast<char*>(code.data())), "nvrtcGetCUBIN");
    return code;
  }

  /// nullopt if \p expression names nothing.
  std::optional<std::string> symbol(const std::string& expression) {
    const char* lowered = nullptr;
    if (nvrtc_.nvrtcGetLoweredName(program_, in_global_namespace(expression).c_str(), &lowered) != NVRTC_SUCCESS)
      return std::nullopt;
    return lowered;
  }

 private:
  /// The answer of \p get, called \p call, without zeros at its end.
  template <typename Size, typename Get>
  std::string text(Size size_of, Get get, const char* call) {
    std::size_t size = 0;
    require(size_of(program_, &size), call);
    std::string text(size, '\0');
    if (size > 0) require(get(program_, text.data()), call);
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }
  void require(nvrtcResult result, const char* call) {
    if (result != NVRTC_SUCCESS) throw NvrtcError(std::string(call) + " failed: " + nvrtc_.nvrtcGetErrorString(result));
  }

  const Nvrtc& nvrtc_;
  nvrtcProgram program_ = nullptr;
};

}  // namespace tuner::cuda
