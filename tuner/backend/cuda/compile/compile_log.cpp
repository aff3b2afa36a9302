#include <tuner/backend/cuda/compile/compile_log.hpp>

#include <algorithm>
#include <charconv>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include <cxxabi.h>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner::cuda {
namespace {

constexpr std::int64_t kMostStaticShared = 49152;  // on every architecture

/// Takes the next line off \p text.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// The sum of the numbers before each \p unit in \p line: 400 for " bytes cmem[" in "4 gmem, 400 bytes cmem[0]".
std::int64_t number_before(std::string_view line, std::string_view unit) {
  std::int64_t sum = 0;
  for (std::size_t at = line.find(unit); at != std::string_view::npos; at = line.find(unit, at + unit.size())) {
    std::size_t begin = at;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1]))) --begin;
    std::int64_t number = 0;
    std::from_chars(line.data() + begin, line.data() + at, number);
    sum += number;
  }
  return sum;
}

std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t begin = text.find(before);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + before.size());
  return text.substr(0, text.find(after));
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool is_resource_line(std::string_view line) {
  return line.starts_with("ptxas info") || line.starts_with("ptxas         .") || contains(line, "bytes stack frame");
}

/// The word of the first line of \p text to which the `^` in its second line points.
std::string_view word_above_caret(std::string_view text) {
  const std::string_view code = take_line(text), pointer = take_line(text);
  const std::size_t at = pointer.find('^');
  return at < code.size() && trimmed(pointer) == "^" ? word_at(code, at) : std::string_view();
}

/// The place at the start of `file(line): error: message` or of a warning; nothing for other lines.
std::optional<CodePlace> place_of_diagnostic(std::string_view line) {
  const std::size_t close = line.find("): ");
  const std::size_t open = close == npos ? npos : line.rfind('(', close);
  if (open == npos || open == 0) return std::nullopt;
  const std::optional<int> number = number_of<int>(line.substr(open + 1, close - open - 1));
  if (!number || is_blank(line.front())) return std::nullopt;
  return CodePlace{std::string(line.substr(0, open)), *number, 0};
}

/// ", which comes with CUDA 11.8 and later" if \p line names a header that older toolkits do not have.
std::string first_release(std::string_view line) {
  constexpr std::pair<std::string_view, const char*> kReleases[] = {
      {"\"cuda_fp8.h\"", "11.8"}, {"\"cuda_fp6.h\"", "12.8"}, {"\"cuda_fp4.h\"", "12.8"}};
  for (const auto& [header, release] : kReleases)
    if (contains(line, header)) return std::string(", which comes with CUDA ") + release + " and later";
  return {};
}

/// For a line of the assembler that refuses an instruction of some chips: which these are.
std::string_view chips_with(std::string_view line) {
  if (line.find("not supported on .target") == npos) return {};
  if (line.find("wgmma") != npos) return " (wgmma exists for sm_90a only)";
  if (line.find("tcgen05") != npos) return " (tcgen05 exists for sm_100a, sm_103a and sm_110a only)";
  return {};
}

/// The name of the function of which ptxas says in \p line that it cannot take the address; empty for other lines.
std::string addressed_function(std::string_view line) {
  constexpr std::string_view kRefusal = "Cannot take address of function '";
  const std::size_t at = line.starts_with("ptxas fatal") ? line.find(kRefusal) : std::string_view::npos;
  if (at == std::string_view::npos) return {};
  const std::string symbol(word_at(line, at + kRefusal.size()));
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                     std::free);
  const std::string_view name = status == 0 ? std::string_view(plain.get()) : symbol;
  return std::string(word_before(name, std::min(name.find_first_of("(<"), name.size())));
}

}  // namespace

