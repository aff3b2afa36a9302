#include <tuner/core/cpp/host_code.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

constexpr std::size_t kMostNamed = 48;  // characters of a declaration in a summary

std::string_view text_of(std::string_view code, const Declaration& one) {
  return code.substr(one.begin, one.end - one.begin);
}

/// The place of \p place in \p text, which is in its line at least; npos if there is no such line. The text begins as
/// \p file; a `#line` says where another begins.
std::size_t offset_of(const CodePlace& place, std::string_view text, const std::string& file) {
  const auto is_wanted = [name = std::filesystem::path(place.file).lexically_normal()](const std::string& one) {
    return std::filesystem::path(one).lexically_normal() == name;
  };
  bool is_here = is_wanted(file);
  int line = 1;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1, ++line) {
    end = std::min(text.find('\n', at), text.size());
    if (const auto next = place_of_directive(text.substr(at, end - at))) {
      is_here = is_wanted(next->file);
      line = next->line - 1;
      continue;
    }
    if (!is_here || line != place.line) continue;
    if (place.column > 0) return std::min(at + static_cast<std::size_t>(place.column) - 1, end);
    while (at < end && is_blank(text[at])) ++at;
    return at;
  }
  return npos;
}

/// The number of the innermost declaration that contains \p at, else of the first one that begins later in the line.
std::size_t declaration_at(const std::vector<Declaration>& all, std::string_view code, std::size_t at) {
  std::size_t found = npos;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].contains(at)) found = i;
  if (found != npos) return found;
  const std::size_t end = std::min(code.find('\n', at), code.size());
  const auto begins = [&](const Declaration& one) { return at <= one.begin && one.begin < end && one.begin < one.end; };
  const auto next = std::ranges::find_if(all, begins);
  return next == all.end() ? npos : static_cast<std::size_t>(next - all.begin());
}

/// Whether the member \p one of a type has no place in its objects.
bool has_no_place(const Declaration& one, std::string_view code) {
  using Kind = Declaration::Kind;
  if (one.kind == Kind::alias || one.kind == Kind::function || one.kind == Kind::instantiation) return true;
  const auto words = words_of(one.head);
  for (const std::string_view word : {"static", "friend", "static_assert"})
    if (contains(words, word)) return true;
  if (one.kind != Kind::type || one.name.empty()) return false;
  const std::string_view text = trimmed(text_of(code, one).substr(0, one.end - one.begin - 1));
  return one.body == npos ? text.find('{') == npos || text.ends_with('}') : text.ends_with('}');
}

bool is_opening(char c) { return c == '{' || c == '(' || c == '['; }
bool is_closing(char c) { return c == '}' || c == ')' || c == ']'; }

void blank_line(std::string& text, const DirectiveLine& line) {
  for (std::size_t i = line.begin; i < line.end; ++i)
    if (text[i] != '\n') text[i] = ' ';
}

/// Whether \p one is a function or a type, not a row of a table.
bool is_whole(const Declaration& one) {
  using Kind = Declaration::Kind;
  return one.kind == Kind::type || (one.kind == Kind::function && one.body != npos);
}

/// Where the `<` of the arguments is that \p one is a specialisation for, as in `struct Traits<std::vector<T>>`; npos
/// if it is none.
std::size_t arguments_of(std::string_view code, const Declaration& one) {
  if (one.kind != Declaration::Kind::type || one.name.empty()) return npos;
  const std::size_t limit = std::min(one.body, one.end);
  for (std::size_t name = find_word(code, one.name, one.begin); name < limit;
       name = find_word(code, one.name, name + one.name.size())) {
    const std::size_t open = skip_space(code, name + one.name.size());
    if (open < limit && code[open] == '<') return open;
  }
  return npos;
}

bool is_in_arguments(std::string_view code, const Declaration& one, std::size_t at) {
  const std::size_t open = arguments_of(code, one);
  const std::size_t end = open == npos ? npos : after_angles(code, open);
  return end != npos && open < at && at < end;
}

/// Whether \p one, a specialisation, is one for given arguments: `template <> …`.
bool is_full(std::string_view code, const Declaration& one) {
  const std::string_view text = text_of(code, one);
  const std::size_t open = skip_space(text, std::string_view("template").size());
  return text.starts_with("template") && text[open] == '<' && text[skip_space(text, open + 1)] == '>';
}

/// Whether \p at is between brackets of \p one.
bool is_within(const Declaration& one, std::string_view code, std::size_t at) {
  return one.contains(at) && std::ranges::any_of(code.substr(one.begin, at - one.begin), is_opening);
}

}  // namespace

