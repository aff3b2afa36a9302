#pragma once
/// The user's own kernels: read from a file or built in code, tuned, and launched with the best known configuration.
/// A warm launch allocates nothing, takes no lock and touches no file. C++17.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include <tuner/problem.hpp>

namespace tuner {

struct KernelSpec;

namespace detail {

/// One launch argument: a pointer with the code of its element type, or a number.
struct LaunchArgument {
  const void* pointer = nullptr;
  double number = 0;
  std::int64_t integer = 0;  ///< the number again, exact when it was an integer
  int element = -1;          ///< -1: a pointer to void, or a number
  bool is_pointer = false;
};

template <typename T>
LaunchArgument launch_argument(T value) {
  LaunchArgument argument;
  if constexpr (std::is_pointer_v<T>) {
    using Element = std::remove_cv_t<std::remove_pointer_t<T>>;
    argument.pointer = value;
    argument.is_pointer = true;
    if constexpr (!std::is_void_v<Element>) {
      static_assert(element_code<Element>() >= 0, "tuner knows no element type for this pointer");
      argument.element = element_code<Element>();
    }
  } else {
    static_assert(std::is_arithmetic_v<T>, "kernel arguments are pointers and numbers");
    argument.number = static_cast<double>(value);
    argument.integer = static_cast<std::int64_t>(value);
  }
  return argument;
}

}  // namespace detail

/// A kernel that can be launched. Cheap to copy; copies share what is compiled. Thread-safe.
class Kernel {
 public:
  /// \p name_or_path: a kernel of the template path, or a `.cu` file. Throws SpecError (file:line:column) or Error.
  static Kernel from_file(const std::string& name_or_path);
  /// \p text: a kernel file's contents; \p name is used in messages.
  static Kernel from_source(std::string_view text, const std::string& name);
  explicit Kernel(KernelSpec spec);

  const std::string& name() const;
  const KernelSpec& spec() const;
  /// The same kernel with choices made that do not follow from pointers: `reduce.with({{"operation", "max"}})`.
  /// Throws Error for an unknown choice or value.
  Kernel with(const Choices& choices) const;

  /// Enqueues the kernel on \p stream. \p arguments: pointers in the order in which the kernel declares its in, out,
  /// inout and consumed buffers, numbers in the order of its scalars. Element types follow from the pointers.
  /// Buffers lie on the device that the current context belongs to (on the host backend: in memory).
  /// Throws Error for a wrong number of arguments, a pointer of the wrong type or on the wrong device, and whatever
  /// the backend throws.
  template <typename... Arguments>
  void launch(Stream stream, const Sizes& sizes, Arguments... arguments) const {
    const detail::LaunchArgument list[] = {detail::launch_argument(arguments)..., {}};
    launch_erased(stream, sizes, list, sizeof...(arguments));
  }

  /// Does everything that launch() may have to do the first time (lookup, tuning, compiling, allocating work space
  /// for \p stream), so that launch() can be captured into a CUDA graph. Arguments as in launch(); nothing is launched.
  template <typename... Arguments>
  void prepare(Stream stream, const Sizes& sizes, Arguments... arguments) const {
    const detail::LaunchArgument list[] = {detail::launch_argument(arguments)..., {}};
    prepare_erased(stream, sizes, list, sizeof...(arguments));
  }

  /// The configuration that launch() uses for this problem and how it was found, one sentence.
  std::string explain(const Sizes& sizes, const Choices& types = {}) const;

 private:
  void launch_erased(Stream stream, const Sizes& sizes, const detail::LaunchArgument* arguments,
                     std::size_t count) const;
  void prepare_erased(Stream stream, const Sizes& sizes, const detail::LaunchArgument* arguments,
                      std::size_t count) const;

  friend class KernelAccess;
  struct Impl;
  explicit Kernel(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace tuner
