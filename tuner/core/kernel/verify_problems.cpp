#include <tuner/core/kernel/verify_problems.hpp>

#include <algorithm>
#include <charconv>
#include <set>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/expression/open_expression.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/launches.hpp>
#include <tuner/core/kernel/reference.hpp>
#include <tuner/core/kernel/spec_expressions.hpp>
#include <tuner/core/kernel/tensor_maps.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>

namespace tuner {
namespace {

using Chosen = VerifyProblem::Chosen;
using Names = std::vector<std::string>;

// Problems of tuner's choice have fewer elements than an eighth of the tuned one, so that they take little time, but a
// kernel needs a few blocks.
constexpr std::size_t kFewElements = std::size_t{1} << 15;
constexpr std::size_t kMostElements = std::size_t{1} << 20;
constexpr std::size_t kMostWithoutSmaller = std::size_t{1} << 26;  // if no size can be made smaller

/// Products with them are exact, except that results may cancel.
constexpr double kScalars[] = {0, 1, -1, 0.5};

constexpr std::int64_t kMostSteps = 1024;                      // then only powers of two
constexpr std::size_t kMostFixedNumbers = 8;                   // numbers of structs in a sentence
constexpr std::int64_t kLargestPrime = std::int64_t{1} << 40;  // larger ones take long to find

bool is_prime(std::int64_t number) {
  if (number < 2) return false;
  for (std::int64_t i = 2; i * i <= number; ++i)
    if (number % i == 0) return false;
  return true;
}

/// The sizes that may differ from those that are tuned.
Names free_sizes(const KernelSpec& spec) {
  std::set<std::string> fixed;
  for (const auto* launches : {&spec.launches, &spec.prepare, &spec.verification.reference})
    for (const LaunchSpec& launch : *launches)
      for (const std::string_view word : words_of(launch.instantiate)) fixed.emplace(word);
  for_each_expression(spec, [&](const Expression& expression, const ExpressionUse& use) {
    if (use.role == ExpressionRole::code) fixed.insert(expression.names().begin(), expression.names().end());
  });
  const auto from_file = [](const std::optional<FillSpec>& fill) { return fill && !fill->path.empty(); };
  for (const BufferSpec& buffer : spec.buffers) {
    bool has_file = from_file(buffer.fill) || buffer.answer;
    if (buffer.record)
      for (const RecordField& field : buffer.record->fields) has_file = has_file || from_file(field.fill);
    if (!has_file) continue;
    for (const std::string& name : buffer.count.names()) fixed.insert(name);
  }
  Names free;
  if (spec.reference_kind() == ReferenceKind::file) return free;  // its answers are for one problem
  for (const SizeSpec& size : spec.sizes)
    if (!fixed.contains(size.name)) free.push_back(size.name);
  return free;
}

/// Whether the launches of \p configuration, whose values need not be in the space, are possible for \p size.
bool can_launch(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                const Configuration& configuration) {
  const Bindings all = bindings(spec, size, limits, configuration);
  for (const Constraint& constraint : spec.space.constraints())
    if (!constraint.predicate.evaluate_boolean(all)) return false;
  const auto fits = [&](const ResolvedLaunch& launch) { return !violated_limit(launch.shape, limits); };
  return std::ranges::all_of(resolve_launches(spec, size, limits, configuration), fits);
}

bool can_run_reference(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits) try {
  if (spec.reference_kind() == ReferenceKind::default_configuration)
    return can_launch(spec, size, limits, reference_configuration(spec));
  if (spec.reference_kind() != ReferenceKind::kernel) return true;
  const auto fits = [&](const ResolvedLaunch& launch) { return !violated_limit(launch.shape, limits); };
  return std::ranges::all_of(resolve_reference(spec, size, limits), fits);
} catch (const Error&) {
  return false;
}

bool is_possible(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits) {
  return !why_impossible(spec, size, limits) && can_run_reference(spec, size, limits);
}

/// \p size with each of \p names changed by \p step; nullopt if one would be negative.
std::optional<ProblemSize> moved(ProblemSize size, const Names& names, std::int64_t step) {
  for (const std::string& name : names) {
    std::int64_t& value = size.sizes.at(name);
    if (step > 0 ? value > INT64_MAX - step : value < -step) return std::nullopt;
    value += step;
  }
  return size;
}

/// Sizes that change together, because constraints bind them, and by how much.
struct Group {
  Names names;
  std::int64_t down = 0, up = 0;  ///< 0: there is no such size
};

class OwnChoice {
 public:
  OwnChoice(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits)
      : spec_(spec), limits_(limits), main_(size), free_(free_sizes(spec)), base_(smaller()) {
    const Bindings fixed = bindings(spec, base_, limits);
    std::vector<OpenExpression> of_default;  // of the default, if that is the reference
    const bool is_default = spec.reference_kind() == ReferenceKind::default_configuration;
    for (const Constraint& constraint : spec.space.constraints()) {
      const Names& names = constraint.predicate.names();
      if (std::ranges::none_of(names, [&](const std::string& name) { return spec.space.find(name) != nullptr; }))
        conditions_.emplace_back(constraint.predicate, free_, fixed);
      else if (is_default)
        of_default.emplace_back(constraint.predicate, free_,
                                bindings(spec, base_, limits, reference_configuration(spec)));
    }
    for (const Condition& rule : tensor_map_rules(spec, base_)) {
      const Expression holds = predicate(rule);
      if (std::ranges::none_of(holds.names(), [&](const std::string& name) { return spec.space.find(name); }))
        conditions_.emplace_back(holds, free_, fixed);
    }
    find_groups();
    for (const Group& group : groups_) movable_.insert(movable_.end(), group.names.begin(), group.names.end());
    if (of_default.empty()) return;
    std::ranges::move(of_default, std::back_inserter(conditions_));
    groups_.clear();
    find_groups();
  }

