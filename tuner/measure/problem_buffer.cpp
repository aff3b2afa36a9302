#include <tuner/measure/problem_buffer.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/bound_arguments.hpp>

namespace tuner {
namespace {

constexpr std::size_t kMostRunsOnDevice = 16;  // each needs a launch and a copy
constexpr std::size_t kFewElements = 64;       // enough to see that most outputs are not all equal
constexpr std::size_t kPieceBytes = 1 << 22;
constexpr std::size_t kMostConverted =
    1 << 22;  // numbers, on the CPU; smaller problems than a large one are verified too

}  // namespace

void ProblemBuffer::set_count(const FilledBy& by) {
  const std::int64_t elements = spec->count.evaluate_integer(by.names);
  const auto limit = static_cast<std::int64_t>(std::numeric_limits<std::int64_t>::max() / 2 / info(type).bytes);
  if (elements < 0 || elements > limit)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: buffer {}[{}] has {} elements on {}", by.spec.program.file, spec->name,
                            spec->count.text(), elements, by.problem));
  count = static_cast<std::size_t>(elements);
}

void ProblemBuffer::choose_fill(const FilledBy& by, const std::string* recorded, std::uint64_t seed) {
  if (recorded != nullptr) {
    fills = {{type, count, {}, read_numbers(by.options, *recorded, type, count), seed}};
  } else if (!spec->record || spec->fill) {
    fills = {filled_numbers(by, spec->name, spec->fill, type, count, seed)};
  } else {
    for (const RecordField& field : spec->record->fields) {
      const std::size_t numbers = count / spec->record->bytes * static_cast<std::size_t>(field.count);
      const std::uint64_t own = seed ^ (fills.size() * 0xbf58476d1ce4e5b9ULL);
      fills.push_back(filled_numbers(by, spec->name + '.' + field.name, field.fill, field.type, numbers, own));
    }
    is_filled_by_field = true;
  }
}

void ProblemBuffer::choose_compared(const FilledBy& by) {
  if (!spec->compared || count == 0) return;
  const Expression& when = *spec->compared;
  compared = runs_where(when, count, spec->components, by.names);
  if (compared->empty())
    throw SpecError(when.location(),
                    fmt::format("no element of {} is compared on {}: '{}' holds for none of {}", spec->name, by.problem,
                                when.text(), count / static_cast<std::size_t>(spec->components)));
}

void ProblemBuffer::set_bytes(const GuardedMemory& region, unsigned char value) const {
  if (region.bytes() > 0) backend->fill_bytes(region.data(), value, region.bytes());
}

std::uint64_t ProblemBuffer::fingerprint(const GuardedMemory& region) const {
  return region.bytes() > 0 ? backend->fingerprint(region.data(), region.bytes()) : 0;
}

std::size_t ProblemBuffer::compared_count() const {
  const std::size_t numbers = compared ? count_of(*compared) : count;
  const auto& record = spec->record;
  return record ? numbers / record->bytes * numbers_in(*record) : numbers;
}

Comparison ProblemBuffer::compare(const GuardedMemory& region, Within within) const {
  const DevicePointer is = region.data(), wanted = answer().expected.data();
  if (const auto& record = spec->record)
    return compare_records(*record, compared, copy(is).bytes, copy(wanted).bytes,
                           within == Within::tolerance ? tolerances : std::vector<Tolerance>(tolerances.size()));
  const Tolerance tolerance = within == Within::tolerance ? tolerances.front() : Tolerance{};
  if (!compared) return backend->compare(is, wanted, type, count, tolerance);
  if (compared->size() > kMostRunsOnDevice) return compare_on_host(*compared, copy(is), copy(wanted), tolerance);
  Comparison all;
  for (const NumberRun& run : *compared) {
    const std::size_t begin = bytes_of(type, run.begin);
    const Comparison one = backend->compare(is + begin, wanted + begin, type, run.end - run.begin, tolerance);
    tuner::add(all, one, run.begin + one.first_index);
  }
  return all;
}

void ProblemBuffer::fill(const GuardedMemory& region) {
  if (count == 0) return;
  if (!is_filled_by_field) {
    const bool is_uploaded = !fills.front().content.empty();
    if (is_uploaded && filled && fingerprint(region) == *filled) return;
    fills.front().write(*backend, region.data(), used != 0);
    if (is_uploaded && !filled) filled = fingerprint(region);
    return;
  }
  std::vector<std::byte>& content = records[used];
  if (content.empty()) content = filled_records(used);
  backend->upload(region.data(), content.data(), content.size());
}

