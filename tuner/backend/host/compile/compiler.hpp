#pragma once
/// Compiles kernel files into shared objects with the system's C++ compiler.

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <tuner/backend/compiler.hpp>
#include <tuner/backend/host/compile/host_options.hpp>
#include <tuner/backend/host/compile/process.hpp>
#include <tuner/backend/host/compile/translation_unit.hpp>
#include <tuner/backend/left_out_code.hpp>
#include <tuner/core/cpp/includes.hpp>

namespace tuner::host {

class HostCompiler final : public Compiler {
 public:
  explicit HostCompiler(const HostOptions& options);
  CompileResult compile(const CompileRequest& request) override;
  std::string identity() const override;
  /// A text of ours that is linked with kernels.
  struct Part {
    const char* name;
    const char* text;
  };

  /// "g++ 12.2.0", or "none" when no compiler was found. Throws Passing if a compiler does not answer now.
  std::string short_name() const;

 private:
  struct CxxCompiler {
    std::vector<std::string> command;  // the program and its arguments from CXX; empty: none was found
    std::string version;               // first line of --version
    std::string tried;                 // for the message when none was found
  };
  /// Searches until a compiler is found, and then returns that one. Throws Passing if a compiler does not answer now.
  std::shared_ptr<const CxxCompiler> cxx() const;
  CxxCompiler search() const;
  /// The reason why \p command is not a compiler. If it is one, fills in \p found and returns nothing. Throws Passing.
  static std::string try_compiler(const std::vector<std::string>& command, bool by_name, CxxCompiler& found);
  std::string object_key(const CompileRequest& request, const std::string& unit, const Includes& includes) const;
  /// Load and store the object of \p key. Do nothing without a cache folder.
  std::optional<std::vector<std::byte>> load_object(const std::string& key) const;
  void store_object(const std::string& key, const std::vector<std::byte>& object) const;
  std::optional<CompileError> build(const CompileRequest& request, const std::vector<IncludedFile>& texts,
                                    const Includes& includes, Image& image);
  /// Fills in \p image's code and log.
  std::optional<CompileError> run_compiler(const CompileRequest& request, const ProgramText& program,
                                           Image& image) const;
  struct Folders {
    std::filesystem::path unit, shim;  // of one compile, and of all
  };
  std::optional<CompileError> run_compiler(const CompileRequest& request, const Folders& folders,
                                           const std::vector<std::string>& arguments, std::string& log) const;

  using SharedFolder = std::shared_ptr<const PrivateDirectory>;
  SharedFolder shim_folder() const;
  std::variant<std::string, CompileError> compile_part(const CompileRequest& request, const Part& part,
                                                       const std::filesystem::path& shim, std::string& log) const;

  HostOptions options_;
  std::optional<std::filesystem::path> cache_folder_;
  mutable std::mutex searching_;
  mutable std::shared_ptr<const CxxCompiler> cxx_;
  mutable std::mutex shim_mutex_, parts_mutex_;
  mutable SharedFolder shim_;
  LeftOutCode left_out_;
};

}  // namespace tuner::host

namespace tuner {

/// Only the compiler, for processes that compile and never run.
std::unique_ptr<Compiler> make_host_compiler(const HostOptions& options = {});

}  // namespace tuner
