#pragma once
/// Headers that NVRTC compiles once for many configurations of a kernel. They take hundreds of megabytes, and only the
/// process that made them can use them. NVRTC may compile only one program at a time meanwhile.

#include <nvrtc.h>

#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tuner/backend/cuda/compile/device_headers.hpp>
#include <tuner/backend/cuda/driver/nvrtc.hpp>

namespace tuner::cuda {

/// Not thread-safe.
class PrecompiledHeaders {
 public:
  static constexpr int kFirstVersion = 12080;  ///< of NVRTC
  /// Compiles a program with an option: for a precompiled header, or empty.
  using Compile = std::function<nvrtcResult(const std::string& option)>;

  /// Whether there is memory for such headers in a compiler for each processor.
  static bool has_memory();

  /// \p folder and \p long_s: as in NvrtcOptions.
  PrecompiledHeaders(std::function<std::filesystem::path()> folder, double long_s, bool (*has_room)() = &has_memory)
      : folder_(std::move(folder)), long_s_(long_s), has_room_(has_room) {}

  explicit operator bool() const { return folder_ != nullptr; }

  /// Calls \p compile for a text that begins with \p head and includes \p files, and returns its result. The first
  /// compile shows how long it takes. The second one makes the header, which the others use as long as that is faster.
  nvrtcResult compile(const Nvrtc& nvrtc, const std::string& head, const std::vector<std::string>& options,
                      const DeviceHeaders& headers, std::span<const IncludedFile> files, const Compile& compile);

 private:
  struct Header {
    enum class State { unknown, slow, made, useless };
    State state = State::unknown;
    double seconds = 0;  // of a compile without it
    double fastest = std::numeric_limits<double>::infinity();
    int uses = 0;
    std::filesystem::path file;
  };
  nvrtcResult make(const Nvrtc& nvrtc, Header& header, const Compile& compile);
  static void drop(Header& header);

  std::function<std::filesystem::path()> folder_;
  double long_s_;
  bool (*has_room_)();
  std::filesystem::path where_;
  std::map<std::string, Header> headers_;  // by the digest of all that decides them
  int made_ = 0;
};

}  // namespace tuner::cuda
