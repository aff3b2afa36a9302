#include <tuner/measure/recorded_launch.hpp>

#include <charconv>

#include <tuner/core/error.hpp>
#include <tuner/measure/bound_arguments.hpp>

namespace tuner {
namespace {

template <typename Number>
bool reads_as(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string number_text(double value) {
  char shortest[40];
  std::string text(shortest, std::to_chars(shortest, shortest + sizeof shortest, value).ptr);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";  // the integer -0 has no sign
  return text;
}
std::string number_text(std::int64_t value) { return std::to_string(value); }
std::string number_text(std::uint64_t value) { return std::to_string(value); }

Argument recorded_number(ElementType type, std::string_view text) {
  std::int64_t whole = 0;
  std::uint64_t natural = 0;
  double number = 0;
  if (reads_as(text, whole)) return number_argument(type, whole);
  if (reads_as(text, natural)) return number_argument(type, natural);
  if (reads_as(text, number)) return number_argument(type, number);
  throw Error("a recorded argument is '" + std::string(text) + "', which is no number");
}

bool answers(const KernelSpec& spec, const RecordedLaunch& recorded) {
  return recorded.has_answers() && !spec.has_reference_program();
}

std::string weaker_reference(const KernelSpec& spec, const RecordedLaunch& recorded) {
  return answers(spec, recorded) ? "recorded launch" : weaker_reference(spec);
}

}  // namespace tuner