/// The backend computes the numbers, so that they are the same for all backends. Padding is zero.
std::vector<std::byte> ProblemBuffer::filled_records(std::size_t which) const {
  const RecordType& record = *spec->record;
  std::vector<std::byte> content(count);
  for (std::size_t i = 0; i < record.fields.size(); ++i) {
    const FilledNumbers& numbers = fills[i];
    std::vector<std::byte> bytes(bytes_of(numbers.type, numbers.count));
    const std::unique_ptr<DeviceMemory> memory = backend->allocate(bytes.size());
    numbers.write(*backend, memory->address(), which != 0);
    backend->download(bytes.data(), memory->address(), bytes.size());
    put_numbers(record, record.fields[i], bytes, content);
  }
  return content;
}

std::string ProblemBuffer::outside(std::ptrdiff_t bytes) const {
  const auto size = static_cast<std::ptrdiff_t>(info(type).bytes);
  const std::ptrdiff_t index = bytes / size - (bytes % size < 0 ? 1 : 0);
  const std::size_t elements = spec->record ? count / spec->record->bytes : count;
  return fmt::format("{}, which has {} elements of {}", element_name(*spec, index), elements, type_text());
}

std::optional<std::string> ProblemBuffer::broken_guard(const GuardedMemory& region) const {
  const std::optional<std::ptrdiff_t> at = region.broken();
  if (!at) return std::nullopt;
  return fmt::format("writes out of bounds: {}", outside(*at));
}

/// The number at \p element; in records, \p element is its first byte.
ProblemBuffer::Number ProblemBuffer::number_at(std::size_t element) const {
  const auto& record = spec->record;
  if (!record) return {type, bytes_of(type, element), tolerances.front()};
  const RecordField* const field = field_at(*record, element % record->bytes);
  if (field == nullptr) return {type, element, {}};
  return {field->type, element, tolerances[static_cast<std::size_t>(field - record->fields.data())]};
}

bool ProblemBuffer::is_changed_input() const {
  return spec->role == BufferRole::inout || spec->role == BufferRole::consumed;
}

unsigned char ProblemBuffer::work_space_byte() const {
  return spec->role == BufferRole::zeroed ? 0 : unwritten.work_space;
}

bool ProblemBuffer::is_read_only() const { return spec->role == BufferRole::in || spec->role == BufferRole::constant; }

bool ProblemBuffer::has_integers_to_write() const {
  return spec->role == BufferRole::out && count > 0 && !info(type).is_floating;
}

const GuardedMemory& ProblemBuffer::memory(bool reference) const {
  return reference && spec->is_output() ? answer().expected : actual;
}

bool ProblemBuffer::holds_floating() const {
  const auto& record = spec->record;
  if (!record) return info(type).is_floating;
  return std::ranges::any_of(record->fields, [](const RecordField& field) { return info(field.type).is_floating; });
}

std::string ProblemBuffer::type_text() const {
  return spec->record ? tuner::text(*spec->record) : std::string(info(type).name);
}

/// Whether \p number of an `out` buffer of integers differs from the expected one by the difference of the first
/// contents of both.
bool ProblemBuffer::adds_to_poison(const Number& number, std::size_t pass) const {
  if (spec->role != BufferRole::out || info(number.type).is_floating) return false;
  const auto integer_at = [&](const GuardedMemory& region) {
    std::uint64_t value = 0;
    backend->download(&value, region.data() + number.at, info(number.type).bytes);
    return value;
  };
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * info(number.type).bytes);
  const std::uint64_t repeated = 0x0101010101010101u;
  const std::uint64_t apart = integer_at(actual) - integer_at(answer().expected);
  return std::ranges::any_of(kReferencePoisons, [&](std::uint64_t poison) {
    return ((apart - (poison_of(pass) - poison) * repeated) & mask) == 0;
  });
}

Comparison ProblemBuffer::expected_nan() const {
  return holds_floating() ? compare(answer().expected, Within::nothing) : Comparison{};
}

double ProblemBuffer::largest_expected() const {
  const HostBuffer all = copy(answer().expected);
  double largest = 0;
  for (const NumberRun& run : compared.value_or(std::vector<NumberRun>{{0, count}}))
    for (std::size_t i = run.begin; i < run.end; ++i)
      for (int part = 0; part < info(type).parts; ++part)
        if (const double number = std::abs(element(all, i, part)); std::isfinite(number))
          largest = std::max(largest, number);
  return largest;
}

