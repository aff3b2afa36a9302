#pragma once
/// The user's own kernels: read from a file or built in code, tuned, and launched with the best known configuration.
/// C++17.
///
/// Sizes count elements. Pointers are borrowed: they must stay valid until the launch has ended on its stream. All
/// functions are thread-safe. They throw exceptions derived from tuner::Error before anything is launched; code() gives
/// the kind. A fault in the kernel itself appears in a later call on its context, as with any launch.
///
/// A warm launch allocates nothing, takes no lock and touches no file. A launch is warm when an earlier one had the
/// same context, the same types, and sizes of the same class. Each power of two is divided into eight classes (four for
/// two sizes, two for three). The first launch of a class looks up the best known configuration, tunes if there is none
/// and the settings allow it, compiles and loads.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/problem.hpp>
#include <tuner/use.hpp>

struct tuner_kernel;  // tuner.h

namespace tuner {

struct KernelSpec;

inline namespace TUNER_ABI {

class Kernel;
struct RunOptions;
struct RuleResult;
struct RunResult;
struct TuneOptions;
struct TuneResult;
namespace detail {
/// Implements tuner::record().
void record_erased(const Kernel& kernel, Stream stream, const Sizes& sizes, const std::function<void()>& launch,
                   const LaunchArgument* arguments, std::size_t count);
}  // namespace detail

/// A kernel that can be launched. Cheap to copy: copies share their compiled code.
class Kernel {
 public:
  /// \p name_or_path: a kernel on the template path, or a `.cu` file. Throws SpecError (file:line:column) or Error.
  static Kernel from_file(const std::string& name_or_path);
  /// \p text: the contents of a kernel file. \p name: for messages. Throws SpecError.
  static Kernel from_source(std::string_view text, const std::string& name);
  /// \p spec: from a KernelBuilder or a reader of kernel files. Throws Error for one without launches.
  explicit Kernel(KernelSpec spec);

  const std::string& name() const;
  const KernelSpec& spec() const;
  /// The same kernel with choices that do not follow from pointers: `reduce.with({{"operation", "max"}})`. Throws Error
  /// for an unknown choice or value.
  Kernel with(const Choices& choices) const;
  /// The same kernel for a program that says how it uses it: results for \p use come before those for single launches.
  /// Without this, results for Use::graph come first for launches into a capture, and others are single launches.
  Kernel used_as(Use use) const;

  /// Enqueues the kernel on \p stream and returns. On the host backend it returns when the kernel has ended. The
  /// context is this thread's current one, else that of the pointers, else the first GPU's primary context.
  ///
  /// \p arguments: pointers in the order of the kernel's in, out, inout and consumed buffers, and numbers and structs
  /// of plain data in the order of its scalars. The two may be mixed. Element types follow from the pointers. Pointers
  /// must lead to memory that this GPU can reach. A pointer to const cannot be an output. A pointer may be null if its
  /// buffer has no elements.
  ///
  /// The library provides one work space for each stream. While \p stream is captured into a graph, each launch takes
  /// its own work space, which is free again when the last graph made from the capture is destroyed. During a capture
  /// nothing is allocated, compiled or tuned: an unprepared launch may be refused, and the capture continues.
  ///
  /// Throws Error for a wrong number of arguments, a pointer of the wrong type or in the wrong place, or a number that
  /// does not fit the kernel's type. Errors of the driver and the compiler are thrown too.
  template <typename... Arguments>
  void launch(Stream stream, const Sizes& sizes, Arguments... arguments) const {
    launch(stream, Workspace{}, sizes, arguments...);
  }
  /// Uses the caller's work space, which must have workspace_bytes() or more.
  template <typename... Arguments>
  void launch(Stream stream, Workspace workspace, const Sizes& sizes, Arguments... arguments) const {
    const detail::LaunchArgument list[] = {detail::launch_argument(arguments)..., {}};
    launch_erased(stream, workspace, sizes, list, sizeof...(arguments));
  }

  /// Does all that a first launch() may need: looks up, tunes, compiles, loads, and allocates work space for \p stream
  /// and for captures. Afterwards, the next kCaptures launches of this size class can be captured. Launches nothing.
  /// Arguments as in launch(), but outputs may be null. Not allowed while \p stream is captured. Throws as launch()
  /// does.
  template <typename... Arguments>
  void prepare(Stream stream, const Sizes& sizes, Arguments... arguments) const {
    const detail::LaunchArgument list[] = {detail::launch_argument(arguments)..., {}};
    prepare_erased(stream, sizes, list, sizeof...(arguments), kCaptures);
  }
  /// The number of captured launches, besides those in use, that prepare() makes room for.
  static constexpr std::size_t kCaptures = 64;

  /// Bytes of device memory that a launch with these sizes and types needs; 0: none. Also does the work of prepare(),
  /// with the same arguments. The same for all sizes of a class, until the kernel is tuned again.
  template <typename... Arguments>
  std::size_t workspace_bytes(const Sizes& sizes, Arguments... arguments) const {
    const detail::LaunchArgument list[] = {detail::launch_argument(arguments)..., {}};
    return prepare_erased(nullptr, sizes, list, sizeof...(arguments), 0);
  }

  /// One sentence: the configuration that launch() uses for this problem, and how it was found. Never tunes. Throws
  /// Error for wrong sizes or choices.
  std::string explain(const Sizes& sizes, const Choices& types = {}) const;
  /// How many elements each array of a launch needs, in the order of the arguments. A vector's components, and a
  /// struct's bytes, are counted one by one. Throws Error for wrong sizes or choices.
  std::vector<std::int64_t> elements(const Sizes& sizes, const Choices& types = {}) const;

 private:
  void launch_erased(Stream stream, Workspace workspace, const Sizes& sizes, const detail::LaunchArgument* arguments,
                     std::size_t count) const;
  std::size_t prepare_erased(Stream stream, const Sizes& sizes, const detail::LaunchArgument* arguments,
                             std::size_t count, std::size_t captures) const;

  friend void detail::record_erased(const Kernel& kernel, Stream stream, const Sizes& sizes,
                                    const std::function<void()>& launch, const detail::LaunchArgument* arguments,
                                    std::size_t count);
  friend struct ::tuner_kernel;
  friend RunResult run(const Kernel& kernel, const Sizes& sizes, const Choices& choices, const RunOptions& options);
  friend TuneResult tune(const Kernel& kernel, const Sizes& sizes, const Choices& choices, const TuneOptions& options);
  friend RuleResult tune_together(const Kernel& kernel, const std::vector<Sizes>& sizes, const Choices& choices,
                                  const TuneOptions& options);
  struct Served;
  std::shared_ptr<Served> served_;
};

}  // namespace TUNER_ABI
}  // namespace tuner