std::map<std::string, Resources, std::less<>> resources_in_log(std::string_view log) {
  std::map<std::string, Resources, std::less<>> kernels;
  std::string entry, properties_of;
  while (!log.empty()) {
    const std::string_view line = take_line(log);
    if (contains(line, "Compiling entry function")) {
      entry = between(line, "'", "'");
    } else if (contains(line, "Function properties for ")) {
      properties_of = trimmed(between(line, "Function properties for ", "\n"));
    } else if (contains(line, "bytes stack frame") && !entry.empty() && properties_of == entry) {
      Resources& kernel = kernels[entry];
      kernel.stack_bytes = static_cast<int>(number_before(line, " bytes stack frame"));
      kernel.spill_bytes =
          static_cast<int>(number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads"));
    } else if (contains(line, "Used ") && contains(line, " registers") && !entry.empty()) {
      Resources& kernel = kernels[entry];
      kernel.registers = static_cast<int>(number_before(line, " registers"));
      // Includes the stacks of called functions that were not inlined (`-G`).
      kernel.stack_bytes =
          std::max(kernel.stack_bytes, static_cast<int>(number_before(line, " bytes cumulative stack size")));
      kernel.static_shared_bytes = number_before(line, " bytes smem");
      kernel.constant_bytes = number_before(line, " bytes cmem[");
    }
  }
  return kernels;
}

std::string first_error(std::string_view log, const std::vector<std::string_view>& macros) {
  std::string_view rest = log;
  while (!rest.empty()) {  // a file that is missing is the cause of the other errors
    const std::string_view line = take_line(rest);
    if (misses_a_file(line)) return std::string(trimmed(line)).append(first_release(line)).append(kNameItsFolder);
  }
  rest = log;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (line.starts_with("ptxas error") || line.starts_with("ptxas fatal") || line.starts_with("nvrtc: error") ||
        (line.starts_with("ptxas ") && line.find("; error ") != std::string_view::npos))
      return std::string(trimmed(line)).append(chips_with(line));
    if (const std::size_t at = line.find(": error: "); at != std::string_view::npos) {
      // `file(line): error: message`
      const std::size_t open = line.rfind('(', at);
      std::string message(trimmed(line.substr(at + 9)));
      if (const std::string_view word = word_above_caret(rest); tuner::contains(macros, word))
        message += " (a parameter is a macro there: " + in_quotes(word) + ')';
      if (open == std::string_view::npos || at == 0 || line[at - 1] != ')') return message;
      return std::string(line.substr(0, open)) + ':' + std::string(line.substr(open + 1, at - open - 2)) + ": " +
             message;
    }
  }
  // ptxas refuses too much static shared memory without a message.
  for (const auto& [symbol, resources] : resources_in_log(log)) {
    if (resources.static_shared_bytes > kMostStaticShared) {
      return symbol + " uses " + std::to_string(resources.static_shared_bytes) +
             " bytes of static shared memory; at most " + std::to_string(kMostStaticShared) +
             " are possible (use dynamic shared memory for more)";
    }
  }
  const std::string rest_of_log = without_resource_lines(log);
  return rest_of_log.substr(0, rest_of_log.find('\n'));
}

std::vector<RefusedCode> refused_code(std::string_view log) {
  std::vector<RefusedCode> all;
  bool is_error = false;  // whether the current diagnostic is one
  while (!log.empty()) {
    const std::string_view line = take_line(log);
    if (std::string function = addressed_function(line); !function.empty()) {
      all.push_back({{}, {}, std::move(function)});
      is_error = false;
    } else if (auto place = place_of_diagnostic(line)) {
      if (contains(line, "): note ")) continue;  // it belongs to the error before it
      is_error = contains(line, "error: ");
      if (!is_error) continue;
      const std::string_view code = log.substr(0, log.find('\n')),
                             rest = log.substr(std::min(code.size() + 1, log.size()));
      const std::string_view pointer = rest.substr(0, rest.find('\n'));
      constexpr std::size_t indent = 2;
      if (trimmed(pointer) == "^" && pointer.find('^') >= indent)
        place->column = static_cast<int>(pointer.find('^') - indent) + 1;
      all.push_back({std::move(*place)});
    } else if (const std::size_t at = line.rfind(" at line "); is_error && at != npos && line.starts_with("     ")) {
      std::string_view rest = line.substr(at + 9);
      const std::string_view number = word_at(rest, 0);
      rest.remove_prefix(number.size());
      const std::string file(rest.starts_with(" of ") ? trimmed(rest.substr(4))
                                                      : std::string_view(all.back().place.file));
      all.back().instantiated_at.push_back({file, number_of<int>(number).value_or(0), 0});
    }
  }
  return all;
}

std::string without_resource_lines(std::string_view log) {
  std::string kept;
  while (!log.empty()) {
    const std::string_view line = take_line(log);
    if (!is_resource_line(line)) kept.append(line) += '\n';
  }
  return std::string(trimmed(kept));
}

}  // namespace tuner::cuda