bool ProblemBuffer::holds(const GuardedMemory& region, std::size_t element, unsigned char value) const {
  const Number number = number_at(element);
  std::vector<unsigned char> bytes(info(number.type).bytes);
  backend->download(bytes.data(), region.data() + number.at, bytes.size());
  return std::ranges::all_of(bytes, [&](unsigned char byte) { return byte == value; });
}

bool ProblemBuffer::repeat_expected() const {
  const auto components = static_cast<std::size_t>(spec->components);
  const std::size_t first = (compared ? compared->front().begin : 0) / components;
  const std::size_t last = ((compared ? compared->back().end : count) - 1) / components;
  const HostBuffer value = element_of(answer().expected, first);
  // A cheap look at a few elements: compare() decides.
  const auto is_like = [&](std::size_t at) {
    const HostBuffer other = element_of(answer().expected, at);
    if (other.bytes == value.bytes) return true;
    if (spec->record) return false;
    for (std::size_t i = 0; i < components; ++i)
      for (int part = 0; part < info(type).parts; ++part)
        if (!is_near(element(value, i, part), element(other, i, part))) return false;
    return true;
  };
  if (first == last || !is_like(last)) return false;
  if (!compared)
    for (std::size_t i = 1; i < kFewElements; ++i)
      if (!is_like(count / kFewElements * i / components)) return false;
  const std::size_t bytes = value.bytes.size();
  std::vector<std::byte> piece(std::min(actual.bytes(), std::max(kPieceBytes / bytes, std::size_t{1}) * bytes));
  for (std::size_t at = 0; at < piece.size(); at += bytes) std::ranges::copy(value.bytes, piece.data() + at);
  for (std::size_t at = 0; at < actual.bytes(); at += piece.size())
    backend->upload(actual.data() + at, piece.data(), std::min(piece.size(), actual.bytes() - at));
  return true;
}

bool ProblemBuffer::take_numbers_of(const ProblemBuffer& input) const {
  const auto is_plain = [](const ProblemBuffer& one) {
    return !one.spec->record && one.spec->components == 1 && info(one.type).parts == 1;
  };
  if (!is_plain(*this) || !is_plain(input) || input.count < count || count > kMostConverted) return false;
  for (std::size_t i = 0; i < kFewElements; ++i) {
    const std::size_t at = count * i / kFewElements;
    if (!is_near(element(element_of(answer().expected, at), 0), element(input.element_of(input.actual, at), 0)))
      return false;
  }
  const HostBuffer numbers = input.copy(input.actual);
  std::vector<std::byte> converted(bytes_of(type, count));
  for (std::size_t i = 0; i < count; ++i)
    if (!store_number(converted.data() + bytes_of(type, i), type, element(numbers, i))) return false;
  backend->upload(actual.data(), converted.data(), converted.size());
  return true;
}

HostBuffer ProblemBuffer::element_of(const GuardedMemory& region, std::size_t at) const {
  const auto components = static_cast<std::size_t>(spec->components);
  HostBuffer one{type, components, std::vector<std::byte>(bytes_of(type, components))};
  backend->download(one.bytes.data(), region.data() + at * one.bytes.size(), one.bytes.size());
  return one;
}

/// Precondition: no record.
bool ProblemBuffer::is_near(double x, double y) const {
  const Tolerance& tolerance = tolerances.front();
  const double most = tolerance.absolute + tolerance.relative * std::max(std::abs(x), std::abs(y));
  return x == y || std::abs(x - y) <= most;
}

HostBuffer ProblemBuffer::copy(DevicePointer from) const {
  HostBuffer host{type, count, std::vector<std::byte>(bytes_of(type, count))};
  if (!host.bytes.empty()) backend->download(host.bytes.data(), from, host.bytes.size());
  return host;
}

void ProblemBuffer::add(HostBuffers& all, HostBuffer data) const {
  const std::string& name = spec->name;
  if (const auto& record = spec->record) {
    for (const RecordField& field : record->fields)
      all[name + '.' + field.name] = numbers_of(*record, field, data.bytes);
  } else {
    all[name] = std::move(data);
  }
}

