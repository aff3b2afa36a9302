#pragma once
/// A call as the caller makes it, the place where it runs, the key by which calls share a plan, and its match with the
/// kernel's declaration. A warm call needs only its place and its key.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/gpu.hpp>
#include <tuner/core/device/device.hpp>
#include <tuner/core/kernel/size_classes.hpp>
#include <tuner/core/values/problem_size.hpp>
#include <tuner/error.hpp>
#include <tuner/problem.hpp>

namespace tuner {
struct KernelSpec;
}

namespace tuner::runtime {

/// The result of a call that waits: \p bytes of the library's device memory, which replaces the argument \p place, are
/// copied to \p to.
struct Value {
  detail::LaunchArgument* place;
  void* to;
  std::size_t bytes;
};

/// Calls \p act with the number that \p argument is: a double, std::uint64_t or std::int64_t. Precondition: it is one.
template <typename Act>
auto with_number(const detail::LaunchArgument& argument, const Act& act) {
  using Kind = detail::LaunchArgument::Kind;
  if (argument.kind == Kind::floating) return act(argument.number);
  if (argument.kind == Kind::unsigned_integer) return act(argument.integer);
  return act(static_cast<std::int64_t>(argument.integer));
}

struct Call {
  Stream stream;
  Workspace workspace;
  const Sizes& sizes;
  const detail::LaunchArgument* arguments;
  std::size_t count;
  const Value* value = nullptr;
  bool prepares = false;  ///< launches nothing; outputs may be null

  bool is_pointer(std::size_t i) const { return arguments[i].kind == detail::LaunchArgument::Kind::pointer; }
};
/// More than the parameters of a kernel have room for, if most have 4 bytes.
inline constexpr std::size_t kMaxArguments = 8192;

/// "kernel 'NAME'" and \p what.
inline Error refusal(std::string_view kernel, const std::string& what, ErrorCode code = ErrorCode::invalid_argument) {
  return {code, "kernel '" + std::string(kernel) + '\'' + what};
}

/// The lowest size of each class of \p sizes. They identify the classes.
inline Sizes size_classes(const Sizes& sizes) {
  Sizes low;
  for (std::size_t i = 0; i < sizes.count(); ++i) low.push_back(class_begin(sizes[i], sizes.count()));
  return low;
}

/// The highest size of each class of \p sizes.
inline Sizes class_ends(const Sizes& sizes) {
  Sizes high;
  for (std::size_t i = 0; i < sizes.count(); ++i)
    high.push_back(sizes[i] | ((std::int64_t{1} << bits_within_class(sizes[i], sizes.count())) - 1));
  return high;
}

inline std::uint64_t hash_with(std::uint64_t hash, const Sizes& sizes) {
  for (std::size_t i = 0; i < sizes.count(); ++i) {
    hash = (hash ^ static_cast<std::uint64_t>(sizes[i])) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}
struct SizesHash {
  std::size_t operator()(const Sizes& sizes) const { return hash_with(0, sizes); }
};

/// PlanKey::scalars for all values without a plan for them alone.
inline constexpr std::uint64_t kOtherScalars = 1;

struct PlanKey {
  static constexpr std::size_t kExact = 32;
  std::array<std::uint64_t, kExact / 8> pattern{};  ///< code_of() each of the first arguments, a byte each
  std::uint64_t rest = 0;                           ///< a digest of the codes of all others
  Sizes classes;                                    ///< the lowest size of each class
  std::uint64_t scalars = 0;                        ///< see ScalarKeys

  friend bool operator==(const PlanKey&, const PlanKey&) = default;

  std::uint64_t hash() const {
    std::uint64_t hash = rest ^ scalars;
    for (const std::uint64_t part : pattern) hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
    return hash_with(hash, classes);
  }
  /// The hash of a plan that is only for \p sizes.
  std::uint64_t hash_of(const Sizes& sizes) const { return hash_with(hash(), sizes); }
};

/// A number for the properties of \p argument that a plan depends on: its kind, for a pointer also its element type and
/// whether it is to const. Never 0.
inline std::uint64_t code_of(const detail::LaunchArgument& argument) {
  using Kind = detail::LaunchArgument::Kind;
  if (argument.kind == Kind::structure) return 0x81;
  if (argument.kind != Kind::pointer) return 0x80;
  return (argument.is_const ? 0x40u : 0u) | static_cast<unsigned>(argument.element + 2);
}

/// Throws Error for more than kMaxArguments arguments.
inline PlanKey key_of(const Call& call, std::string_view kernel) {
  if (call.count > kMaxArguments)
    throw refusal(kernel, ": more than " + std::to_string(kMaxArguments) + " arguments in a launch");
  PlanKey key{{}, 0, size_classes(call.sizes), 0};
  const std::size_t exact = std::min(call.count, PlanKey::kExact);
  for (std::size_t i = 0; i < exact; ++i) key.pattern[i / 8] |= code_of(call.arguments[i]) << (8 * (i % 8));
  for (std::size_t i = exact; i < call.count; ++i) {
    key.rest = (key.rest ^ code_of(call.arguments[i])) * 0xff51afd7ed558ccdu;
    key.rest ^= key.rest >> 32;
  }
  return key;
}

/// A pointer that is allowed only where the kernel accesses no element.
struct Suspect {
  std::size_t argument;
  std::string why;  ///< why the call's context cannot reach it; empty: it is null
};

/// Where a call runs: its context, the capture of its stream, and pointers that are not usable there.
struct CallPlace {
  /// \p ordinal: see CallContext. Throws what CallContext throws, and Error for a call that would wait for a capture.
  /// Allocates nothing if no pointer is suspect. Asks the driver nothing about pointers of this thread's last call.
  CallPlace(const Call& call, int ordinal);

  CallContext context;  ///< current on this thread while this object lives
  CallContext::Capture capture;
  std::vector<Suspect> suspects;  ///< without the place of the call's Value
};

/// A call that was matched with the kernel's declaration.
struct BoundCall {
  PlanKey key;
  Sizes sizes;
  ProblemSize size;    ///< the sizes, with the types of the pointers
  ProblemSize lowest;  ///< the same with the lowest sizes of the classes

  std::vector<std::size_t> buffers;  ///< for each buffer of the spec: the index of the caller's argument, or kWorkSpace
  std::vector<std::size_t> scalars;  ///< for each scalar of the spec: the index of the caller's argument
};
inline constexpr std::size_t kWorkSpace = ~std::size_t{0};

/// The problem with \p sizes and \p choices; other choices get their defaults. Throws Error for a wrong number of
/// sizes, a negative size, or an unknown choice.
ProblemSize problem_of(const KernelSpec& spec, const Sizes& sizes, Choices choices);

/// \p key must be that of \p call. Throws Error for a wrong number of sizes or arguments, for pointer types that
/// contradict each other or the kernel, and for a pointer to const where the kernel writes. Also for a pointer in
/// \p suspects whose buffer has elements.
BoundCall bind_call(const KernelSpec& spec, const Choices& choices, const Call& call, const PlanKey& key,
                    std::span<const Suspect> suspects, const DeviceLimits& limits);

}  // namespace tuner::runtime
