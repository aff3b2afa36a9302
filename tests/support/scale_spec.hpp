#pragma once
/// A kernel described in code, and its fake kernels, which compute c[i] = 2 * a[i].

#include <string>

#include <tuner/core/kernel/kernel_spec.hpp>

#include "fake_backend.hpp"

namespace tuner::testing {

inline Expression parsed(const std::string& text) { return Expression::parse(text, {"scale.cu", 1, 1}); }

inline BufferSpec buffer(const std::string& name, BufferRole role, const std::string& type, const std::string& count) {
  BufferSpec result;
  result.name = name;
  result.role = role;
  result.type = type;
  result.count = parsed(count);
  return result;
}

/// Parameter `block` = 32 64 128 256; expressions `scale<32>` … and `reference`. \p type of both buffers.
inline KernelSpec scale_spec(const std::string& type = "float") {
  KernelSpec spec;
  spec.name = "scale";
  spec.program.file = "scale.cu";
  spec.program.text = "// the fake compiler reads nothing";
  spec.sizes = {{"n", ElementType::int32, 1000}};
  spec.space = SearchSpace({{"block", {32, 64, 128, 256}}}, {});
  spec.buffers = {buffer("a", BufferRole::in, type, "n"), buffer("c", BufferRole::out, type, "n")};
  LaunchSpec launch;
  launch.instantiate = "scale<block>";
  launch.grid = {parsed("ceil_div(n, block)"), parsed("1"), parsed("1")};
  launch.block = {parsed("block"), parsed("1"), parsed("1")};
  launch.arguments = {"a", "c", "n"};
  spec.launches = {launch};
  launch.instantiate = "reference";
  launch.grid[0] = parsed("ceil_div(n, 256)");
  launch.block[0] = parsed("256");
  spec.verification.reference = {launch};
  spec.default_configuration = Configuration{{"block", 32}};
  return spec;
}

template <typename T>
std::optional<Outcome> scale_kernel(const Launch& launch) {
  const T* a = argument<const T*>(launch, 0);
  T* c = argument<T*>(launch, 1);
  for (int i = 0; i < argument<int>(launch, 2); ++i) c[i] = T(2 * a[i]);
  return std::nullopt;
}

/// scale_kernel() before \p after(launch).
template <typename After>
FakeKernel scaled_then(After after) {
  return [after](const Launch& launch) {
    scale_kernel<float>(launch);
    after(launch);
    return std::nullopt;
  };
}

/// scale_kernel(), except that it then writes \p value to c[\p index].
inline FakeKernel scaled_except(int index, float value) {
  return scaled_then([index, value](const Launch& launch) { argument<float*>(launch, 1)[index] = value; });
}

/// scale_kernel() while \p condition() holds; writes nothing otherwise.
template <typename Condition>
FakeKernel scaled_while(Condition condition) {
  return [condition](const Launch& launch) -> std::optional<Outcome> {
    return condition() ? scale_kernel<float>(launch) : std::nullopt;
  };
}

/// scale_kernel() after \p before(launch).
template <typename Before>
FakeKernel scaled_after(Before before) {
  return [before](const Launch& launch) {
    before(launch);
    return scale_kernel<float>(launch);
  };
}

/// Gives \p backend correct kernels for scale_spec().
template <typename T = float>
void give_kernels(FakeBackend& backend) {
  for (const char* name : {"reference", "scale<32>", "scale<64>", "scale<128>", "scale<256>"})
    backend.kernels[name] = scale_kernel<T>;
}

inline Configuration block(int value) { return Configuration{{"block", value}}; }

}  // namespace tuner::testing