  const ProblemSize& base() const { return base_; }
  /// Whether the constraints on sizes allow no other value of \p name near by.
  bool is_pinned(const std::string& name) const { return contains(free_, name) && !contains(movable_, name); }

  /// The next smaller sizes, which are odd if those of the base are even. The base if that is impossible.
  ProblemSize less_or_base() const {
    const ProblemSize size = together([](const Group& group, std::int64_t value) { return value - group.down; });
    return is_possible(spec_, size, limits_) ? size : base_;
  }

  /// The last ones are verified first.
  std::vector<VerifyProblem> all() {
    std::vector<VerifyProblem> others;
    if (!groups_.empty()) {
      add(others, together([](const Group& group, std::int64_t value) { return lowest(group, value); }));
      const ProblemSize turned = primes(1);
      add(others, is_possible(spec_, turned, limits_) ? turned : primes(0));
      add(others, together(&larger));
      const bool is_few = elements_of(spec_, main_, limits_) <= kFewElements;
      add(others, together([&](const Group& group, std::int64_t value) { return far(group, value, is_few ? 2 : 1); }));
    }
    for (auto group = groups_.rbegin(); group != groups_.rend(); ++group)
      if (group->down > 0) add(others, moved(base_, group->names, -group->down));
    std::vector<VerifyProblem> all;
    const auto is_moved = [](const VerifySpec& line) { return line.offset > 0; };
    const bool file_moves = std::ranges::any_of(spec_.verification.problems, is_moved);
    if (const std::int64_t offset = shift(); offset > 0 && !file_moves && is_small(base_)) {
      using Moved = VerifyProblem::Moved;
      const ProblemSize less = less_or_base();
      if (movable_buffers() > 1) {
        all.push_back({less, offset, {}, Chosen::offset, Moved::even});
        all.push_back({base_, offset, {}, Chosen::offset, Moved::odd});
      } else if (less != base_) {
        all.push_back({less, offset, {}, Chosen::offset});
      }
      all.push_back({base_, offset, {}, Chosen::offset});
    }
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }

 private:
  ProblemSize smaller() const {
    const std::size_t elements = elements_of(spec_, main_, limits_);
    const std::size_t most = std::clamp(elements / 8, kFewElements, kMostElements);
    if (elements <= most) return main_;
    auto smaller = made_smaller(spec_, main_, limits_, most, free_);
    return smaller && is_possible(spec_, *smaller, limits_) ? *std::move(smaller) : main_;
  }

  bool is_small(const ProblemSize& size) const {
    return elements_of(spec_, size, limits_) <=
           (base_ == main_ ? kMostWithoutSmaller : kMostElements + kMostElements / 2);
  }