HostCode::HostCode(std::vector<IncludedFile> texts, const std::vector<std::string>& needed) : left_(std::move(texts)) {
  std::vector<std::string> whole;
  for (const IncludedFile& one : left_) {
    sources_.push_back({code_of(one.text)});
    const std::vector<std::string> more = whole_declarations(sources_.back().code);
    whole.insert(whole.end(), more.begin(), more.end());
  }
  for (Source& one : sources_) one.declarations = declarations_of(one.code, whole);
  for (const std::string& one : needed)
    for (const std::string_view word : words_of(one)) used_.emplace(word);
  find_fragments();
  find_uses();
}

/// Finds files that are included between the brackets of declarations: the rows of a table.
void HostCode::find_fragments() {
  for (std::size_t text = 0; text < left_.size(); ++text) {
    const Source& source = sources_[text];
    for (const DirectiveLine& line : directives_of(source.code)) {
      if (line.name() != "include") continue;
      const auto holds = [&](const Declaration& one) { return is_within(one, source.code, line.begin); };
      if (std::ranges::none_of(source.declarations, holds)) continue;
      const std::string whole = code_of(left_[text].text.substr(line.begin, line.end - line.begin), Literals::kept);
      const auto with_name = directive_at(whole, 0);
      const auto name = with_name ? included_name(with_name->rest()) : std::nullopt;
      if (!name) continue;
      const std::string end = '/' + std::filesystem::path(*name).filename().string();
      for (std::size_t other = 1; other < left_.size(); ++other)
        if (('/' + left_[other].path).ends_with(end)) fragments_.emplace(other, Spot{text, line.begin});
    }
  }
}

/// Follows the names that kernels use to all that these may mean. Host functions are not followed: kernels cannot call
/// them.
void HostCode::find_uses() {
  device_words_ = {"__global__", "__device__",  "constexpr",  "consteval",      "__constant__",
                   "__shared__", "__managed__", "C10_DEVICE", "C10_HOST_DEVICE"};
  std::multimap<std::string, std::string_view, std::less<>> macros, texts;
  for (const Source& source : sources_)
    for (const DirectiveLine& line : directives_of(source.code)) {
      if (line.name() != "define") continue;
      const std::size_t name = static_cast<std::size_t>(source.code.find(word_at(line.rest(), 0), line.begin));
      if (name < line.end)
        macros.emplace(word_at(line.rest(), 0), std::string_view(source.code).substr(name, line.end - name));
    }
  for (std::size_t before = 0; before != device_words_.size();) {
    before = device_words_.size();
    for (const auto& [name, text] : macros)
      if (any_word(text, [&](std::string_view word) { return device_words_.contains(word); }))
        device_words_.insert(name);
  }
  for (const Source& source : sources_)
    for (const Declaration& one : source.declarations) {
      using Kind = Declaration::Kind;
      if (one.name.empty() || one.kind == Kind::instantiation) continue;
      if (one.around == npos) ++declared_[one.name];
      if (one.kind != Kind::function || is_of_device(source, one)) texts.emplace(one.name, text_of(source.code, one));
    }
  texts.merge(macros);
  std::vector<std::string> open(used_.begin(), used_.end());
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    for (auto [at, end] = texts.equal_range(name); at != end; ++at)
      for (const std::string_view word : words_of(at->second))
        if (used_.emplace(word).second) open.emplace_back(word);
  }
}

/// Whether \p one is marked as a function or variable for the device, or as a constant.
bool HostCode::is_of_device(const Source& source, const Declaration& one) const {
  if (one.kind == Declaration::Kind::type) return false;
  const std::size_t end = std::min(one.body, one.end);
  return any_word(std::string_view(source.code).substr(one.begin, end - one.begin),
                  [&](std::string_view word) { return device_words_.contains(word); });
}

HostCode::Use HostCode::use_of(const Source& source, const Declaration& one) const {
  using Kind = Declaration::Kind;
  if (one.kind == Kind::instantiation || one.name.empty()) return Use::none;
  const bool is_used = used_.contains(one.name) || one.name == "operator";
  if (!is_used) return Use::none;
  if (is_of_device(source, one)) return Use::certain;
  // Without a function of the host, no other is called. Without a type or a constant, another may be meant.
  const auto times = declared_.find(one.name);
  const bool may_mean_another =
      one.kind != Kind::function && ((times != declared_.end() && times->second > 1) || numbers_of(one.name));
  return may_mean_another ? Use::certain : Use::perhaps;
}

