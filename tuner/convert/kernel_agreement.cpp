#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include <tuner/convert/kernel_draft.hpp>
#include <tuner/core/characters.hpp>
#include <tuner/core/scanner.hpp>
#include <tuner/core/signature.hpp>
#include <tuner/convert/text_macros.hpp>
#include <tuner/core/element_type.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/expression.hpp>
#include <tuner/core/message_text.hpp>

namespace tuner::convert {
namespace {

using Role = DraftArgument::Role;

constexpr std::size_t kMostArguments = 64, kMostTooMany = 3;  // limits of trying all selections

bool is_number(const DraftArgument& one) { return one.role == Role::size || one.role == Role::scalar; }

const ElementTypeInfo* info_of(const std::string& type) {
  const auto all = element_types();
  const auto found = std::find_if(all.begin(), all.end(), [&](const ElementTypeInfo& one) { return one.name == type; });
  return found == all.end() ? nullptr : &*found;
}

/// Whether these types have the same numbers, except for signs. True if one type is unknown.
bool are_alike(const std::string& a, const std::string& b) {
  const ElementTypeInfo *one = info_of(a), *other = info_of(b);
  return !one || !other || (one->bytes == other->bytes && one->is_floating == other->is_floating);
}

class Agreement {
 public:
  Agreement(KernelDraft& draft, const Signature& kernel)
      : draft_(draft), kernel_(kernel), code_(code_of(draft.source_text)), macros_(macros_of(draft)) {}

  void reach() {
    keep_macros_of_the_text();
    macros_ = macros_of(draft_);
    reorder_by_names();
    leave_out_what_is_too_many();
    std::size_t place = 0;
    for (DraftArgument& one : draft_.arguments)
      if (one.role != Role::constant && place < kernel_.arguments.size()) compare(one, kernel_.arguments[place++]);
    have_an_output();
  }

 private:
  /// The macros at the place of the kernel, in the default configuration.
  TextMacros macros_of(const KernelDraft& draft) const {
    std::map<std::string, std::string, std::less<>> given(draft.macros.begin(), draft.macros.end());
    for (const DraftParameter& one : draft.parameters)
      if (one.is_macro) given[one.name] = one.preset.value_or(one.values.front());
    return {std::string_view(code_).substr(0, kernel_.begin), std::move(given)};
  }

  /// If the text redefines a macro, the text's value counts, not the description's.
  void keep_macros_of_the_text() {
    std::set<std::string> defined;
    for (const DraftParameter& one : draft_.parameters) defined.insert(one.name);
    for (const auto& [name, value] : draft_.macros) defined.insert(name);
    const auto is_of_text = [&](const std::string& name) { return unguarded_definition(code_, name, defined) != 0; };
    std::erase_if(draft_.macros, [&](const auto& one) { return is_of_text(one.first); });
    for (DraftParameter& one : draft_.parameters) {
      const auto value = one.is_macro && is_of_text(one.name) ? macros_.value(one.name) : std::nullopt;
      if (!value || std::find(one.values.begin(), one.values.end(), *value) == one.values.end()) continue;
      one.is_macro = false;
      if (one.values.size() > 1)
        draft_.leave(fmt::format("parameter {} has only the value {} here, because the kernel's text defines it",
                                 one.name, *value));
      one.values = {*value};
      one.preset = *value;
    }
  }

  std::vector<std::size_t> passed() const {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < draft_.arguments.size(); ++i)
      if (draft_.arguments[i].role != Role::constant) places.push_back(i);
    return places;
  }

  /// If the names are the same, the kernel's order of arguments counts.
  void reorder_by_names() {
    const std::vector<std::size_t> places = passed();
    if (places.size() != kernel_.arguments.size()) return;
    std::vector<DraftArgument> ordered;
    bool same = true;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto found = std::find_if(places.begin(), places.end(), [&](std::size_t place) {
        return draft_.arguments[place].name == kernel_.arguments[i].name;
      });
      if (found == places.end()) return;
      same = same && *found == places[i];
      ordered.push_back(draft_.arguments[*found]);
    }
    if (same) return;
    for (std::size_t i = 0; i < places.size(); ++i) draft_.arguments[places[i]] = std::move(ordered[i]);
    draft_.leave("the arguments are in the order of the kernel's parameters, which differs from the original's");
  }