  /// Whether \p size meets the constraints on sizes, and the default's if that is the reference; fast.
  bool meets(const ProblemSize& size) const {
    std::vector<std::int64_t> values;
    for (const std::string& name : free_) values.push_back(size.sizes.at(name));
    return std::ranges::all_of(conditions_,
                               [&](const OpenExpression& one) { return one.evaluate(values.data()).value_or(1) != 0; });
  }

  std::int64_t step(const Names& names, int direction) const {
    for (std::int64_t step = 1; step > 0 && step < INT64_MAX / 4; step = step < kMostSteps ? step + 1 : 2 * step) {
      const auto size = moved(base_, names, direction * step);
      if (!size) return 0;
      if (meets(*size)) return step;
    }
    return 0;
  }

  void find_groups() {
    Names bound;
    for (const std::string& name : free_)
      if (!add_group({name})) bound.push_back(name);
    if (!bound.empty()) add_group(std::move(bound));
  }

  bool add_group(Names names) {
    const std::int64_t down = step(names, -1), up = step(names, 1);
    if (down == 0 && up == 0) return false;
    groups_.push_back({std::move(names), down, up});
    return true;
  }

  /// The base with other values in all groups. \p value_of: of a group and the value in the base.
  template <typename ValueOf>
  ProblemSize together(ValueOf value_of) const {
    ProblemSize size = base_;
    for (const Group& group : groups_) {
      const std::int64_t first = base_.sizes.at(group.names.front());
      const std::int64_t change = value_of(group, first) - first;
      if (const auto changed = moved(size, group.names, change)) size = *changed;
    }
    return size;
  }
  static std::int64_t lowest(const Group& group, std::int64_t value) {
    if (group.down == 0 || value == 0) return value;
    const std::int64_t rest = value % group.down;
    return rest > 0 ? rest : group.down;
  }
  /// Different sizes get different primes. Before that, the sizes of the base are exchanged in a circle \p turns times:
  /// a kernel may be right only if one of them is the larger one.
  ProblemSize primes(std::size_t turns) const {
    std::int64_t previous = 0;
    std::size_t at = 0;
    return together([&](const Group& group, std::int64_t value) {
      const Group& other = groups_[(at++ + turns) % groups_.size()];
      return prime(group, value, base_.sizes.at(other.names.front()), previous);
    });
  }
  /// A prime multiple of the group's step below \p scale, and its remainder in \p value.
  static std::int64_t prime(const Group& group, std::int64_t value, std::int64_t scale, std::int64_t& previous) {
    if (group.down == 0) return value;
    std::int64_t factor = std::min(scale / group.down / 4 * 3, kLargestPrime);
    while (factor > 1 && (!is_prime(factor) || factor == previous)) --factor;
    if (factor < 2) return value;
    previous = factor;
    return value % group.down + factor * group.down;
  }
  /// At least \p times as large. A multiple of 4 need not be one of a block.
  static std::int64_t far(const Group& group, std::int64_t value, std::int64_t times) {
    if (group.up == 0 || value > kLargestPrime) return value;
    return value % group.up + (times * (value / group.up) + 4) * group.up;
  }
  static std::int64_t larger(const Group& group, std::int64_t value) { return value + (group.up == 1 ? 2 : group.up); }

  void add(std::vector<VerifyProblem>& all, const std::optional<ProblemSize>& size) const {
    if (!size || *size == main_ || !is_possible(spec_, *size, limits_) || !is_small(*size)) return;
    VerifyProblem problem{*size, 0, {}, Chosen::size};
    if (!contains(all, problem)) all.push_back(std::move(problem));
  }

  std::ptrdiff_t movable_buffers() const { return std::ranges::count_if(spec_.buffers, is_movable); }

  /// By how many elements pointers may be misaligned; 0: by none.
  std::int64_t shift() const {
    std::size_t least = 0;
    for (const BufferSpec& buffer : spec_.buffers) {
      if (!is_movable(buffer)) continue;
      const std::size_t bytes = info(resolved_type(spec_, main_, buffer.type)).bytes *
                                static_cast<std::size_t>(std::max(buffer.components, 1));
      least = least == 0 ? bytes : std::min(least, bytes);
    }
    if (least == 0) return 0;
    const std::int64_t bytes = static_cast<std::int64_t>(least);
    return std::max<std::int64_t>((spec_.alignment + bytes - 1) / bytes, 1);
  }

