#include <tuner/kernel_builder.hpp>

#include <charconv>

namespace tuner {
namespace {

std::string joined(const auto& parts, const char* separator) {
  std::string result;
  for (const auto& part : parts) {
    if (!result.empty()) result += separator;
    result += part;
  }
  return result;
}

/// Shortest text that reads back to the same number, whatever the locale.
std::string number(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  return {buffer, end};
}

}  // namespace

KernelBuilder::KernelBuilder(const std::string& name, std::string source) : name_(name), source_(std::move(source)) {
  directive("kernel", name);
}

KernelBuilder& KernelBuilder::directive(const std::string& name, const std::string& rest) {
  directives_.push_back("#pragma tuner " + name + ' ' + rest);
  return *this;
}

KernelBuilder& KernelBuilder::buffer(const char* role, const std::string& name, const std::string& count,
                                     const std::string& element_type) {
  return directive(role, name + '[' + count + ']' + (element_type.empty() ? "" : " : " + element_type));
}

KernelBuilder& KernelBuilder::type(const std::string& name, std::initializer_list<const char*> types) {
  return directive("type", name + " = " + joined(types, " "));
}
KernelBuilder& KernelBuilder::choice(const std::string& name, std::initializer_list<const char*> values) {
  return directive("choice", name + " = " + joined(values, " "));
}
KernelBuilder& KernelBuilder::size(const std::string& name, const std::string& integer) {
  return directive("size", name + " : " + integer);
}
KernelBuilder& KernelBuilder::parameter(const std::string& name, std::initializer_list<ValueText> values) {
  std::vector<std::string> texts;
  for (const ValueText& value : values) texts.push_back(value.text());
  return directive("parameter", name + " = " + joined(texts, " "));
}
KernelBuilder& KernelBuilder::let(const std::string& name, const std::string& expression) {
  return directive("let", name + " = " + expression);
}
KernelBuilder& KernelBuilder::constraint(const std::string& name, const std::string& expression) {
  return directive("constraint", name + ": " + expression);
}
KernelBuilder& KernelBuilder::in(const std::string& name, const std::string& count, const std::string& element_type) {
  return buffer("in", name, count, element_type);
}
KernelBuilder& KernelBuilder::out(const std::string& name, const std::string& count, const std::string& element_type) {
  return buffer("out", name, count, element_type);
}
KernelBuilder& KernelBuilder::inout(const std::string& name, const std::string& count,
                                    const std::string& element_type) {
  return buffer("inout", name, count, element_type);
}
KernelBuilder& KernelBuilder::consumed(const std::string& name, const std::string& count,
                                       const std::string& element_type) {
  return buffer("consumed", name, count, element_type);
}
KernelBuilder& KernelBuilder::scratch(const std::string& name, const std::string& count,
                                      const std::string& element_type) {
  return buffer("scratch", name, count, element_type);
}
KernelBuilder& KernelBuilder::zeroed(const std::string& name, const std::string& count,
                                     const std::string& element_type) {
  return buffer("zeroed", name, count, element_type);
}
KernelBuilder& KernelBuilder::fill(const std::string& buffer, const std::string& how) {
  return directive("fill", buffer + " = " + how);
}
KernelBuilder& KernelBuilder::scalar(const std::string& name, const std::string& element_type, double value) {
  return directive("scalar", name + " : " + element_type + " = " + number(value));
}
KernelBuilder& KernelBuilder::instantiate(const std::string& expression) {
  return directive("instantiate", expression);
}
KernelBuilder& KernelBuilder::grid(const std::string& dimensions) { return directive("grid", dimensions); }
KernelBuilder& KernelBuilder::block(const std::string& dimensions) { return directive("block", dimensions); }
KernelBuilder& KernelBuilder::shared(const std::string& bytes) { return directive("shared", bytes); }
KernelBuilder& KernelBuilder::arguments(std::initializer_list<const char*> names) {
  return directive("arguments", joined(names, ", "));
}
KernelBuilder& KernelBuilder::when(const std::string& expression) { return directive("when", expression); }
KernelBuilder& KernelBuilder::launch(const std::string& name) { return directive("launch", name); }
KernelBuilder& KernelBuilder::reference(const std::string& expression) { return directive("reference", expression); }
KernelBuilder& KernelBuilder::verify(const std::string& problem) { return directive("verify", problem); }
KernelBuilder& KernelBuilder::tolerance(double relative, double absolute) {
  return directive("tolerance", "relative " + number(relative) + " absolute " + number(absolute));
}
KernelBuilder& KernelBuilder::accumulates(const std::string& expression) {
  return directive("accumulates", expression);
}
KernelBuilder& KernelBuilder::bytes(const std::string& expression) { return directive("bytes", expression); }
KernelBuilder& KernelBuilder::flops(const std::string& expression) { return directive("flops", expression); }
KernelBuilder& KernelBuilder::default_configuration(const std::string& configuration) {
  return directive("default", configuration);
}

std::string KernelBuilder::text() const { return joined(directives_, "\n") + '\n' + source_ + '\n'; }

Kernel KernelBuilder::build() const { return Kernel::from_source(text(), name_ + " (built in code)"); }

}  // namespace tuner