  bool fits(const DraftArgument& given, const Declared& taken) const {
    if (is_number(given) == taken.is_pointer()) return false;
    const auto type = kernel_type(taken);
    return !type || are_alike(given.type, type->name);
  }

  /// The ones of \p places to leave out, so that the others fit and share the most names with the kernel. nullopt if
  /// several choices are equally good.
  std::optional<std::vector<std::size_t>> too_many_of(const std::vector<std::size_t>& places) const {
    const std::size_t wanted = kernel_.arguments.size();
    if (places.size() < wanted || places.size() - wanted > kMostTooMany || places.size() > kMostArguments) return {};
    std::vector<std::vector<int>> points(places.size(), std::vector<int>(wanted, -1));  // -1: does not fit
    for (std::size_t i = 0; i < places.size(); ++i)
      for (std::size_t k = 0; k < wanted; ++k)
        if (const DraftArgument& one = draft_.arguments[places[i]]; fits(one, kernel_.arguments[k]))
          points[i][k] = one.name == kernel_.arguments[k].name ? 1 : 0;
    std::vector<std::size_t> out, best;
    int most = -1, with_most = 0;
    const std::function<void(std::size_t, std::size_t, int)> choose = [&](std::size_t given, std::size_t taken,
                                                                          int sum) {
      if (given == places.size()) {
        with_most = sum > most ? 1 : with_most + (sum == most ? 1 : 0);
        if (sum > most) best = out;
        most = std::max(most, sum);
        return;
      }
      if (taken < wanted && points[given][taken] >= 0) choose(given + 1, taken + 1, sum + points[given][taken]);
      if (out.size() + wanted < places.size()) {
        out.push_back(places[given]);
        choose(given + 1, taken, sum);
        out.pop_back();
      }
    };
    choose(0, 0, 0);
    return with_most == 1 ? std::optional(best) : std::nullopt;
  }

  void leave_out_what_is_too_many() {
    const std::vector<std::size_t> places = passed();
    const std::size_t wanted = kernel_.arguments.size();
    if (places.size() == wanted) return;
    const std::string difference =
        fmt::format("the kernel takes {} argument{}, not {}", wanted, wanted == 1 ? "" : "s", places.size());
    const auto best = too_many_of(places);
    if (!best) {
      draft_.leave(difference + ": correct `arguments`");
      return;
    }
    for (auto place = best->rbegin(); place != best->rend(); ++place) {
      DraftArgument one = draft_.arguments[*place];
      draft_.arguments.erase(draft_.arguments.begin() + static_cast<std::ptrdiff_t>(*place));
      const std::string variable = is_number(one) ? "" : constant_for(one);
      draft_.leave(fmt::format(
          "{}: {} is {}", difference, one.name,
          variable.empty() ? "left out" : "copied into the constant memory " + variable + ", which has its size"));
      if (variable.empty()) continue;
      one.name = variable;
      one.role = Role::constant;
      draft_.arguments.push_back(std::move(one));
    }
  }

  /// The only `__constant__` variable with as many numbers of \p buffer's type; empty: none or several.
  std::string constant_for(const DraftArgument& buffer) const {
    std::string found;
    constexpr std::string_view kConstant = "__constant__";
    for (std::size_t at = code_.find(kConstant); at != std::string::npos; at = code_.find(kConstant, at + 1)) {
      const std::size_t begin = at + kConstant.size();
      std::string_view variable = std::string_view(code_).substr(begin, code_.find(';', begin) - begin);
      const std::size_t open = variable.find('['), close = variable.find(']');
      if (open == std::string_view::npos || close == std::string_view::npos || close < open) continue;
      const std::string_view count = variable.substr(open + 1, close - open - 1);
      variable = trimmed(variable.substr(0, open));
      const std::vector<std::string_view> words = words_of(variable);
      if (words.empty()) continue;
      const std::string name(words.back());
      const auto type = element_type(plain_type(std::string(variable.substr(0, variable.size() - name.size()))));
      const auto holds = [&](const DraftArgument& one) { return one.name == name; };
      if (!type || type->name != buffer.type || std::any_of(draft_.arguments.begin(), draft_.arguments.end(), holds))
        continue;
      if (number_of(count) * type->count != number_of(buffer.count)) continue;
      if (!found.empty()) return {};
      found = name;
    }
    return found;
  }

