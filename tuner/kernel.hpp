#pragma once
/// The user's own kernels: read from a file or built in code, tuned, and launched with the best known configuration.
/// C++17.
///
/// Sizes count elements. Pointers are borrowed: they must stay valid until the launch has ended on its stream. Every
/// function may be called from several threads at once. Errors are exceptions derived from tuner::Error, thrown before
/// anything is launched; code() names their kind. A fault of the kernel itself shows up in a later call on its context,
/// as with any launch.
///
/// A warm launch allocates nothing, takes no lock and touches no file. It is warm when an earlier one had the same
/// context, the same types, and sizes of the same class: each size lies between neighbouring eighths of a power of two
/// (quarters for two sizes, halves for three). The first launch of a class looks up the best known configuration, tunes
/// when there is none and the settings allow it, compiles and loads.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <tuner/problem.hpp>

namespace tuner {

struct KernelSpec;
class Kernel;
struct RunOptions;
struct RunResult;
struct TuneOptions;
struct TuneResult;
namespace runtime {
class ServedKernel;
}
namespace detail {
/// What stands behind tuner::capture().
void capture_erased(const Kernel& kernel, Stream stream, const Sizes& sizes, const std::function<void()>& launch,
                    const LaunchArgument* arguments, std::size_t count);
}  // namespace detail

/// A kernel that can be launched. Cheap to copy; copies share what is compiled.
class Kernel {
 public:
  /// \p name_or_path: a kernel of the template path, or a `.cu` file. Throws SpecError (file:line:column) or Error.
  static Kernel from_file(const std::string& name_or_path);
  /// \p text: a kernel file's contents; \p name is used in messages. Throws SpecError.
  static Kernel from_source(std::string_view text, const std::string& name);
  explicit Kernel(KernelSpec spec);

  const std::string& name() const;
  const KernelSpec& spec() const;
  /// The same kernel with choices made that do not follow from pointers: `reduce.with({{"operation", "max"}})`.
  /// Throws Error for an unknown choice or value.
  Kernel with(const Choices& choices) const;

  /// Enqueues the kernel on \p stream of the context that is current on this thread (without one: the pointers' own,
  /// else the first GPU's primary one) and returns; on the host backend it returns when the kernel has ended. \p
  /// arguments: pointers in the order in which the kernel declares its in, out, inout and consumed buffers, numbers in
  /// the order of its scalars; the two may be mixed. Element types follow from the pointers. Pointers are memory that
  /// this GPU can reach; a pointer to const is no output; null only where the buffer has no elements. Work space is the
  /// library's, one for each stream. While \p stream is captured into a graph, a launch takes a work space of its own,
  /// which is given back when the last graph made of the capture is destroyed; nothing is allocated, compiled or tuned
  /// then: what prepare() has not seen may be refused, and the capture goes on. Throws Error for a wrong number of
  /// arguments, a pointer of the wrong type or in the wrong place, a number that the kernel's type cannot hold, and
  /// what the driver or compiler reports.
  template <typename... Arguments>
  void launch(Stream stream, const Sizes& sizes, Arguments... arguments) const {
    launch(stream, Workspace{}, sizes, arguments...);
  }
  /// With the caller's work space, of workspace_bytes() or more.
  template <typename... Arguments>
  void launch(Stream stream, Workspace workspace, const Sizes& sizes, Arguments... arguments) const {
    const detail::LaunchArgument list[] = {detail::launch_argument(arguments)..., {}};
    launch_erased(stream, workspace, sizes, list, sizeof...(arguments));
  }

  /// Does everything that launch() may have to do the first time (look up, tune, compile, load, allocate work space for
  /// \p stream and for captures), so that the next \p captures launches of this size class can be captured. Arguments
  /// as in launch(); outputs may be null; nothing is launched. Not while \p stream is captured. Throws as launch()
  /// does.
  template <typename... Arguments>
  void prepare(Stream stream, const Sizes& sizes, Arguments... arguments) const {
    const detail::LaunchArgument list[] = {detail::launch_argument(arguments)..., {}};
    prepare_erased(stream, sizes, list, sizeof...(arguments), kCaptures);
  }
  /// How many captured launches prepare() makes room for beside those in use.
  static constexpr std::size_t kCaptures = 64;

  /// Bytes of device memory that a launch of these sizes and types needs; 0: none. Arguments as in prepare(), which
  /// this implies. The same for all sizes of a class, until the kernel is tuned again.
  template <typename... Arguments>
  std::size_t workspace_bytes(const Sizes& sizes, Arguments... arguments) const {
    const detail::LaunchArgument list[] = {detail::launch_argument(arguments)..., {}};
    return prepare_erased(nullptr, sizes, list, sizeof...(arguments), 0);
  }

  /// The configuration that launch() uses for this problem and how it was found, one sentence. Never tunes. Throws
  /// Error for wrong sizes or choices.
  std::string explain(const Sizes& sizes, const Choices& types = {}) const;

 private:
  void launch_erased(Stream stream, Workspace workspace, const Sizes& sizes, const detail::LaunchArgument* arguments,
                     std::size_t count) const;
  std::size_t prepare_erased(Stream stream, const Sizes& sizes, const detail::LaunchArgument* arguments,
                             std::size_t count, std::size_t captures) const;

  friend void detail::capture_erased(const Kernel& kernel, Stream stream, const Sizes& sizes,
                                     const std::function<void()>& launch, const detail::LaunchArgument* arguments,
                                     std::size_t count);
  friend RunResult run(const Kernel& kernel, const Sizes& sizes, const Choices& choices, const RunOptions& options);
  friend TuneResult tune(const Kernel& kernel, const Sizes& sizes, const Choices& choices, const TuneOptions& options);
  std::shared_ptr<runtime::ServedKernel> served_;
};

}  // namespace tuner
