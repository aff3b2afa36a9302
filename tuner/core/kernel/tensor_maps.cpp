#include <tuner/core/kernel/tensor_maps.hpp>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include <tuner/core/expression/expression_parser.hpp>
#include <tuner/core/expression/expression_tree.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

using Shape = TensorMapShape;

/// The condition on which a launch takes \p map; nothing if one always does.
std::optional<Expression> taken_where(const KernelSpec& spec, const TensorMapSpec& map, TensorMapUse use) {
  Expression taken = Expression::constant(0);
  std::vector<const std::vector<LaunchSpec>*> all{&spec.launches};
  if (use == TensorMapUse::tuning) all.insert(all.end(), {&spec.verification.reference, &spec.prepare});
  for (const auto* const launches : all)
    for (const LaunchSpec& launch : *launches) {
      if (!contains(launch.arguments, map.name)) continue;
      if (!launch.when) return std::nullopt;
      taken = combine(Op::logical_or, {taken, *launch.when});
    }
  return taken;
}

/// `tensor map 'from' (line 12)`; without the line for a map that is described in code.
std::string subject_of(const TensorMapSpec& map) {
  const std::string line = map.location.line > 0 ? " (line " + std::to_string(map.location.line) + ')' : std::string();
  return "tensor map '" + map.name + '\'' + line;
}

/// The rules of one map. They are written with short names for its numbers.
class Rules {
 public:
  Rules(const KernelSpec& spec, const TensorMapSpec& map, ElementType type, TensorMapUse use,
        std::vector<Condition>& all)
      : map_(map), taken_(taken_where(spec, map, use)), all_(all) {
    if (map.is_tf32 && type != ElementType::float32 && type != ElementType::tf32)
      add("false", "it is read as tf32, but its elements are " + std::string(info(type).name) + ", not float", {});
    if (map.fills_with_nan && (!info(type).is_floating || info(type).bytes == 1))  // CUDA has no fp8 here
      add("false", "it is filled with NaN, but its elements are " + std::string(info(type).name), {});
    names_["bytes"] = Expression::constant(static_cast<std::int64_t>(info(type).bytes));
    names_["count"] = spec.find_buffer(map.buffer)->count;
    names_["swizzle"] = map.numbers[Shape::swizzle];
    names_["interleave"] = map.numbers[Shape::interleave];
    names_["promotion"] = map.numbers[Shape::promotion];
    names_["inner"] = map.numbers[Shape::box + map.rank - 1];
    names_["row"] = parsed("interleave != 0 ? 0 : inner * bytes");  // with an interleave, boxes have no rows
  }

  void add_all() {
    for (std::size_t i = 0; i < map_.rank; ++i) of_dimension(i);
    add("row % 16 == 0", "a row of its box has {} bytes, and must have a multiple of 16", {"row"});
    one_of("swizzle", {0, 32, 64, 128});
    one_of("interleave", {0, 16, 32});
    one_of("promotion", {0, 64, 128, 256});
    add("swizzle == 0 or row <= swizzle", "a row of its box has {} bytes, which exceed its swizzle of {}",
        {"row", "swizzle"});
    add("interleave != 32 or swizzle == 32", "with an interleave of 32 bytes, its swizzle must be 32, not {}",
        {"swizzle"});
    if (map_.rank < 3)
      add("interleave == 0", "an interleave of {} bytes needs at least three dimensions", {"interleave"});
    std::string last = "0";
    for (std::size_t i = 0; i < map_.rank; ++i)
      last += " + (extent" + std::to_string(i) + " - 1)" +
              (i + 1 < map_.rank ? " * stride" + std::to_string(i) : std::string());
    add(last + " < count", "its last element is number {} of '" + map_.buffer + "', which has {}",
        {last + " + 1", "count"});
  }

 private:
  /// A property that has one of some numbers of bytes.
  void one_of(const std::string& name, std::initializer_list<int> bytes) {
    std::string allowed;
    for (const int one : bytes) allowed += (allowed.empty() ? "" : ", ") + std::to_string(one);
    add(name + " in {" + allowed + "}", "its " + name + " has {} bytes, not one of " + allowed, {name});
  }

  void of_dimension(std::size_t i) {
    const std::string number = std::to_string(i);
    const std::string place = " in dimension " + std::to_string(i + 1);
    const auto named = [&](const std::string& name, Shape::Place first) {
      names_[name + number] = map_.numbers[first + i];
      return name + number;
    };
    const std::string extent = named("extent", Shape::extent), box = named("box", Shape::box);
    const std::string stride = named("stride", Shape::stride), step = named("step", Shape::step);
    add("1 <= " + extent + " and " + extent + " <= 4294967296", "its extent" + place + " is {}, not from 1 to 2^32",
        {extent});
    add("1 <= " + box + " and " + box + " <= 256", "its box has {} elements" + place + ", not from 1 to 256", {box});
    add("1 <= " + step + " and " + step + " <= 8", "its step" + place + " is {}, not from 1 to 8", {step});
    if (i + 1 == map_.rank) return;
    add(stride + " * bytes % 16 == 0", "its stride" + place + " has {} bytes, and must have a multiple of 16",
        {stride + " * bytes"});
    add("interleave != 32 or " + stride + " * bytes % 32 == 0",
        "with an interleave of 32 bytes, its stride" + place + " must be a multiple of 32 bytes, not {}",
        {stride + " * bytes"});
    add("0 <= " + stride + " and " + stride + " * bytes < 1099511627776",
        "its stride" + place + " has {} bytes, not from 0 to 2^40", {stride + " * bytes"});
  }

  Expression parsed(const std::string& text) const {
    const LogicalLine line = LogicalLine::from(text, {});
    TokenCursor cursor(line);
    return parse_expression(cursor, names_);
  }

  void add(const std::string& holds, const std::string& broken, const std::vector<std::string>& values) {
    Condition& rule = all_.emplace_back(Condition{parsed(holds), 1, 1, taken_});
    rule.subject = subject_of(map_);
    rule.broken = broken;
    for (const std::string& value : values) rule.shown.push_back(parsed(value));
  }

  const TensorMapSpec& map_;
  const std::optional<Expression> taken_;
  Substitutions names_;
  std::vector<Condition>& all_;
};

}  // namespace

TensorMapShape shape_of(const TensorMapSpec& map, ElementType type, const Bindings& bindings) {
  TensorMapShape shape{type, map.is_tf32 || type == ElementType::tf32, map.fills_with_nan, map.rank, {}};
  std::ranges::transform(map.numbers, shape.numbers.begin(),
                         [&](const Expression& number) { return number.evaluate_integer(bindings); });
  return shape;
}

std::vector<Condition> tensor_map_rules(const KernelSpec& spec, const ProblemSize& size, TensorMapUse use) {
  std::vector<Condition> all;
  for (const TensorMapSpec& map : spec.tensor_maps) {
    try {
      Rules(spec, map, resolved_type(spec, size, spec.find_buffer(map.buffer)->type), use, all).add_all();
    } catch (const EvaluationError& error) {  // its numbers are constants, and one is too large
      all.push_back({Expression::constant(0), 1, 1, taken_where(spec, map, use), subject_of(map), error.what()});
    }
  }
  return all;
}

}  // namespace tuner