  /// 0: not a number.
  std::int64_t number_of(std::string_view text) const {
    std::map<std::string, std::string, std::less<>> values;
    for (const std::string_view word : words_of(text))
      if (const auto value = macros_.value(std::string(word))) values[std::string(word)] = *value;
    try {
      return Expression::parse(substitute_words(text, values), {}).evaluate_integer({});
    } catch (const Error&) {
      return 0;
    }
  }

  /// Also resolves macros.
  std::optional<DraftType> kernel_type(const Declared& taken) const {
    const std::string plain = plain_type(taken.type);
    if (const auto type = element_type(plain)) return type;
    const auto value = macros_.value(plain);
    return value ? element_type(plain_type(*value)) : std::nullopt;
  }

  void compare(DraftArgument& given, const Declared& taken) {
    if (is_number(given) == taken.is_pointer()) {
      draft_.leave(fmt::format("argument {} is a {}, and the kernel's {} is none", given.name,
                               is_number(given) ? "number" : "buffer", in_quotes(taken.name)));
      return;
    }
    // Bytes may hold any type.
    const auto type = kernel_type(taken);
    if (type && given.type != "uint8" && !are_alike(given.type, type->name)) {
      draft_.leave(fmt::format("{} has the kernel's type {} here instead of {}", given.name, type->name, given.type));
      given.type = type->name;
    }
    if (taken.is_pointer()) see_what_is_written(given, taken);
  }

  void see_what_is_written(DraftArgument& given, const Declared& taken) {
    const std::string_view kernel = std::string_view(code_).substr(kernel_.begin);
    if (given.role == Role::in && !taken.is_to_const() && writes_to(kernel, taken.name)) {
      given.role = Role::inout;
      draft_.leave(fmt::format("buffer {} is ReadOnly, but the kernel writes to it: it is `inout` here", given.name));
    } else if (given.role == Role::inout && taken.is_to_const()) {
      given.role = Role::in;
    } else if (given.role == Role::out && adds_to(kernel, taken.name)) {
      given.role = Role::inout;
      if (given.fill.empty() && given.file.empty()) given.fill = "constant 0";
      draft_.leave(fmt::format(
          "buffer {} is WriteOnly, but the kernel adds to it: it is `inout` and filled with zeros here; if a "
          "run takes another time on the results of the run before, also `prepare` it",
          given.name));
    }
  }

  /// A kernel without outputs computes nothing: buffers that it may write become outputs.
  void have_an_output() {
    const auto is_written = [](const DraftArgument& one) { return one.role == Role::out || one.role == Role::inout; };
    if (std::any_of(draft_.arguments.begin(), draft_.arguments.end(), is_written)) return;
    std::size_t place = 0;
    for (DraftArgument& one : draft_.arguments) {
      if (one.role == Role::constant || place >= kernel_.arguments.size()) continue;
      const Declared& taken = kernel_.arguments[place++];
      if (one.role != Role::in || !taken.is_pointer() || taken.is_to_const()) continue;
      one.role = Role::inout;
      draft_.leave(
          fmt::format("buffer {} is `inout` here, because the kernel has no other output and takes no `const` "
                      "of it",
                      one.name));
    }
  }

  KernelDraft& draft_;
  const Signature& kernel_;
  std::string code_;
  TextMacros macros_;
};

}  // namespace

void agree_with_kernel(KernelDraft& draft) {
  if (const auto kernel = find_signature(code_of(draft.source_text), draft.kernel)) Agreement(draft, *kernel).reach();
}

}  // namespace tuner::convert
