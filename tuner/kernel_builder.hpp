#pragma once
/// Describes a kernel in code instead of `#pragma tuner` lines. Each method writes the directive of the same name
/// (docs/kernel-files.md), so that both ways mean exactly the same and are checked by the same rules. C++17.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <tuner/kernel.hpp>
#include <tuner/value_text.hpp>

namespace tuner {

class KernelBuilder {
 public:
  /// \p source: CUDA C++ that defines the kernel; it may contain `#pragma tuner` lines of its own.
  KernelBuilder(const std::string& name, std::string source);

  KernelBuilder& type(const std::string& name, std::initializer_list<const char*> types);
  KernelBuilder& choice(const std::string& name, std::initializer_list<const char*> values);
  /// \p integer: the type the kernel takes the size as: "int", "unsigned", "int64", "uint64".
  KernelBuilder& size(const std::string& name, const std::string& integer = "int");
  KernelBuilder& parameter(const std::string& name, std::initializer_list<ValueText> values);
  KernelBuilder& let(const std::string& name, const std::string& expression);
  KernelBuilder& constraint(const std::string& name, const std::string& expression);
  /// \p count: elements, an expression; \p element_type: the first type() when empty. The same for all buffers.
  KernelBuilder& in(const std::string& name, const std::string& count, const std::string& element_type = "");
  KernelBuilder& out(const std::string& name, const std::string& count, const std::string& element_type = "");
  KernelBuilder& inout(const std::string& name, const std::string& count, const std::string& element_type = "");
  KernelBuilder& consumed(const std::string& name, const std::string& count, const std::string& element_type = "");
  KernelBuilder& scratch(const std::string& name, const std::string& count, const std::string& element_type = "");
  KernelBuilder& zeroed(const std::string& name, const std::string& count, const std::string& element_type = "");
  /// \p how: "uniform 0 1", "constant 2", "iota".
  KernelBuilder& fill(const std::string& buffer, const std::string& how);
  /// \p value: the value used while tuning.
  KernelBuilder& scalar(const std::string& name, const std::string& element_type, double value);
  KernelBuilder& instantiate(const std::string& expression);
  /// Up to three dimensions separated by commas.
  KernelBuilder& grid(const std::string& dimensions);
  KernelBuilder& block(const std::string& dimensions);
  KernelBuilder& shared(const std::string& bytes);
  KernelBuilder& arguments(std::initializer_list<const char*> names);
  KernelBuilder& when(const std::string& expression);
  /// Starts the next launch of a kernel that needs several.
  KernelBuilder& launch(const std::string& name);
  /// Starts a reference launch; grid(), block(), shared() and arguments() that follow describe it.
  KernelBuilder& reference(const std::string& expression);
  /// \p problem: "n=1001 offset=1".
  KernelBuilder& verify(const std::string& problem);
  KernelBuilder& tolerance(double relative, double absolute = 0);
  KernelBuilder& accumulates(const std::string& expression);
  KernelBuilder& bytes(const std::string& expression);
  KernelBuilder& flops(const std::string& expression);
  /// \p configuration: "block=256 unroll=4".
  KernelBuilder& default_configuration(const std::string& configuration);

  /// Throws SpecError; its line counts the calls above.
  Kernel build() const;
  /// The kernel file that the calls so far amount to.
  std::string text() const;

 private:
  KernelBuilder& directive(const std::string& name, const std::string& rest);
  KernelBuilder& buffer(const char* role, const std::string& name, const std::string& count,
                        const std::string& element_type);

  std::string name_;
  std::string source_;
  std::vector<std::string> directives_;
};

}  // namespace tuner
