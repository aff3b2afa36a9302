#include <tuner/core/host_words.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include <tuner/core/characters.hpp>
#include <tuner/core/named.hpp>
#include <tuner/core/scanner.hpp>

namespace tuner {
namespace {

/// A declaration with `std::` and one of these words belongs to the host.
constexpr std::string_view kOfTheHost =
    "vector string map unordered_map set list deque ostream istream ifstream ofstream chrono mt19937 "
    "stringstream unique_ptr shared_ptr thread mutex random_device unordered_set ostringstream function "
    "shared_mutex condition_variable runtime_error cin cerr clog endl iostream fstream istringstream "
    "setprecision setw multimap multiset priority_queue forward_list lock_guard unique_lock mt19937_64 "
    "logic_error invalid_argument out_of_range weak_ptr make_unique make_shared filesystem";

}  // namespace

bool is_word_of_the_host(std::string_view word) {
  static constexpr std::array<std::string_view, 7> libraries{"cublas",   "cudnn", "cufft", "cusolver",
                                                             "cusparse", "glut",  "nccl"};
  static constexpr std::array<std::string_view, 5> words{"asm", "__asm__", "throw", "stderr", "fopen"};
  const auto begins = [word](std::string_view name) { return word.starts_with(name); };
  return (word.size() > 4 && word.starts_with("cuda") && word[4] >= 'A' && word[4] <= 'Z') || contains(words, word) ||
         std::any_of(libraries.begin(), libraries.end(), begins);
}

bool names_the_host(std::string_view text) {
  return any_word(text, [](std::string_view word) { return word == "FILE" || word == "cout"; }) ||
         (text.find("std::") != npos &&
          any_word(text, [](std::string_view word) { return has_word(kOfTheHost, word); }));
}

bool has_streams_or_events(std::string_view text) {
  return any_word(
      text, [](std::string_view word) { return word.starts_with("cudaEvent") || word.starts_with("cudaStream_"); });
}

bool has_static_variable(std::string_view body) {
  for (std::size_t at = 0, end = 0; (at = find_word(body, "static", end)) != npos;) {
    end = std::min(body.find(';', at), body.size());
    const std::size_t begin = at - statement_before(body, at).size();
    const std::size_t sign = std::min(body.find('=', at), end);
    const std::string_view head = body.substr(begin, sign - begin);
    const std::string_view value = trimmed(body.substr(sign, end - sign));
    const bool is_number = value.size() > 1 && words_of(value).empty();
    if (!has_word(head, "constexpr") && !(has_word(head, "const") && is_number)) return true;
  }
  return false;
}

}  // namespace tuner
