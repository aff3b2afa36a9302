#include <tuner/convert/first_shape.hpp>

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

#include <tuner/convert/first_body.hpp>
#include <tuner/core/cpp/definitions.hpp>
#include <tuner/core/cpp/expanded_code.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/words.hpp>
#include <tuner/core/expression/expression.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/names.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>

namespace tuner::convert {
namespace {

constexpr int kMostThreads = 1024;

/// Usual names of a block's extent without `_`, without `x` at their ends and in small letters.
constexpr std::string_view kBlockNames[] = {"block",    "blocksize",  "blockdim",        "blockthreads", "threads",
                                            "nthreads", "numthreads", "threadsperblock", "tpb"};

/// Whether \p name is usual for the extent of \p axis: `BLOCK_SIZE`, `kThreads`, `block_size_y`; not `THREADS_PER_ROW`.
bool is_called_like_a_block(std::string_view name, std::size_t axis) {
  if (name.size() > 1 && name[0] == 'k' && name[1] >= 'A' && name[1] <= 'Z') name.remove_prefix(1);
  std::string plain = lower_case(name);
  std::erase(plain, '_');
  if (axis == 0 && contains(kBlockNames, plain)) return true;
  if (plain.empty() || plain.back() != "xyz"[axis]) return false;
  plain.pop_back();
  return contains(kBlockNames, plain);
}

bool is_called_like_any_block(std::string_view name) {
  return is_called_like_a_block(name, 0) || is_called_like_a_block(name, 1) || is_called_like_a_block(name, 2);
}

bool is_expression(const std::string& text) {
  try {
    return !Expression::parse(text, {}).has_reals();
  } catch (const SpecError&) {
    return false;
  }
}

bool is_word_or_number(std::string_view text) { return !text.empty() && word_at(text, 0) == text; }

/// The macros with an integer value that \p code defines only where nothing else does: `#ifndef NAME`, `#define NAME
/// 8`.
std::vector<std::pair<std::string, std::int64_t>> guarded_macros(std::string_view code) {
  std::vector<std::pair<std::string, std::int64_t>> macros;
  std::string guard;
  for (const DirectiveLine& line : directives_of(code)) {
    const std::string_view name = defined_name(line);
    if (!name.empty() && name == guard)
      if (const auto value = number_of<std::int64_t>(trimmed(line.rest().substr(name.size()))))
        macros.emplace_back(name, *value);
    guard = line.name() == "ifndef" ? std::string(trimmed(line.rest())) : "";
  }
  return macros;
}

/// The text of each function, lambda or macro \p name of \p code, up to its first `;`.
std::vector<std::string> definition_texts(std::string_view code, std::string_view name) {
  constexpr std::size_t longest = 256;  // characters
  std::vector<std::string> texts;
  for (const DirectiveLine& line : directives_of(code))
    if (line.name() == "define" && word_at(line.rest(), 0) == name) texts.emplace_back(line.rest());
  for (std::size_t at = 0; (at = find_word(code, name, at)) != npos; at += name.size()) {
    const std::string_view near = code.substr(at, longest), text = near.substr(0, near.find(';'));
    const std::size_t next = skip_space(text, name.size());
    const std::size_t after = text.substr(next, 1) == "(" ? after_brackets(text, next) : npos;
    const bool is_function =
        after != npos && text.substr(std::min(text.find_first_of("{,)", after), text.size()), 1) == "{";
    const bool is_lambda = text.substr(next, 1) == "=" && text.substr(skip_space(text, next + 1), 1) == "[";
    if (is_function || is_lambda) texts.emplace_back(text);
  }
  return texts;
}

/// Whether \p name divides and rounds up: it is usual for that, or \p code defines it as `(a + b - 1) / b`.
bool is_ceil_div(std::string_view code, std::string_view name) {
  constexpr std::string_view usual[] = {"cdiv",   "ceildiv",  "divceil",    "divup",      "updiv",
                                        "idivup", "divideup", "ceildivide", "divroundup", "idivceil"};
  std::string plain = lower_case(name);
  std::erase(plain, '_');
  if (contains(usual, plain)) return true;
  for (const std::string& text : definition_texts(code, name)) {
    std::string compact = text;
    std::erase_if(compact, [](char c) { return is_space(c) || c == '(' || c == ')'; });
    const std::size_t minus = std::min(compact.find("-1/"), compact.size());
    const std::string b(path_before(std::string_view(compact).substr(0, minus)));
    const std::string_view before = std::string_view(compact).substr(0, minus - b.size());
    if (b.empty() || !before.ends_with('+') || word_at(compact, minus + 3) != b) continue;
    // `a` is a parameter, and stands before `b`. It may have `return` before it, now without a blank.
    const std::string_view a = path_before(before.substr(0, before.size() - 1));
    const std::vector<std::string_view> words = words_of(text);
    if (std::ranges::any_of(words.begin(), std::ranges::find(words, b),
                            [&](std::string_view word) { return word != name && a.ends_with(word); }))
      return true;
  }
  return false;
}

/// Whether \p text ends in `+ 7) /` or `+ 8 - 1) /`, for a \p divisor of 8.
bool rounds_up(std::string_view text, std::int64_t divisor) {
  std::string compact(text);
  std::erase_if(compact, is_space);
  return compact.ends_with(fmt::format("+{})/", divisor - 1)) || compact.ends_with(fmt::format("+{}-1)/", divisor));
}

/// The 8 of `) / 8`, if \p text begins so.
std::optional<std::int64_t> divisor_after_bracket(std::string_view text) {
  for (const char c : {')', '/'}) {
    if (!text.starts_with(c)) return std::nullopt;
    text = text.substr(skip_space(text, 1));
  }
  return number_of<std::int64_t>(word_at(text, 0));
}

/// \p text with the last name in place of each path of members: `batch` of `p.shape->batch`. Calls of members stay.
std::string with_members(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view word = word_at(text, at);
    if (word.empty()) {
      result += text[at++];
      continue;
    }
    std::string_view last = word;
    std::size_t end = at + word.size();
    while (is_word_start(word.front())) {
      std::size_t next = skip_space(text, end);
      const std::size_t length = text.substr(next, 1) == "." ? 1 : text.substr(next, 2) == "->" ? 2 : 0;
      next = skip_space(text, next + length);
      const std::string_view member = length == 0 ? std::string_view() : word_at(text, next);
      if (member.empty() || text.substr(skip_space(text, next + member.size()), 1) == "(") break;
      last = member;
      end = next + member.size();
    }
    result += last;
    at = end;
  }
  return result;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

FirstShape::FirstShape(const ScopedCode& code, const ScopedCode& all, const Signature& kernel, std::string_view body)
    : code_(code),
      all_(all),
      kernel_(kernel),
      body_(body),
      launch_(launch_of(code, kernel.name)),
      template_(template_parameters_of(all, kernel, launch_)) {
  name_block();
  for (std::size_t axis = 0; axis < block_.size(); ++axis) factors_.push_back(index_factors(body, axis));
  for (std::size_t axis = 0; launch_ && axis < block_.size(); ++axis) read_extent(axis);
  const std::vector<Candidate> candidates = this->candidates();
  for (std::size_t axis = 0; axis < block_.size(); ++axis)
    if (!is_named_[axis]) tie(axis, candidates);
  list_parameters();
}

void FirstShape::name_block() {
  std::size_t dimensions = launch_ ? launch_->block.size() : 1;
  for (std::size_t axis = 1; axis < 3 && !launch_; ++axis)
    for (const std::string_view index : {"threadIdx", "blockIdx"})
      if (body_.find(fmt::format("{}.{}", index, "xyz"[axis])) != npos) dimensions = axis + 1;
  block_ = {dimensions == 1 ? "block" : "block_x", "block_y", "block_z"};
  usual_ = {dimensions == 1 ? "256" : "32", "8", "4"};
  block_.resize(dimensions);
  usual_.resize(dimensions);
  is_named_.resize(dimensions);
  // A word of the text would become a macro.
  for (std::string& name : block_)
    while (has_word(code_.text(), name) || has_word(all_.text(), name)) name.insert(0, "tuned_");
}

std::optional<std::int64_t> FirstShape::constant(std::string_view word) const {
  if ((launch_ && launch_->locals.contains(word)) || find_named(kernel_.arguments, word)) return std::nullopt;
  if (const auto value = constant_called(all_, std::string(word))) return value;
  const std::vector<DefinedValue> all = definitions_of(all_.text(), word);  // also under an `#if`
  return all.size() == 1 ? number_of<std::int64_t>(all.front().value) : std::nullopt;
}

const TemplateParameter* FirstShape::parameter_given(std::string_view word) const {
  const auto found = std::ranges::find_if(template_, [&](const TemplateParameter& one) {
    return one.kind == TemplateParameter::Kind::integer && one.written == word && is_word_start(word.front());
  });
  return found == template_.end() ? nullptr : &*found;
}

/// The names in an extent are constants, or variables that the launch also gives to the template. Else, only its usual
/// value is in the text.
void FirstShape::read_extent(std::size_t axis) {
  const std::string& text = launch_->block[axis];
  const auto known = constant(text);
  const auto value = known ? known : integer_in(all_, launch_->with_locals(text));
  const bool has_value = value && *value >= 1 && *value <= kMostThreads;
  if (has_value) usual_[axis] = std::to_string(*value);
  const std::vector<std::string_view> words = words_of(text);
  const bool is_given = !words.empty() && std::ranges::all_of(words, [&](auto word) { return parameter_given(word); });
  is_named_[axis] = is_given || (has_value && !words.empty() && std::ranges::all_of(words, [&](auto word) {
                                   return parameter_given(word) || constant(word).has_value();
                                 }));
  if (is_named_[axis])
    block_[axis] = replace_words(text, [&](std::string_view word) {
      const TemplateParameter* const one = is_word_start(word.front()) ? parameter_given(word) : nullptr;
      return one != nullptr ? one->name : std::string(word);
    });
  else if (has_value)
    literals_.at(axis) = value;
}

/// Integers of the template, and numbers that the text defines once and the kernel uses.
std::vector<FirstShape::Candidate> FirstShape::candidates() const {
  std::vector<Candidate> all;
  const std::string most = most_threads(body_);
  for (const TemplateParameter& one : template_)
    if (one.kind == TemplateParameter::Kind::integer) all.push_back({one.name, one.value});
  for (const std::string_view word : words_of(body_)) {
    const bool is_used_as_one = is_called_like_any_block(word) || word == most ||
                                std::ranges::any_of(factors_, [&](auto& factors) { return contains(factors, word); });
    if (launch_ || !is_used_as_one || find_named(kernel_.arguments, word) || find_named(all, word)) continue;
    const std::vector<DefinedValue> defined = definitions_of(all_.text(), word);
    const auto value = defined.size() == 1 ? number_of<std::int64_t>(defined.front().value) : std::nullopt;
    if (value && *value >= 1 && *value <= kMostThreads) all.push_back({std::string(word), value});
  }
  return all;
}

/// A candidate is an extent of the block if the kernel uses it as one, or if its name is usual for that.
void FirstShape::tie(std::size_t axis, const std::vector<Candidate>& candidates) {
  const std::vector<std::string>& factors = factors_[axis];
  const auto choose = [&](const auto& is_wanted) {
    for (const Candidate& one : candidates) {
      const bool differs = literals_.at(axis) && one.value && *literals_.at(axis) != *one.value;
      if (is_named_[axis] || differs || !is_wanted(one.name)) continue;
      is_named_[axis] = true;
      block_[axis] = one.name;
      if (one.value) usual_[axis] = std::to_string(*one.value);
    }
  };
  choose([&](const std::string& name) {
    return contains(factors, name) && (factors.size() == 1 || is_called_like_any_block(name));
  });
  if (block_.size() == 1) choose([&](const std::string& name) { return most_threads(body_) == name; });
  choose([&](const std::string& name) { return is_called_like_a_block(name, axis) && !contains(block_, name); });
}

void FirstShape::list_parameters() {
  const auto most = number_of<std::int64_t>(most_threads(body_));
  const auto value_of = [&](std::string_view word) {
    const auto* const one = find_named(template_, word);
    return std::to_string((one != nullptr ? one->value : constant(word)).value_or(1));
  };
  for (std::size_t axis = 0; axis < block_.size(); ++axis) {
    const std::string& extent = block_[axis];
    if (!is_word_or_number(extent)) {
      for (const std::string_view word : words_of(extent))
        if (!find_named(parameters_, word) && !contains(block_, word))
          parameters_.push_back({std::string(word), value_of(word), value_of(word), true});
      continue;
    }
    if (find_named(parameters_, extent)) continue;
    std::string values = std::ranges::count(block_, extent) > 1 ? "8 16 32"
                         : axis == 0                            ? "32 64 128 256 512 1024"
                                                                : "1 2 4 8 16";
    while (most && block_.size() == 1 && values.find(' ') != npos &&
           number_of<std::int64_t>(std::string_view(values).substr(values.rfind(' ') + 1)) > most)
      values.erase(values.rfind(' '));
    if (!has_word(values, usual_[axis])) values += ' ' + usual_[axis];
    parameters_.push_back({extent, values, usual_[axis]});
  }
  for (const auto& [name, value] : guarded_macros(code_.text()))
    if (has_word(body_, name) && !find_named(parameters_, name))
      parameters_.push_back({name, std::to_string(value), std::to_string(value), true});
}

std::string FirstShape::size_passed_as(std::string_view word, const std::vector<std::string>& sizes) const {
  for (std::size_t i = 0; i < launch_->arguments.size() && i < kernel_.arguments.size(); ++i)
    if (const std::string name = possible_name(kernel_.arguments[i].name);
        launch_->arguments[i] == word && contains(sizes, name))
      return name;
  return {};
}

/// `block` for the 256 of `(n + 255) / 256` in a launch of 256 threads, and `block - 1` for its 255. \p before and
/// \p after: the text around the number.
std::optional<std::string> FirstShape::block_for_number(std::string_view number, std::size_t axis,
                                                        std::string_view before, std::string_view after) const {
  constexpr int least = 4, least_before = 16;  // smaller numbers mean something else
  const auto value = number_of<std::int64_t>(number);
  if (!value) return std::nullopt;
  if (axis < block_.size() && literals_.at(axis)) {
    if (before.ends_with('/') && literals_.at(axis) == value && rounds_up(before, *value)) return block_[axis];
    if (before.ends_with('+') && *literals_.at(axis) - 1 == *value &&
        divisor_after_bracket(after) == literals_.at(axis))
      return '(' + block_[axis] + " - 1)";
  }
  for (std::size_t i = 0; i < block_.size(); ++i) {
    const std::size_t one = (axis + i) % block_.size();
    const auto literal = literals_.at(one);
    if (literal == value && *value >= least) return block_[one];
    if (literal && *literal - 1 == *value && *literal >= least_before) return '(' + block_[one] + " - 1)";
  }
  return std::string(number);
}

/// The name of a size for \p word, a variable of the host. A name that the kernel has for something else gets more
/// words.
std::string FirstShape::host_variable(std::string_view word, Translation& to) const {
  std::string name = possible_name(std::string(word));
  const auto is_taken = [&] {
    return find_named(kernel_.arguments, name) || contains(*to.sizes, name) || find_named(parameters_, name);
  };
  while (is_taken()) name.insert(0, "host_");
  if (!contains(to.host_variables, name)) to.host_variables.push_back(name);
  return name;
}

/// \p text of the launch in words of the kernel file. Clears Translation::is_known if it has a word that is none of
/// those that try_translate() lists.
std::string FirstShape::translate(std::string_view text, Translation& to, int depth) const {
  return replace_words(text, [&](std::string_view word) -> std::string {
    const auto begin = static_cast<std::size_t>(word.data() - text.data()), end = begin + word.size();
    const std::string_view before = before_space(text, begin), after = text.substr(skip_space(text, end));
    if (is_digit(word.front())) {
      auto number = block_for_number(word, to.axis, before, after);
      to.is_known = to.is_known && number;
      return std::move(number).value_or("");
    }
    const auto extent = std::ranges::find(launch_->block, word);
    if (extent != launch_->block.end()) return block_[static_cast<std::size_t>(extent - launch_->block.begin())];
    if (std::string size = size_passed_as(word, *to.sizes); !size.empty()) return size;
    if (const TemplateParameter* const one = parameter_given(word)) return one->name;
    const bool is_variable = !before.ends_with('.') && !before.ends_with("->") && !before.ends_with(':') &&
                             (after.empty() || std::string_view("(.[:<").find(after[0]) == npos) &&
                             !after.starts_with("->") && !is_word_of_cpp(word);
    if (const auto local = launch_->locals.find(word); local != launch_->locals.end() && depth > 0) {
      Translation inner = to;
      std::string value = translate(local->second, inner, depth - 1);
      if (inner.is_known || !is_variable || !to.takes_host_variables) {
        to = inner;
        return '(' + std::move(value) + ')';
      }
      return host_variable(word, to);
    }
    if (word == "min" || word == "max" || word == "sizeof" || numbers_of(word) || find_named(parameters_, word))
      return std::string(word);
    if (constant_called(all_, std::string(word))) return std::string(word);
    if (after.starts_with('(') && is_ceil_div(all_.text(), word)) return "ceil_div";
    if (is_variable && to.takes_host_variables) return host_variable(word, to);
    to.is_known = false;
    return {};
  });
}

std::optional<std::string> FirstShape::try_translate(std::string_view text, Translation& to) const {
  const std::string whole = with_members(text);
  std::string value = whole;
  for (int depth = 0; depth < 4 && size_passed_as(value, *to.sizes).empty() && !contains(launch_->block, value);
       ++depth)
    if (const auto local = launch_->locals.find(value); local != launch_->locals.end()) value = local->second;
  for (const std::string& one : {value, whole}) {
    Translation attempt = to;
    std::string result = translate(one, attempt, 4);
    if (!attempt.is_known || !is_expression(result)) continue;
    to = std::move(attempt);
    return result;
  }
  return std::nullopt;
}

std::optional<std::string> FirstShape::shared(const std::vector<std::string>& sizes) const {
  Translation to{.axis = 0, .sizes = &sizes, .takes_host_variables = false};
  return launch_ && !launch_->shared.empty() ? try_translate(launch_->shared, to) : "";
}

/// How far the index moves from one block to the next: `block * 4` of `blockIdx.x * blockDim.x * 4 + threadIdx.x`.
std::string FirstShape::step_between_blocks(std::size_t axis) const {
  std::string product;
  for (const std::string& factor : factors_[axis]) {
    const std::string name = factor == fmt::format("blockDim.{}", "xyz"[axis]) ? block_[axis] : factor;
    if (name != block_[axis] && !find_named(parameters_, name) && !find_named(template_, name) &&
        !number_of<std::int64_t>(name) && !constant_called(all_, name))
      return block_[axis];
    product += (product.empty() ? "" : " * ") + name;
  }
  return has_word(product, block_[axis]) ? product : block_[axis];
}

FirstShape::GridExtent FirstShape::grid(std::size_t axis, const std::vector<std::string>& sizes) const {
  const auto blocks = [&](const std::string& size) {
    return axis < block_.size() ? fmt::format("max(1, ceil_div({}, {}))", size, step_between_blocks(axis)) : size;
  };
  if (!launch_) return {axis < sizes.size() ? blocks(sizes[axis]) : "1"};
  const std::string& text = launch_->grid.at(axis);
  for (const bool takes_host_variables : {false, true}) {
    Translation to{.axis = axis, .sizes = &sizes, .takes_host_variables = takes_host_variables};
    if (const auto whole = try_translate(text, to))
      return {is_word_or_number(*whole) ? *whole : "max(1, " + *whole + ')', std::move(to.host_variables)};
  }
  const std::string expanded = launch_->with_locals(text);
  for (const std::string_view word : words_of(expanded))
    if (const std::string size = size_passed_as(word, sizes); !size.empty())
      return {.text = blocks(size), .is_guess = true};
  Translation to{.axis = axis, .sizes = &sizes, .takes_host_variables = true};
  const std::string name = host_variable(fmt::format("blocks_{}", "xyz"[axis]), to);
  return {name, {name}, true};
}

std::string FirstShape::written_grid() const {
  return launch_ ? fmt::format("{}", fmt::join(launch_->grid, ", ")) : std::string();
}

std::string FirstShape::unknown_block() const {
  for (std::size_t axis = 0; launch_ && axis < block_.size(); ++axis)
    if (!is_named_[axis] && !literals_.at(axis)) return fmt::format("{}", fmt::join(launch_->block, ", "));
  return {};
}

std::size_t FirstShape::axes_of(const std::string& size) const {
  std::size_t axes = 0;
  for (std::size_t axis = 0; launch_ && axis < grid_dimensions(); ++axis)
    if (has_word(grid(axis, {size}).text, size)) ++axes;
  return std::max<std::size_t>(axes, 1);
}

}  // namespace tuner::convert
