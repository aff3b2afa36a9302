#include <tuner/core/values/message_text.hpp>

#include <algorithm>
#include <cstdint>

#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  ///< 0: not UTF-8
};

/// The first character of \p text, which is not empty (RFC 3629, section 4).
CodePoint first_code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t value = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    value = value << 6 | (next & 0x3f);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  return value < least[bytes] || value > 0x10ffff || surrogate ? CodePoint{} : CodePoint{value, bytes};
}

/// Control characters, characters that change the direction of writing or separate lines (Unicode 15, 23.2), and the
/// two that are none, which XML does not allow either.
bool is_hidden(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xfffe || c == 0xffff;
}

void append_hex(std::string& text, char letter, std::uint32_t value, int digits) {
  text += {'\\', letter};
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) text += "0123456789abcdef"[value >> shift & 15];
}

std::string escaped(std::string_view text, std::string_view kept) {
  std::string result;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    const std::size_t bytes = std::max<std::size_t>(c.bytes, 1);
    if (c.bytes == 0) {
      append_hex(result, 'x', static_cast<unsigned char>(text[0]), 2);
    } else if (is_hidden(c.value) && kept.find(text[0]) == std::string_view::npos) {
      append_hex(result, c.value < 0x80 ? 'x' : 'u', c.value, c.value < 0x80 ? 2 : 4);
    } else {
      result += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return result;
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates) {
  // Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours cost one each.
  constexpr std::size_t longest = 100;
  if (name.size() > longest) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = name.size() < 3 ? 2 : name.size() < 6 ? 3 : 4;  // must be below this
  std::vector<std::size_t> before, previous, current;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest || candidate == name) continue;
    previous.resize(candidate.size() + 1);
    current.resize(candidate.size() + 1);
    for (std::size_t j = 0; j <= candidate.size(); ++j) previous[j] = j;
    for (std::size_t i = 1; i <= name.size(); ++i) {
      current[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const bool same = name[i - 1] == candidate[j - 1];
        current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (same ? 0 : 1)});
        if (i > 1 && j > 1 && name[i - 1] == candidate[j - 2] && name[i - 2] == candidate[j - 1]) {
          current[j] = std::min(current[j], before[j - 2] + 1);
        }
      }
      before = previous;
      previous = current;
    }
    const std::size_t distance = previous[candidate.size()];
    // Names without a common letter are not misspellings of each other.
    if (distance < best_distance && distance < std::max(name.size(), candidate.size())) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  const auto near = nearest_name(name, candidates);
  return near ? "; did you mean '" + *near + "'?" : std::string();
}

std::string unknown_name(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  std::string message = "unknown " + std::string(what) + ' ' + in_quotes(name) + suggestion(name, known);
  if (known.empty()) return message + "; there is none";
  return message + (message.ends_with('?') ? " Known: " : "; known: ") + listed(known, ", ") + '.';
}

std::size_t utf8_length(std::string_view text) { return first_code_point(text).bytes; }

std::string printable(std::string_view text) { return escaped(text, ""); }
std::string printable_lines(std::string_view text) { return escaped(text, "\n\t"); }

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::size_t end = std::min(text.size(), longest);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // whole ones
  return '\'' + printable(text.substr(0, end)) + (end < text.size() ? "…'" : "'");
}

std::string shell_word(std::string_view text) {
  const auto is_plain = [](char c) {
    return is_word(c) || std::string_view("-./+,:=@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + '\'';
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

bool misses_a_file(std::string_view message) {
  const auto says = [&](std::string_view words) { return message.find(words) != std::string_view::npos; };
  const std::size_t fatal = message.find(": fatal error: ");  // without a line it is about the compiler's own programs
  const bool at_line = fatal != std::string_view::npos && fatal > 0 && is_digit(message[fatal - 1]);
  return says("cannot open source file \"") ||
         (at_line && (says(": No such file or directory") || says("' file not found")));
}

std::string with_other_missing(std::string message, const std::vector<std::string>& others) {
  if (others.empty()) return message;
  std::string names;
  for (const std::string& name : others) names += (names.empty() ? "\"" : ", \"") + name + '"';
  message.insert(std::min(message.rfind(kNameItsFolder), message.size()), ", and also missing: " + names);
  return message;
}

}  // namespace tuner
