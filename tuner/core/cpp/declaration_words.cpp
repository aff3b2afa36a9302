#include <tuner/core/cpp/declaration_words.hpp>

#include <algorithm>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

constexpr std::string_view kAttributes[] = {"alignas",           "__align__",         "__attribute__",
                                            "__builtin_align__", "__launch_bounds__", "__declspec",
                                            "__cluster_dims__",  "__maxnreg__",       "__block_size__"};

}  // namespace

std::string bare_head(std::string_view head) {
  std::string result;
  for (std::size_t at = 0; at < head.size();) {
    const std::string_view word = word_at(head, at);
    std::size_t end = at + std::max<std::size_t>(word.size(), 1);
    const std::size_t next = skip_space(head, end);
    if (contains(kAttributes, word) && head.substr(next, 1) == "(") {
      end = next + 1;
    } else if (word == "template" && head.substr(next, 1) == "<") {
      int open = 0;
      for (end = next; end < head.size(); ++end) {
        if (head[end] == '<') ++open;
        if (head[end] == '>' && --open == 0) break;
      }
      end = std::min(end + 1, head.size());
    } else if (head.substr(at, 2) == "[[") {
      end = std::min(head.find("]]", at), head.size() - 2) + 2;
    } else {
      result += head.substr(at, end - at);
    }
    at = end;
  }
  return result;
}

std::size_t assignment_in(std::string_view head) {
  for (std::size_t at = head.find('='); at != npos; at = head.find('=', at + 1)) {
    if (head.substr(at + 1, 1) == "=")
      ++at;
    else if (at == 0 || std::string_view("<>!").find(head[at - 1]) == npos)
      return at;
  }
  return npos;
}

bool defines_type(const std::vector<std::string_view>& words) {
  static constexpr std::string_view types[] = {"struct", "class", "union", "enum"};
  return !words.empty() && contains(types, words.front());
}

std::string_view type_named_in(std::string_view head) {
  std::size_t end = head.find_first_of(":<{;");
  while (head.substr(std::min(end, head.size()), 2) == "::") end = head.find_first_of(":<{;", end + 2);
  auto words = words_of(head.substr(0, end));
  if (!words.empty() && words.back() == "final") words.pop_back();
  return words.size() < 2 || words.back() == "class" ? std::string_view() : words.back();
}

std::size_t after_access(std::string_view code, std::size_t at) {
  static constexpr std::string_view access[] = {"public", "private", "protected"};
  while (contains(access, word_at(code, at))) {
    const std::size_t colon = skip_space(code, at + word_at(code, at).size());
    if (code.substr(colon, 1) != ":") break;
    at = skip_space(code, colon + 1);
  }
  return at;
}

}  // namespace tuner
