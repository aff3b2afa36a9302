#include <tuner/cli/problem_list.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include <tuner/cli/arguments.hpp>
#include <tuner/core/input_file.hpp>

namespace tuner::cli {

std::vector<ListedRequest> parse_problem_list(std::string_view text, const std::string& file) {
  std::vector<ListedRequest> list;
  std::size_t number = 0;
  text = without_byte_order_mark(text);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string place = fmt::format("{}:{}", file, ++number);
    const std::vector<std::string> words = split_words(text.substr(0, end), place);
    if (!words.empty()) list.push_back(read_listed_request(place, words));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (list.empty())
    throw UsageError(fmt::format(
        "--problems {}: it names no problem; a line reads like --kernel reduce --size n=2^20 --type float", file));
  return list;
}

std::vector<ListedRequest> read_problem_list(const std::string& file) {
  std::ostringstream text;
  if (file == "-") {
    text << std::cin.rdbuf();
    return parse_problem_list(text.str(), "standard input");
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    throw UsageError(fmt::format("--problems {}: it is a folder, not a list of problems", file));
  std::ifstream stream(file);
  if (!stream) throw UsageError(fmt::format("--problems {}: it cannot be read: {}", file, std::strerror(errno)));
  text << stream.rdbuf();
  return parse_problem_list(text.str(), file);
}

}  // namespace tuner::cli
