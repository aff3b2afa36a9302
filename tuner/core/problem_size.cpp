#include <tuner/core/problem_size.hpp>

namespace tuner {

std::string ProblemSize::choices_text() const {
  std::string result;
  for (const auto& [name, value] : choices) {
    if (!result.empty()) result += ' ';
    result += name + '=' + value;
  }
  return result;
}

std::string ProblemSize::sizes_text() const {
  std::string result;
  for (const auto& [name, value] : sizes) {
    if (!result.empty()) result += ' ';
    result += name + '=' + std::to_string(value);
  }
  return result;
}

std::string ProblemSize::text() const {
  const std::string chosen = choices_text();
  const std::string sized = sizes_text();
  return chosen.empty() || sized.empty() ? chosen + sized : chosen + ' ' + sized;
}

}  // namespace tuner