/// Whether a kernel that needs the specialisation \p one does not compile without it: the template has no body, and
/// all others are for given arguments, or refused as well.
bool HostCode::fails_without(const Declaration& one) const {
  bool has_primary = false;
  for (std::size_t text = 0; text < sources_.size(); ++text)
    for (const Declaration& other : sources_[text].declarations) {
      if (other.name != one.name || parts_.contains({text, other.begin, other.end})) continue;
      const std::string& code = sources_[text].code;
      const bool is_specialised = arguments_of(code, other) != npos;
      if (is_specialised ? !is_full(code, other) && !refused_.contains({text, other.begin}) : other.body != npos)
        return false;
      has_primary = has_primary || !is_specialised;
    }
  return has_primary;
}

/// Whether \p one is a constant that no code names but functions of the host, which kernels cannot call.
bool HostCode::is_never_named(const Declaration& one) const {
  if (one.name.empty() || !any_word(one.head, [](std::string_view word) { return word == "constexpr"; })) return false;
  std::size_t named = 0, declared = 0;
  for (const Source& source : sources_) {
    for (const Declaration& other : source.declarations) {
      declared += other.name == one.name;
      const bool is_of_host = other.kind == Declaration::Kind::function && !is_of_device(source, other);
      if (other.around == npos && !is_of_host) named += count_word(text_of(source.code, other), one.name);
    }
    for (const DirectiveLine& line : directives_of(source.code)) named += count_word(line.rest(), one.name);
  }
  return named == declared;
}

/// The part to leave out because of an error at \p at in the declaration \p number of \p text.
HostCode::Choice HostCode::member_choice(std::size_t text, std::size_t number, std::size_t at) const {
  const Source& source = sources_[text];
  const Declaration& one = source.declarations[number];
  const Part whole{text, one.begin, one.end};
  const Part body{text, one.body, one.end, true};
  const bool has_body = one.kind == Declaration::Kind::function && one.body != npos;
  if (one.around == npos) {
    if (is_in_arguments(source.code, one, at) && !parts_.contains(whole) && fails_without(one))
      return {Use::perhaps, whole};
    const Use use = parts_.contains(whole) ? Use::certain : use_of(source, one);
    // A kernel may need the type of a host function, `decltype(f())`, but no body.
    const bool is_of_type = use == Use::perhaps && has_body && at >= one.body && !parts_.contains(body);
    return {use, is_of_type ? body : whole};
  }
  const bool is_used = used_.contains(source.declarations[one.around].name);
  const Use use = !is_used ? Use::none : is_of_device(source, one) ? Use::certain : Use::perhaps;
  if (has_body && at >= one.body && !parts_.contains(body) && !contains(words_of(one.head), "friend"))
    return {use == Use::perhaps ? Use::none : use, body};
  if (has_no_place(one, source.code) && !parts_.contains(whole))
    return {use == Use::certain && is_never_named(one) ? Use::perhaps : use, whole};
  return member_choice(text, one.around, at);
}

std::optional<HostCode::Spot> HostCode::spot_of(const CodePlace& place) const {
  for (std::size_t text = 0; text < left_.size(); ++text)
    if (const std::size_t at = offset_of(place, left_[text].text, left_[text].path); at != npos) return Spot{text, at};
  return std::nullopt;
}

HostCode::Choice HostCode::choice_at(const CodePlace& place) const {
  const std::optional<Spot> spot = spot_of(place);
  if (!spot) return {};
  const auto& [code, declarations] = sources_[spot->text];
  if (const auto line = directive_around(code, spot->at);
      line && (line->name() == "include" || line->name() == "define"))
    return {};
  const std::size_t number = declaration_at(declarations, code, spot->at);
  const auto [first, last] = fragments_.equal_range(spot->text);
  if (first != last && (number == npos || !is_whole(declarations[number]))) return choice_around(spot->text);
  return number == npos ? Choice{} : member_choice(spot->text, number, spot->at);
}

/// The part to leave out because of an error in the file \p text, which holds parts of declarations.
HostCode::Choice HostCode::choice_around(std::size_t text) const {
  Choice best;
  for (auto [at, end] = fragments_.equal_range(text); at != end; ++at) {
    const Spot& spot = at->second;
    const Source& source = sources_[spot.text];
    const std::size_t number = declaration_at(source.declarations, source.code, spot.at);
    if (number == npos) continue;
    if (Choice one = member_choice(spot.text, number, spot.at); one.use < best.use) best = std::move(one);
  }
  return best;
}

