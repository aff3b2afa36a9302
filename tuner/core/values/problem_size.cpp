#include <tuner/core/values/problem_size.hpp>

#include <sstream>

namespace tuner {

std::string ProblemSize::choices_text() const {
  std::string result;
  for (const auto& [name, value] : choices) result += (result.empty() ? "" : " ") + name + '=' + value;
  return result;
}

std::map<std::string, std::string> ProblemSize::parse_choices(const std::string& text) {
  std::map<std::string, std::string> choices;
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (const std::size_t equals = word.find('='); equals != std::string::npos)
      choices[word.substr(0, equals)] = word.substr(equals + 1);
  return choices;
}

std::string ProblemSize::sizes_text() const {
  std::string result;
  for (const auto& [name, value] : sizes) result += (result.empty() ? "" : " ") + name + '=' + std::to_string(value);
  return result;
}

std::string ProblemSize::text() const {
  const std::string chosen = choices_text();
  const std::string sized = sizes_text();
  return chosen.empty() || sized.empty() ? chosen + sized : chosen + ' ' + sized;
}

}  // namespace tuner
