#include <tuner/kernel_builder.hpp>

#include <charconv>

#include <tuner/runtime/interfaces/leaving.hpp>

namespace tuner {

KernelBuilder::KernelBuilder(const std::string& name, std::string source) : name_(name), source_(std::move(source)) {
  directive("kernel", name);
}

KernelBuilder& KernelBuilder::directive(const char* name, const std::string& rest) {
  directives_ += std::string("#pragma tuner ") + name + ' ' + rest + '\n';
  return *this;
}

std::string KernelBuilder::joined(std::initializer_list<ValueText> parts, const char* separator) {
  std::string result;
  for (const ValueText& part : parts) result += (result.empty() ? "" : separator) + part.text();
  return result;
}

/// The shortest text that reads back as the same number, in any locale.
std::string KernelBuilder::number(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr};
}

std::string KernelBuilder::text() const { return directives_ + source_ + '\n'; }

Kernel KernelBuilder::build() const try {
  return Kernel::from_source(text(), name_ + " (built in code)");
} catch (...) {
  runtime::leave_with_error();
}

}  // namespace tuner