  const KernelSpec& spec_;
  const DeviceLimits& limits_;
  const ProblemSize& main_;
  const Names free_;
  const ProblemSize base_;
  std::vector<OpenExpression> conditions_;
  std::vector<Group> groups_;
  Names movable_;  // sizes that the constraints on sizes let change
};

/// The largest problem of \p all that is not large itself, else \p otherwise: scalars are varied there.
ProblemSize place_for_scalars(const KernelSpec& spec, const DeviceLimits& limits, const std::vector<VerifyProblem>& all,
                              const ProblemSize& otherwise) {
  const ProblemSize* best = nullptr;
  std::size_t most = 0;
  for (const VerifyProblem& problem : all) {
    const std::size_t elements = elements_of(spec, problem.size, limits);
    if (elements <= most || elements > kMostElements || !is_possible(spec, problem.size, limits)) continue;
    most = elements;
    best = &problem.size;
  }
  return best != nullptr ? *best : otherwise;
}

/// Whether the reference has an answer for other values of \p scalar.
bool reference_takes(const KernelSpec& spec, const ScalarSpec& scalar) {
  const ReferenceKind kind = spec.reference_kind();
  if (kind != ReferenceKind::kernel) return kind == ReferenceKind::default_configuration;
  return std::ranges::any_of(spec.verification.reference,
                             [&](const LaunchSpec& launch) { return contains(launch.arguments, scalar.name); });
}

/// Whether a `verify` line has a value for \p number, a scalar or a number of a struct.
bool is_named(const KernelSpec& spec, const std::string& number) {
  return std::ranges::any_of(spec.verification.problems,
                             [&](const VerifySpec& problem) { return problem.scalars.contains(number); });
}

/// A floating number by value of which tuner verifies several values.
struct FreeNumber {
  std::string name;  // as in VerifyProblem::scalars
  double usual = 0;  // NaN if it is computed
};

/// Calls \p visit(field, i, value) with each number of the struct \p scalar, without its pointers.
template <typename Visit>
void for_each_number(const ScalarSpec& scalar, const Visit& visit) {
  auto value = scalar.values.begin();
  for (const RecordField& field : scalar.record->fields)
    for (int i = 0; i < field.count; ++i, ++value)
      if (field.pointer.empty()) visit(field, i, *value);
}

bool follows_sizes(const ScalarValue& value) { return value.computed && !value.computed->names().empty(); }

/// Numbers that no `verify` line names.
std::vector<FreeNumber> free_numbers(const KernelSpec& spec, const ProblemSize& size) {
  std::vector<FreeNumber> all;
  const auto add = [&](std::string name, const ScalarValue& value) {
    if (!follows_sizes(value) && !is_named(spec, name))
      all.push_back({std::move(name), value.computed ? NAN : value.number});
  };
  for (const ScalarSpec& scalar : spec.scalars) {
    if (scalar.record) {
      for_each_number(scalar, [&](const RecordField& field, int i, const ScalarValue& value) {
        if (!is_fixed(spec, scalar, field, i)) add(number_name(scalar, field, i), value);
      });
    } else if (!is_part_of_problem(spec, scalar, size) && info(resolved_type(spec, size, scalar.type)).is_floating) {
      add(scalar.name, scalar.values.front());
    }
  }
  return all;
}

/// In problem i, number k has the value i + k at the first of \p places, and i + 3k at the second. So each has all
/// values at each place, and two of them are once 1 and 0, and once 0 and 1.
void add_scalars(const KernelSpec& spec, const ProblemSize& size, const std::vector<ProblemSize>& places,
                 std::vector<VerifyProblem>& all) {
  const std::vector<FreeNumber> numbers = free_numbers(spec, size);
  if (numbers.empty()) return;
  for (std::size_t at = 0; at < places.size(); ++at) {
    const std::size_t apart = at == 0 ? 1 : 3;
    for (std::size_t i = 0; i < std::size(kScalars); ++i) {
      VerifyProblem problem{places[at], 0, {}, Chosen::scalars};
      bool differs = false;
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        const double value = kScalars[(i + apart * k) % std::size(kScalars)];
        problem.scalars[numbers[k].name] = value;
        differs = differs || numbers[k].usual != value;
      }
      if (differs) all.insert(all.begin(), std::move(problem));
    }
  }
  if (numbers.size() < std::size(kScalars)) return;
  // Each of these problems has a 0 and a -1, which roots and quotients may not take.
  VerifyProblem positive{places.front(), 0, {}, Chosen::scalars};
  for (std::size_t k = 0; k < numbers.size(); ++k) positive.scalars[numbers[k].name] = k % 2 == 0 ? 1 : 0.5;
  all.insert(all.begin(), std::move(positive));
}

}  // namespace