/// A user of a template is left out before the template, and a part that no kernel uses before one
/// that it may use.
HostCode::Choice HostCode::best_choice(const RefusedCode& error) const {
  Choice best;
  for (auto place = error.instantiated_at.rbegin(); place != error.instantiated_at.rend(); ++place)
    if (Choice one = choice_at(*place); one.use < best.use) best = std::move(one);
  Choice own = choice_at(error.place);
  return own.use < best.use || best.use == Use::perhaps ? own.use == Use::certain ? best : own : best;
}

void HostCode::note_refused_arguments(const CodePlace& place) {
  const std::optional<Spot> spot = spot_of(place);
  if (!spot) return;
  const auto& [code, declarations] = sources_[spot->text];
  const std::size_t number = declaration_at(declarations, code, spot->at);
  if (number != npos && is_in_arguments(code, declarations[number], spot->at))
    refused_.emplace(spot->text, declarations[number].begin);
}

/// The variables that no kernel uses and whose text names \p function.
std::set<HostCode::Part> HostCode::variables_with(std::string_view function) const {
  std::set<Part> all;
  for (std::size_t text = 0; text < sources_.size(); ++text)
    for (const Declaration& one : sources_[text].declarations) {
      const Part whole{text, one.begin, one.end};
      if (one.kind == Declaration::Kind::other && one.around == npos && !parts_.contains(whole) &&
          use_of(sources_[text], one) == Use::none && has_word(text_of(sources_[text].code, one), function))
        all.insert(whole);
    }
  return all;
}

bool HostCode::leave_out(const std::vector<RefusedCode>& errors, Use most) {
  std::set<Part> parts;
  for (const RefusedCode& error : errors) note_refused_arguments(error.place);
  for (const RefusedCode& error : errors)
    if (!error.function.empty())
      parts.merge(variables_with(error.function));
    else if (const Choice choice = best_choice(error); choice.part && choice.use <= most)
      parts.insert(*choice.part);
  leave_out(parts);
  return !parts.empty();
}

bool HostCode::leave_out_functions() {
  std::set<Part> parts;
  for (std::size_t text = 0; text < sources_.size(); ++text)
    for (const Declaration& one : sources_[text].declarations) {
      const Part whole{text, one.begin, one.end};
      if (one.kind == Declaration::Kind::function && one.around == npos && !parts_.contains(whole) &&
          use_of(sources_[text], one) == Use::none && !is_of_device(sources_[text], one))
        parts.insert(whole);
    }
  leave_out(parts);
  return !parts.empty();
}

std::optional<std::string> HostCode::take_include(const CodePlace& place) {
  const std::optional<Spot> spot = spot_of({place.file, place.line, 0});
  if (!spot) return std::nullopt;
  std::string& text = left_[spot->text].text;
  const std::string code = code_of(text, Literals::kept);
  const auto line = directive_around(code, spot->at);
  if (!line || line->name() != "include") return std::nullopt;
  blank_line(text, *line);
  return included_name(line->rest());
}

void HostCode::leave_out(const std::set<Part>& parts) {
  for (const Part& part : parts)
    if (parts_.insert(part).second) blank(part);
}

/// The file of an `#include` between the brackets of \p part is a part of it. Other directives stay.
void HostCode::blank(const Part& part) {
  const std::string& code = sources_[part.text].code;
  std::string& text = left_[part.text].text;
  int depth = 0;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    if (const auto line = directive_at(code, i)) {
      if (depth > 0 && line->name() == "include") blank_line(text, *line);
      i = line->end;
    }
    if (i >= part.end) break;
    depth += is_opening(code[i]) ? 1 : is_closing(code[i]) ? -1 : 0;
    if (text[i] != '\n') text[i] = ' ';
  }
  if (part.is_body) text[part.begin] = ';';
}

std::vector<std::string> HostCode::summary() const {
  std::vector<std::string> lines;
  for (const Part& part : parts_) {
    const std::string& code = sources_[part.text].code;
    const auto line = std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(part.begin), '\n') + 1;
    std::string words(trimmed(std::string_view(code).substr(part.begin, part.end - part.begin)));
    words.resize(std::min(words.find('\n'), words.size()));
    if (words.size() > kMostNamed) words = words.substr(0, kMostNamed - 3) + "...";
    lines.push_back(left_[part.text].path + ':' + std::to_string(line) + ": " + words);
  }
  return lines;
}

void HostCode::add_summary(std::string& message, std::string& log) const {
  const std::vector<std::string> parts = summary();
  if (parts.empty()) return;
  message += " (left out as host code: " + parts.front() +
             (parts.size() > 1 ? ", and " + std::to_string(parts.size() - 1) + " more" : std::string()) + ')';
  log += "\nleft out as host code:\n";
  for (const std::string& part : parts) log += "  " + part + '\n';
}

}  // namespace tuner
