#pragma once
/// Describes a kernel in code instead of `#pragma tuner` lines. Each method writes the directive of the same name
/// (docs/kernel-files.md), so both ways mean the same and have the same checks. One thread at a time; only build()
/// throws. C++17.

#include <initializer_list>
#include <string>

#include <tuner/kernel.hpp>
#include <tuner/value_text.hpp>

namespace tuner {

class KernelBuilder {
 public:
  /// \p source: CUDA C++ that defines the kernel. It may contain `#pragma tuner` lines.
  KernelBuilder(const std::string& name, std::string source);

  KernelBuilder& type(const std::string& name, std::initializer_list<ValueText> types) {
    return directive("type", name + " = " + joined(types, " "));
  }
  KernelBuilder& choice(const std::string& name, std::initializer_list<ValueText> values) {
    return directive("choice", name + " = " + joined(values, " "));
  }
  /// \p integer: the type of the kernel's parameter for the size: "int", "unsigned", "int64", "uint64".
  KernelBuilder& size(const std::string& name, const std::string& integer = "int") {
    return directive("size", name + " : " + integer);
  }
  KernelBuilder& parameter(const std::string& name, std::initializer_list<ValueText> values) {
    return directive("parameter", name + " = " + joined(values, " "));
  }
  KernelBuilder& let(const std::string& name, const std::string& value) {
    return directive("let", name + " = " + value);
  }
  KernelBuilder& constraint(const std::string& name, const std::string& predicate) {
    return directive("constraint", name + ": " + predicate);
  }
  /// For all buffers. \p count: number of elements, an expression. \p type: of an element: `float`, `float4` or
  /// `{ float x; int id; }`; empty: the first type().
  KernelBuilder& in(const std::string& name, const std::string& count, const std::string& type = "") {
    return buffer("in", name, count, type);
  }
  KernelBuilder& out(const std::string& name, const std::string& count, const std::string& type = "") {
    return buffer("out", name, count, type);
  }
  KernelBuilder& inout(const std::string& name, const std::string& count, const std::string& type = "") {
    return buffer("inout", name, count, type);
  }
  KernelBuilder& consumed(const std::string& name, const std::string& count, const std::string& type = "") {
    return buffer("consumed", name, count, type);
  }
  KernelBuilder& scratch(const std::string& name, const std::string& count, const std::string& type = "") {
    return buffer("scratch", name, count, type);
  }
  KernelBuilder& zeroed(const std::string& name, const std::string& count, const std::string& type = "") {
    return buffer("zeroed", name, count, type);
  }
  /// \p how: "uniform 0 1", "constant 2", "iota".
  KernelBuilder& fill(const std::string& name, const std::string& how) { return directive("fill", name + " = " + how); }
  /// \p of: `pixels[nx, ny] linear`.
  KernelBuilder& texture(const std::string& name, const std::string& of) {
    return directive("texture", name + " = " + of);
  }
  /// \p of: `result[nx, ny]`.
  KernelBuilder& surface(const std::string& name, const std::string& of) {
    return directive("surface", name + " = " + of);
  }
  /// \p value: the value during tuning.
  KernelBuilder& scalar(const std::string& name, const std::string& type, double value) {
    return directive("scalar", name + " : " + type + " = " + number(value));
  }
  KernelBuilder& instantiate(const std::string& expression) { return directive("instantiate", expression); }
  /// Up to three dimensions, separated by commas.
  KernelBuilder& grid(const std::string& dimensions) { return directive("grid", dimensions); }
  KernelBuilder& block(const std::string& dimensions) { return directive("block", dimensions); }
  KernelBuilder& shared(const std::string& bytes) { return directive("shared", bytes); }
  KernelBuilder& arguments(std::initializer_list<ValueText> names) {
    return directive("arguments", joined(names, ", "));
  }
  KernelBuilder& when(const std::string& predicate) { return directive("when", predicate); }
  /// Where \p predicate holds, the blocks of the launch wait for each other (this_grid().sync()). Empty: always.
  KernelBuilder& cooperative(const std::string& predicate = "") { return directive("cooperative", predicate); }
  /// Where \p predicate holds, the launch is part of the result but not of the time. Empty: always.
  KernelBuilder& untimed(const std::string& predicate = "") { return directive("untimed", predicate); }
  /// Starts the next launch of a kernel that needs several.
  KernelBuilder& launch(const std::string& name) { return directive("launch", name); }
  /// Starts a reference launch; the following grid(), block(), shared() and arguments() describe it.
  KernelBuilder& reference(const std::string& expression) { return directive("reference", expression); }
  /// Starts a launch that runs before every run and is never timed, for inout buffers. The following grid(), block(),
  /// shared() and arguments() describe it. Ordinary launches of the kernel do without it.
  KernelBuilder& prepare(const std::string& expression) { return directive("prepare", expression); }
  /// \p problem: "n=1001 offset=1".
  KernelBuilder& verify(const std::string& problem) { return directive("verify", problem); }
  KernelBuilder& tolerance(double relative, double absolute = 0) {
    return directive("tolerance", "relative " + number(relative) + " absolute " + number(absolute));
  }
  KernelBuilder& accumulates(const std::string& terms) { return directive("accumulates", terms); }
  KernelBuilder& bytes(const std::string& expression) { return directive("bytes", expression); }
  KernelBuilder& flops(const std::string& expression) { return directive("flops", expression); }
  /// The kernels launch kernels themselves. \p pending: the largest number of such launches that are pending at once.
  KernelBuilder& device_launches(const std::string& pending) { return directive("device_launches", pending); }
  /// \p macros: "block items", or "TILE = block * items".
  KernelBuilder& define(const std::string& macros) { return directive("define", macros); }
  /// \p options: "--maxrregcount={registers} when registers > 0".
  KernelBuilder& compile(const std::string& options) { return directive("compile", options); }
  /// \p configuration: "block=256 unroll=4".
  KernelBuilder& default_configuration(const std::string& configuration) { return directive("default", configuration); }

  /// Throws SpecError; its line number counts the calls above.
  Kernel build() const;
  /// The kernel file that the calls so far describe.
  std::string text() const;

 private:
  KernelBuilder& directive(const char* name, const std::string& rest);
  KernelBuilder& buffer(const char* role, const std::string& name, const std::string& count, const std::string& type) {
    return directive(role, name + '[' + count + ']' + (type.empty() ? "" : " : " + type));
  }
  static std::string joined(std::initializer_list<ValueText> parts, const char* separator);
  static std::string number(double value);

  std::string name_;
  std::string source_;
  std::string directives_;  // one on each line
};

}  // namespace tuner
