#pragma once
/// A compiler makes images of kernel files. Needs no device. Expected failures are values (CompileError).

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tuner/core/cpp/included_file.hpp>
#include <tuner/core/kernel/compile_option.hpp>
#include <tuner/core/result/outcome.hpp>

namespace tuner {

struct CompileRequest {
  std::string source;     ///< program_text()
  std::string file_name;  ///< for diagnostics
  /// Name expressions to instantiate, e.g. `add<float, 32>`, and addresses of variables, e.g. `&filter`.
  std::vector<std::string> expressions;
  std::vector<std::string> defines;  ///< `NAME=VALUE`
  std::string architecture;          ///< "sm_90"; the host backend's is "host"
  /// The files that `source` includes, as they were before it is compiled; null: none.
  std::shared_ptr<const Includes> includes = nullptr;
  /// Host backend only: threads of a block switch at memory accesses (ThreadOrder::Kind::interleaved).
  bool interleaved = false;
  /// Host backend only: kernels are measured meanwhile, so the compiler gives way to all other processes. On a busy
  /// machine it then takes many times as long.
  bool in_background = false;
  /// When this becomes true, compilers that can stop end with CompileError. May be null.
  const std::atomic<bool>* stop = nullptr;
  /// The kernels launch kernels themselves: a GPU's image is linked with the device runtime.
  bool device_launches = false;
  /// As for NVRTC. The host backend takes `-G` as "do not optimise", follows `--std` and ignores all others.
  std::vector<CompileOption> options = {};
  /// The macros of the kernel file, `NAME=VALUE`. They hold for its text and the files that it includes, not for the
  /// compiler's own headers.
  std::vector<std::string> macros = {};
  /// ProgramSpec::include_paths
  std::vector<std::string> include_paths = {};
  /// The files of `includes`, for a compiler on another host that may not have them. Empty: the compiler reads files.
  std::vector<IncludedFile> carried = {};
};

/// The names of CompileRequest::macros.
inline std::vector<std::string_view> macro_names(const CompileRequest& request) {
  std::vector<std::string_view> names;
  for (const std::string_view macro : request.macros) names.push_back(macro.substr(0, macro.find('=')));
  return names;
}

struct CompiledFunction {
  std::string expression;  ///< as requested
  std::string symbol;      ///< lowered name in the image
  Resources resources;     ///< without occupancy
};

/// The machine code of one compile: a cubin or a shared object.
struct Image {
  std::vector<std::byte> code;
  std::vector<CompiledFunction> functions;  ///< in the order of CompileRequest::expressions
  std::string log;                          ///< warnings
};

using CompileResult = std::variant<Image, CompileError>;

/// Needs no device. Thread-safe.
class Compiler {
 public:
  virtual ~Compiler() = default;
  virtual CompileResult compile(const CompileRequest& request) = 0;
  /// Compiler, version and fixed options: everything that an image depends on, apart from the request.
  virtual std::string identity() const = 0;
};

}  // namespace tuner