std::string scalar_text(double number) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

std::string scalar_text(float number) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

bool has_other_scalars(const KernelSpec& spec, const ProblemSize& size) {
  return std::ranges::any_of(size.choices, [&](const auto& choice) { return spec.find_scalar(choice.first); });
}

bool is_part_of_problem(const KernelSpec& spec, const ScalarSpec& scalar, const ProblemSize& size) {
  if (scalar.record) return false;
  if (scalar.only || !reference_takes(spec, scalar)) return true;
  return !is_named(spec, scalar.name) && !info(resolved_type(spec, size, scalar.type)).is_floating;
}

std::string number_name(const ScalarSpec& scalar, const RecordField& field, int i) {
  return scalar.name + '.' + field.name + (field.count > 1 ? '[' + std::to_string(i) + ']' : "");
}

std::vector<std::string> number_names(const ScalarSpec& scalar) {
  std::vector<std::string> all;
  for_each_number(scalar, [&](const RecordField& field, int i, const ScalarValue&) {
    all.push_back(number_name(scalar, field, i));
  });
  return all;
}

bool is_fixed(const KernelSpec& spec, const ScalarSpec& scalar, const RecordField& field, int i) {
  if (scalar.only || !reference_takes(spec, scalar)) return true;
  return !info(field.type).is_floating && !is_named(spec, number_name(scalar, field, i));
}

bool chooses_sizes(const KernelSpec& spec) {
  return std::ranges::all_of(spec.verification.problems, [](const VerifySpec& one) { return one.sizes.empty(); });
}

bool chooses_problems(const KernelSpec& spec) { return chooses_sizes(spec) || !spec.scalars.empty(); }

bool is_movable(const BufferSpec& buffer) {
  return !buffer.is_work_space() && buffer.role != BufferRole::constant && buffer.role != BufferRole::consumed;
}

std::size_t elements_of(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits) try {
  const Bindings names = bindings(spec, size, limits);
  double count = 0;
  for (const BufferSpec& buffer : spec.buffers)
    if (!buffer.is_work_space())
      count += static_cast<double>(std::max<std::int64_t>(buffer.count.evaluate_integer(names), 0)) /
               (buffer.record ? buffer.components : 1);
  return static_cast<std::size_t>(std::min(count, 1e18));
} catch (const Error&) {
  return static_cast<std::size_t>(1e18);
}

std::optional<ProblemSize> made_smaller(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                        std::size_t most, const std::vector<std::string>& names) {
  for (std::int64_t step = 4096; step >= 16; step /= 2) {
    ProblemSize smaller = size;
    for (auto& [name, value] : smaller.sizes)
      if (value >= 2 * step && contains(names, name)) value = step + value % step;
    if (elements_of(spec, smaller, limits) <= most) return smaller;
  }
  return std::nullopt;
}

std::vector<VerifyProblem> verify_problems(const KernelSpec& spec, const ProblemSize& size,
                                           const DeviceLimits& limits) {
  std::vector<VerifyProblem> all;
  for (const VerifySpec& verify : spec.verification.problems) {
    VerifyProblem& problem = all.emplace_back(VerifyProblem{size, verify.offset, verify.scalars});
    for (const auto& [name, value] : verify.sizes) problem.size.sizes[name] = value;
  }
  if (chooses_sizes(spec)) {
    OwnChoice choice(spec, size, limits);
    const std::vector<VerifyProblem> own = choice.all();
    all.insert(all.end(), own.begin(), own.end());
    std::vector<ProblemSize> places{choice.base()};
    if (const ProblemSize less = choice.less_or_base(); less != choice.base()) places.push_back(less);
    add_scalars(spec, size, places, all);
  } else if (!free_numbers(spec, size).empty()) {
    add_scalars(spec, size, {place_for_scalars(spec, limits, all, OwnChoice(spec, size, limits).base())}, all);
  }
  return all;
}

