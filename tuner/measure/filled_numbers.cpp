#include <tuner/measure/filled_numbers.hpp>

#include <cmath>

#include <fmt/format.h>

#include <tuner/core/expression/open_expression.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel_file/data_files.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/core/values/input_file.hpp>
#include <tuner/measure/bound_arguments.hpp>

namespace tuner {
namespace {

constexpr std::size_t kBetweenLooks = 4096;  // at the clock: some milliseconds for the longest expressions

[[noreturn]] void does_not_fit(const SourceLocation& place, std::size_t i, auto value, ElementType type) {
  throw SpecError(place, fmt::format("element {} is {}, which does not fit the type {}", i, value, info(type).name));
}

/// Throws SpecError unless \p type holds all \p count numbers of \p fill.
void require_fit(const FilledBy& by, const std::string& name, const SourceLocation& place, const Fill& fill,
                 ElementType type, std::size_t count) {
  const auto require = [&](double number) {
    std::byte ignored[8];
    if (store_number(ignored, type, info(type).is_floating ? number : std::floor(number))) return;
    throw SpecError(
        place.line == 0 ? SourceLocation{by.spec.program.file} : place,
        fmt::format("the fill of {} on {}: {} does not fit the type {}", name, by.problem, number, info(type).name));
  };
  if (fill.kind == Fill::Kind::iota) return require(static_cast<double>(count - 1));
  require(fill.low);
  if (fill.kind == Fill::Kind::uniform) require(std::nextafter(fill.high, fill.low));
}

}  // namespace

std::vector<std::byte> computed_elements(ElementType type, std::size_t count, const Expression& element,
                                         const Bindings& names, double most_seconds) {
  if (element.has_reals() && !info(type).is_floating)
    throw SpecError(element.location(), fmt::format("elements of {} are filled with integers alone", info(type).name));
  static const std::string index = "i";
  const OpenExpression open(element, {&index, 1}, names);
  const std::size_t size = info(type).bytes;
  std::vector<std::byte> bytes(count * size);
  const auto store = [&](std::size_t i, const auto& value) {
    if (!value) {
      Bindings here = names;
      here.set(index, static_cast<std::int64_t>(i));
      static_cast<void>(element.evaluate_number(here));  // throws the reason
    }
    if (!std::isfinite(static_cast<double>(*value)))
      throw SpecError(element.location(), fmt::format("element {} is {}", i, *value));
    if (!store_number(bytes.data() + i * size, type, *value)) does_not_fit(element.location(), i, *value, type);
  };
  const auto start = Clock::now();
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kBetweenLooks == 0 && seconds_since(start) > most_seconds)
      throw SpecError(element.location(),
                      fmt::format("after {:g} s, {} of {} elements are computed: give a file with the numbers",
                                  most_seconds, i, count));
    const auto at = static_cast<std::int64_t>(i);
    if (element.has_reals())
      store(i, open.evaluate_number(&at));
    else
      store(i, open.evaluate(&at));
  }
  return bytes;
}

void FilledNumbers::write(Backend& backend, DevicePointer to, bool other) const {
  if (count == 0) return;
  if (!content.empty()) return backend.upload(to, content.data(), content.size());
  backend.fill(to, type, count, fill, other ? ~seed : seed);
}

FilledNumbers filled_numbers(const FilledBy& by, const std::string& name, const std::optional<FillSpec>& fill,
                             ElementType type, std::size_t count, std::uint64_t seed) {
  const FillSpec given = fill.value_or(FillSpec{Fill::by_default(type)});
  FilledNumbers numbers{type, count, given.numbers, {}, seed};
  Fill& bounds = numbers.fill;
  if (given.low) bounds.low = static_cast<double>(given.low->evaluate_integer(by.names));
  if (given.high) bounds.high = static_cast<double>(given.high->evaluate_integer(by.names));
  if (count == 0) return numbers;
  if (given.element) {
    numbers.content = computed_elements(type, count, *given.element, by.names);
  } else if (!given.path.empty()) {
    numbers.content = numbers_from_file(by, name, "fill", given.path, given.location, type, count);
  } else if (bounds.kind == Fill::Kind::uniform && bounds.low >= bounds.high) {
    throw SpecError(given.location,
                    fmt::format("the fill of {} on {}: the upper bound, {}, is not above the lower one, {}", name,
                                by.problem, bounds.high, bounds.low));
  } else {
    require_fit(by, name, given.location, bounds, type, count);
  }
  return numbers;
}

std::vector<std::byte> read_numbers(const MeasureOptions& options, const std::filesystem::path& file, ElementType type,
                                    std::size_t count) {
  const auto carried = options.carried.find(file.string());
  if (carried != options.carried.end()) return numbers_of(carried->first, carried->second, type, count);
  return read_data_file(file, type, count);
}

std::vector<std::byte> numbers_from_file(const FilledBy& by, const std::string& name, std::string_view what,
                                         const std::string& path, const SourceLocation& place, ElementType type,
                                         std::size_t count) try {
  return read_numbers(by.options, beside(by.spec, path), type, count);
} catch (const Error& error) {
  throw SpecError(place, fmt::format("the {} of {} on {}: {}", what, name, by.problem, error.what()));
}

}  // namespace tuner
