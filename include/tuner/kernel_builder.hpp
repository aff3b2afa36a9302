#pragma once
/// Describes a kernel in code instead of `#pragma tuner` lines. Each method writes the directive of the same name
/// (docs/kernel-files.md), so both ways mean the same and have the same checks. One thread at a time; only build()
/// throws. C++17.

#include <initializer_list>
#include <string>
#include <type_traits>

#include <tuner/kernel.hpp>

namespace tuner {
inline namespace TUNER_ABI {

/// A value of a tuning parameter: an integer, a boolean or a word.
class ValueText {
 public:
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  ValueText(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      text_ = value ? "true" : "false";
    } else {
      text_ = std::to_string(value);
    }
  }
  ValueText(const char* word) : text_(word) {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class KernelBuilder {
 public:
  using Text = const std::string&;
  using Values = std::initializer_list<ValueText>;

  /// \p source: CUDA C++ that defines the kernel. It may contain `#pragma tuner` lines.
  KernelBuilder(Text name, std::string source);

  KernelBuilder& type(Text name, Values types) { return directive("type", name + " = " + joined(types, " ")); }
  KernelBuilder& choice(Text name, Values values) { return directive("choice", name + " = " + joined(values, " ")); }
  /// \p integer: the type of the kernel's parameter for the size: "int", "unsigned", "int64", "uint64".
  KernelBuilder& size(Text name, Text integer = "int") { return directive("size", name + " : " + integer); }
  KernelBuilder& parameter(Text name, Values values) {
    return directive("parameter", name + " = " + joined(values, " "));
  }
  KernelBuilder& let(Text name, Text value) { return directive("let", name + " = " + value); }
  KernelBuilder& constraint(Text name, Text predicate) { return directive("constraint", name + ": " + predicate); }
  /// For all buffers. \p count: number of elements, an expression. \p type: of an element: `float`, `float4` or
  /// `{ float x; int id; }`; empty: the first type().
  KernelBuilder& in(Text name, Text count, Text type = "") { return buffer("in", name, count, type); }
  KernelBuilder& out(Text name, Text count, Text type = "") { return buffer("out", name, count, type); }
  KernelBuilder& inout(Text name, Text count, Text type = "") { return buffer("inout", name, count, type); }
  KernelBuilder& consumed(Text name, Text count, Text type = "") { return buffer("consumed", name, count, type); }
  KernelBuilder& scratch(Text name, Text count, Text type = "") { return buffer("scratch", name, count, type); }
  KernelBuilder& zeroed(Text name, Text count, Text type = "") { return buffer("zeroed", name, count, type); }
  /// \p how: "uniform 0 1", "constant 2", "iota".
  KernelBuilder& fill(Text name, Text how) { return directive("fill", name + " = " + how); }
  /// \p of: `pixels[nx, ny] linear`.
  KernelBuilder& texture(Text name, Text of) { return directive("texture", name + " = " + of); }
  /// \p of: `result[nx, ny]`.
  KernelBuilder& surface(Text name, Text of) { return directive("surface", name + " = " + of); }
  /// \p of: `x[m, k] box rows, tile swizzle 128B`.
  KernelBuilder& tensormap(Text name, Text of) { return directive("tensormap", name + " = " + of); }
  /// \p value: the value during tuning. \p only: results are for this value alone.
  KernelBuilder& scalar(Text name, Text type, double value, bool only = false) {
    return directive("scalar", name + " : " + type + " = " + number(value) + (only ? " only" : ""));
  }
  KernelBuilder& instantiate(Text expression) { return directive("instantiate", expression); }
  /// Up to three dimensions, separated by commas.
  KernelBuilder& grid(Text dimensions) { return directive("grid", dimensions); }
  KernelBuilder& block(Text dimensions) { return directive("block", dimensions); }
  KernelBuilder& shared(Text bytes) { return directive("shared", bytes); }
  KernelBuilder& arguments(Values names) { return directive("arguments", joined(names, ", ")); }
  KernelBuilder& when(Text predicate) { return directive("when", predicate); }
  /// Where \p predicate holds, the blocks of the launch wait for each other (this_grid().sync()). Empty: always.
  KernelBuilder& cooperative(Text predicate = "") { return directive("cooperative", predicate); }
  /// Where \p predicate holds, the launch may begin before the launch before it has ended. Empty: always.
  KernelBuilder& dependent(Text predicate = "") { return directive("dependent", predicate); }
  /// Blocks of a cluster: up to three dimensions, separated by commas.
  KernelBuilder& cluster(Text dimensions) { return directive("cluster", dimensions); }
  /// The preferred share of shared memory, in percent; -1 leaves it to the driver.
  KernelBuilder& carveout(Text percent) { return directive("carveout", percent); }
  /// Where \p predicate holds, the launch is part of the result but not of the time. Empty: always.
  KernelBuilder& untimed(Text predicate = "") { return directive("untimed", predicate); }
  /// Starts the next launch of a kernel that needs several.
  KernelBuilder& launch(Text name) { return directive("launch", name); }
  /// Starts a reference launch; the following grid(), block(), shared() and arguments() describe it.
  KernelBuilder& reference(Text expression) { return directive("reference", expression); }
  /// Starts a launch that runs before every run and is never timed, for inout buffers. The following grid(), block(),
  /// shared() and arguments() describe it. Ordinary launches of the kernel do without it.
  KernelBuilder& prepare(Text expression) { return directive("prepare", expression); }
  /// \p problem: "n=1001 offset=1".
  KernelBuilder& verify(Text problem) { return directive("verify", problem); }
  /// The pointers of all calls are multiples of \p bytes, a power of two up to 256.
  KernelBuilder& aligned(int bytes) { return directive("aligned", std::to_string(bytes)); }
  KernelBuilder& tolerance(double relative, double absolute = 0) {
    return directive("tolerance", "relative " + number(relative) + " absolute " + number(absolute));
  }
  KernelBuilder& accumulates(Text terms) { return directive("accumulates", terms); }
  KernelBuilder& bytes(Text expression) { return directive("bytes", expression); }
  KernelBuilder& flops(Text expression) { return directive("flops", expression); }
  /// \p expression: the time of a run, or anything that grows with it. A search starts where it is small.
  KernelBuilder& estimate(Text expression) { return directive("estimate", expression); }
  /// The kernels launch kernels themselves. \p pending: the largest number of such launches that are pending at once.
  KernelBuilder& device_launches(Text pending) { return directive("device_launches", pending); }
  /// \p macros: "block items", or "TILE = block * items".
  KernelBuilder& define(Text macros) { return directive("define", macros); }
  /// \p options: "--maxrregcount={registers} when registers > 0".
  KernelBuilder& compile(Text options) { return directive("compile", options); }
  /// \p configuration: "block=256 unroll=4".
  KernelBuilder& default_configuration(Text configuration) { return directive("default", configuration); }
  /// A search tries \p configuration early. Parameters that it leaves out have their default.
  KernelBuilder& seed(Text configuration) { return directive("seed", configuration); }

  /// Throws SpecError; its line number counts the calls above.
  Kernel build() const;
  /// The kernel file that the calls so far describe.
  std::string text() const;

 private:
  KernelBuilder& directive(const char* name, Text rest);
  KernelBuilder& buffer(const char* role, Text name, Text count, Text type) {
    return directive(role, name + '[' + count + ']' + (type.empty() ? "" : " : " + type));
  }
  static std::string joined(Values parts, const char* separator);
  static std::string number(double value);

  std::string name_;
  std::string source_;
  std::string directives_;  // one on each line
};

}  // namespace TUNER_ABI
}  // namespace tuner