std::set<std::string> varied_sizes(const std::vector<VerifyProblem>& problems, const ProblemSize& size) {
  std::set<std::string> varied;
  for (const VerifyProblem& problem : problems)
    if (problem.chosen == Chosen::size)
      for (const auto& [name, value] : problem.size.sizes)
        if (size.sizes.at(name) != value) varied.insert(name);
  return varied;
}

std::vector<std::string> fixed_sizes(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits) {
  const ReferenceKind kind = spec.reference_kind();
  if (kind == ReferenceKind::none || kind == ReferenceKind::file) return names_of(spec.sizes);
  if (!chooses_sizes(spec)) return {};
  OwnChoice choice(spec, size, limits);
  const std::set<std::string> varied = varied_sizes(choice.all(), size);
  std::vector<std::string> fixed;
  for (const SizeSpec& one : spec.sizes)
    if (!varied.contains(one.name) && !choice.is_pinned(one.name)) fixed.push_back(one.name);
  return fixed;
}

std::vector<std::string> limits_of_results(const KernelSpec& spec, const ProblemSize& size,
                                           const DeviceLimits& limits) {
  std::vector<std::string> all;
  std::string sizes, scalars, numbers;
  std::size_t fixed_numbers = 0;
  const auto add = [](std::string& text, const std::string& name, const std::string& value) {
    text += (text.empty() ? "" : " ") + name + '=' + value;
  };
  for (const std::string& name : fixed_sizes(spec, size, limits)) add(sizes, name, std::to_string(size.sizes.at(name)));
  for (const ScalarSpec& scalar : spec.scalars) {
    if (scalar.only) continue;
    if (scalar.record)
      for_each_number(scalar, [&](const RecordField& field, int i, const ScalarValue& value) {
        if (!is_fixed(spec, scalar, field, i) || follows_sizes(value)) return;
        if (++fixed_numbers > kMostFixedNumbers) return;
        add(numbers, number_name(scalar, field, i),
            value.computed ? value.computed->text() : scalar_text(value.number));
      });
    if (!is_part_of_problem(spec, scalar, size)) continue;
    const auto given = size.choices.find(scalar.name);
    const ScalarValue& usual = scalar.values.front();
    add(scalars, scalar.name,
        given != size.choices.end() ? given->second
        : usual.computed            ? usual.computed->text()
                                    : scalar_text(usual.number));
  }
  const std::string other_values =
      ". A call with another value gets the default configuration until it has its own result";
  if (!sizes.empty())
    all.push_back("results are for " + sizes +
                  " alone, as no other value can be verified: code is compiled for it, buffers or answers come from a "
                  "file, or the reference cannot run with another" +
                  other_values);
  if (!scalars.empty())
    all.push_back("results are for " + scalars + " alone" + other_values +
                  ". Name further values with `verify`, or write `only` after the value if you mean it");
  if (!numbers.empty())
    all.push_back("results are for " + numbers +
                  (fixed_numbers > kMostFixedNumbers
                       ? " and " + std::to_string(fixed_numbers - kMostFixedNumbers) + " more"
                       : "") +
                  " alone. A call whose struct has another value gets the default configuration. Name further "
                  "values with `verify`, or write `only` after the struct if you mean it");
  return all;
}

std::vector<VerifyProblem> nearest_valid(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                         const Configuration& configuration, const std::vector<VerifyProblem>& all) {
  const auto is_valid = [&](const ProblemSize& one) { return !why_invalid(spec, one, limits, configuration); };
  const auto proves = [&](const VerifyProblem& one) { return one.chosen == Chosen::size && is_valid(one.size); };
  if (!chooses_sizes(spec) || std::ranges::any_of(all, proves)) return {};
  const Names free = free_sizes(spec);
  if (free.empty() || elements_of(spec, size, limits) > kMostWithoutSmaller) return {};
  std::vector<VerifyProblem> found;
  for (const int direction : {-1, 1})
    for (std::int64_t step = 1; step <= 8192; step = step < 3        ? step + 1
                                                     : step % 3 == 0 ? step / 3 * 4
                                                                     : step / 2 * 3) {
      const auto near = moved(size, free, direction * step);
      if (!near) break;
      if (!is_valid(*near) || !is_possible(spec, *near, limits)) continue;
      found.push_back({*near, 0, {}, Chosen::size});
      break;
    }
  return found;
}

}  // namespace tuner