bool ProblemBuffer::choose_poison() {
  for (const unsigned char poison : {unwritten.output, kPoisons[0], kPoisons[1], kPoisons[2], kPoisons[3]}) {
    set_bytes(actual, poison);
    const Comparison found = compare(Within::tolerance);
    answer().poison = poison;
    if (found.mismatches == compared_count()) return true;
  }
  // An unwritten element equals at most one of two different poisons.
  answer().poison = kPoisons[0];
  return false;
}

/// Whether the expected numbers that the kernel has not are at least \p fewest different ones.
bool ProblemBuffer::misses_numbers(std::size_t fewest) const {
  const HostBuffer is = copy(actual), wanted = copy(answer().expected);
  std::set<double> missed;
  for (const NumberRun& run : compared.value_or(std::vector<NumberRun>{{0, count}}))
    for (std::size_t i = run.begin; i < run.end && missed.size() < fewest; ++i)
      for (int part = 0; part < info(type).parts; ++part)
        if (const double number = element(wanted, i, part); !std::isnan(number) && element(is, i, part) != number)
          missed.insert(number);
  return missed.size() >= fewest;
}

/// Rounding errors go both ways, and few results are so near to the middle of two numbers that they differ. Most of
/// them the next number, all in one direction, are a quantiser that rounds otherwise or has another scale. A few
/// numbers that are repeated everywhere may all be near the middle by chance.
std::optional<std::string> ProblemBuffer::bias(const Comparison& found) const {
  constexpr std::uint64_t kFewest = 16;
  constexpr std::size_t kFewestDifferent = 4;
  const std::uint64_t numbers = compared_count() * static_cast<std::uint64_t>(info(type).parts);
  if (spec->record || found.off < kFewest || found.off < numbers / 2) return std::nullopt;
  const bool less = found.less == found.off, greater = found.less == 0, nearer = found.nearer == found.off;
  if (!less && !greater && !nearer && found.nearer != 0) return std::nullopt;
  if (!misses_numbers(kFewestDifferent)) return std::nullopt;
  const char* const where = less      ? "less than"
                            : greater ? "greater than"
                            : nearer  ? "nearer to zero than"
                                      : "farther from zero than";
  return fmt::format(
      "{}: {} of {} numbers are {} expected, all by one place of {}; does a quantiser truncate? If it may, "
      "add `tolerance relative {} absolute {}`",
      spec->name, found.off, numbers, where, type_text(), 2 * info(type).epsilon, info(type).step);
}

std::optional<std::string> ProblemBuffer::mismatch(std::size_t pass) const {
  if (count == 0) return std::nullopt;
  const Comparison found = compare(Within::tolerance);
  if (found.mismatches == 0) return bias(found);
  const std::string element = element_name(*spec, static_cast<std::int64_t>(found.first_index));
  const Number number = number_at(found.first_index);
  const auto shown = [&](double value) {
    return info(number.type).is_floating ? fmt::format("{:.9g}", value) : fmt::format("{:.0f}", value);
  };
  const std::string differing =
      fmt::format("({} of {}{} elements differ)", found.mismatches, compared_count(), compared ? " compared" : "");
  if (spec->role == BufferRole::out && holds(actual, found.first_index, poison_of(pass)))
    return fmt::format("{} was not written, expected {} {}", element, shown(found.expected), differing);
  std::string allowed;
  if (info(number.type).is_floating)
    allowed = number.tolerance.is_place && number.tolerance.relative > 0
                  ? fmt::format("{}one place of {}", kAllowed, info(number.type).name)
                  : fmt::format("{}{:.2g}", kAllowed,
                                number.tolerance.absolute + number.tolerance.relative * std::abs(found.expected));
  std::string hint;
  if (adds_to_poison(number, pass))
    hint =
        ": the kernel and the reference seem to add to the old contents. A buffer that is read before it is written is "
        "`inout`, which `prepare` may fill";
  else if (info(number.type).is_floating && found.largest_error < std::sqrt(info(number.type).epsilon))
    hint = fmt::format(
        ": at most {:.1e} of the expected value, as when terms are added in another order; if that is right here, add "
        "`accumulates TERMS` or `tolerance relative {:.0e}`",
        found.largest_error, 2 * found.largest_error);
  return fmt::format("{} is {}, expected {}{} {}{}", element, shown(found.actual), shown(found.expected), allowed,
                     differing, hint);
}

}  // namespace tuner
