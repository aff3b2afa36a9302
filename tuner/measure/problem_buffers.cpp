#include <tuner/measure/problem_buffers.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <tuner/core/error.hpp>
#include <tuner/measure/bound_arguments.hpp>
#include <tuner/measure/captured_data.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/measure/record_data.hpp>
#include <tuner/measure/sampler.hpp>

namespace tuner {
namespace {

constexpr std::size_t kFarBytes = std::size_t{16} << 30;  // what a 32-bit index reaches when it overflows
constexpr std::size_t kMostRunsOnDevice = 16;             // each is a launch and a copy of its own
/// What outputs hold before they are written: the first two where the reference writes, the others for configurations.
/// What both read before they wrote it would else be the same.
constexpr unsigned char kReferencePoisons[] = {0xff, 0x5a};
constexpr unsigned char kPoisons[] = {0xa5, 0x96, 0x3c, 0x81};

std::size_t bytes_of(ElementType type, std::size_t count) { return count * info(type).bytes; }

const std::string* captured_text(const std::map<std::string, std::string>& texts, const std::string& name) {
  const auto at = texts.find(name);
  return at == texts.end() ? nullptr : &at->second;
}

std::string and_more(const Comparison& found) {
  if (found.mismatches <= 1) return "";
  return fmt::format(" and {} more element{}", found.mismatches - 1, found.mismatches == 2 ? "" : "s");
}

Argument scalar_argument(const ScalarSpec& scalar, ElementType type) try {
  return number_argument(type, scalar.value);
} catch (const Error& error) {
  throw SpecError(scalar.location, scalar.name + " = " + error.what());
}

}  // namespace

ProblemBuffers::ProblemBuffers(Backend& backend, const KernelSpec& spec, ProblemSize size, std::int64_t offset,
                               const MeasureOptions& options, std::uint64_t seed, const CapturedData* captured)
    : backend_(backend), spec_(spec), options_(options), captured_(captured), size_(std::move(size)), offset_(offset) {
  if (offset_ < 0) throw Error(fmt::format("{}: a verify offset of {} is negative", spec.file, offset_));
  const Bindings names = bindings(spec_, size_, backend_.device().limits);
  buffers_.reserve(spec.buffers.size());
  for (const BufferSpec& buffer_spec : spec.buffers) {
    Buffer& buffer = buffers_.emplace_back();
    buffer.spec = &buffer_spec;
    buffer.type = resolved_type(spec_, size_, buffer_spec.type);
    if (buffer.is_work_space()) continue;
    set_count(buffer, names);
    const FilledBy by{spec_, names, text(), options_};
    choose_fill(buffer, by, seed + 0x9e3779b97f4a7c15ULL * buffers_.size());
    choose_tolerances(buffer);
    buffer.actual = allocate(buffer);
    if (buffer.is_output()) answer(buffer).expected = allocate(buffer);
    choose_compared(buffer, names);
    if (buffer.spec->answer && options_.verify && buffer.count > 0)
      buffer.expected_content = numbers_from_file(by, buffer_spec.name, "answer", buffer_spec.answer->path,
                                                  buffer_spec.answer->location, buffer.type, buffer.count);
  }
  for (const TextureSpec& texture : spec_.textures) add_texture(texture, names);
  restore_inputs();
}

ArrayShape ProblemBuffers::shape_of(const TextureSpec& spec, const Buffer& buffer, const Bindings& names) const {
  ArrayShape shape;
  shape.type = buffer.type;
  shape.components = buffer.spec->components;
  shape.is_fetched = spec.reading.fetched;
  shape.has_surfaces = std::any_of(spec_.textures.begin(), spec_.textures.end(), [&](const TextureSpec& other) {
    return other.is_surface && other.buffer == spec.buffer;
  });
  for (std::size_t i = 0; i < spec.extent.size(); ++i) {
    const std::int64_t extent = spec.extent[i].evaluate_integer(names);
    if (extent < 1)
      throw SpecError(spec.location, fmt::format("{} has an extent of {} on {}", spec.name, extent, text()));
    shape.extent[i] = static_cast<std::size_t>(extent);
  }
  const std::size_t elements = buffer.count / static_cast<std::size_t>(buffer.spec->components);
  if (shape.elements() != elements)
    throw SpecError(spec.location, fmt::format("{} shows {} elements on {}, and {} has {}", spec.name, shape.elements(),
                                               text(), spec.buffer, elements));
  return shape;
}

/// Textures and surfaces of one shape show one array: what is written through one is read through the others.
void ProblemBuffers::add_texture(const TextureSpec& spec, const Bindings& names) {
  Buffer& buffer =
      *std::find_if(buffers_.begin(), buffers_.end(), [&](const Buffer& one) { return one.spec->name == spec.buffer; });
  const ArrayShape shape = shape_of(spec, buffer, names);
  auto at =
      std::find_if(buffer.arrays.begin(), buffer.arrays.end(), [&](const auto& array) { return array.first == shape; });
  if (at == buffer.arrays.end() && shape.has_surfaces && !buffer.arrays.empty())
    throw SpecError(spec.location, fmt::format("{} shows {} in another shape than the textures and surfaces above, on "
                                               "{}: with a surface among them, all have one",
                                               spec.name, spec.buffer, text()));
  try {
    if (at == buffer.arrays.end())
      at = buffer.arrays.emplace(buffer.arrays.end(), shape, backend_.allocate_array(shape));
    DeviceArray& array = *at->second;
    textures_.push_back({&buffer, &array, spec.is_surface ? array.surface() : array.texture(spec.reading)});
  } catch (const Error& error) {
    throw SpecError(spec.location, fmt::format("{} on {}: {}", spec.name, text(), error.what()));
  }
}

void ProblemBuffers::choose_fill(Buffer& buffer, const FilledBy& by, std::uint64_t seed) const {
  const BufferSpec& spec = *buffer.spec;
  const std::string* const file = captured_ ? captured_text(captured_->inputs, spec.name) : nullptr;
  if (file != nullptr) {
    buffer.fills = {{buffer.type, buffer.count, {}, read_numbers(options_, *file, buffer.type, buffer.count), seed}};
  } else if (!spec.record || spec.computed_fill) {
    buffer.fills = {filled_numbers(by, spec.name, {spec.fill, spec.computed_fill}, buffer.type, buffer.count, seed)};
  } else {
    for (const RecordField& field : spec.record->fields) {
      const std::size_t count = buffer.count / spec.record->bytes * static_cast<std::size_t>(field.count);
      const std::uint64_t own = seed ^ (buffer.fills.size() * 0xbf58476d1ce4e5b9ULL);
      buffer.fills.push_back(filled_numbers(by, spec.name + '.' + field.name, field.fill, field.type, count, own));
    }
    buffer.is_filled_by_field = true;
  }
}

void ProblemBuffers::choose_tolerances(Buffer& buffer) const {
  const auto add = [&](ElementType type) {
    buffer.tolerances.push_back(tolerance_for(spec_, size_, backend_.device().limits, type));
  };
  if (!buffer.spec->record) return add(buffer.type);
  for (const RecordField& field : buffer.spec->record->fields) add(field.type);
}

void ProblemBuffers::want_two_inputs() {
  const bool differ = std::any_of(buffers_.begin(), buffers_.end(), [](const Buffer& buffer) {
    return buffer.is_filled() && std::any_of(buffer.fills.begin(), buffer.fills.end(),
                                             [](const FilledNumbers& numbers) { return numbers.are_random(); });
  });
  if (!differ) return;
  try {
    for (Buffer& buffer : buffers_) {
      if (buffer.is_output()) buffer.answers[1].expected = allocate(buffer);
      if (buffer.is_filled_by_field && buffer.is_filled() && buffer.count > 0)
        buffer.records[1] = filled_records(buffer, 1);
    }
    two_inputs_ = true;
  } catch (const Error&) {  // no room: one set has to do
    give_up_second_inputs();
  }
}

void ProblemBuffers::give_up_second_inputs() {
  two_inputs_ = false;
  for (Buffer& buffer : buffers_) buffer.answers[1].expected = {};
}

void ProblemBuffers::use_inputs(std::size_t which) {
  if (used_ == which) return;
  used_ = which;
  restore_inputs();
}

std::string ProblemBuffers::text() const {
  const std::string sizes = size_.sizes_text();
  return offset_ == 0 ? sizes : fmt::format("{} offset={}", sizes, offset_);
}

void ProblemBuffers::set_count(Buffer& buffer, const Bindings& names) const {
  const std::int64_t count = buffer.spec->count.evaluate_integer(names);
  const auto limit = static_cast<std::int64_t>(std::numeric_limits<std::int64_t>::max() / 2 / info(buffer.type).bytes);
  if (count < 0 || count > limit)
    throw Error(fmt::format("{}: buffer {}[{}] has {} elements on {}", spec_.file, buffer.spec->name,
                            buffer.spec->count.text(), count, text()));
  buffer.count = static_cast<std::size_t>(count);
}

GuardedMemory ProblemBuffers::allocate(const Buffer& buffer) {
  const std::size_t shift =
      buffer.is_work_space() ? 0 : bytes_of(buffer.type, static_cast<std::size_t>(offset_ * buffer.spec->components));
  return {backend_, bytes_of(buffer.type, buffer.count), shift, options_.guard_bytes, ++regions_};
}

void ProblemBuffers::set_bytes(DevicePointer to, unsigned char value, std::size_t bytes) {
  if (bytes > 0) backend_.fill_bytes(to, value, bytes);
}

std::uint64_t ProblemBuffers::fingerprint(DevicePointer from, std::size_t bytes) {
  return bytes > 0 ? backend_.fingerprint(from, bytes) : 0;
}

void ProblemBuffers::choose_compared(Buffer& buffer, const Bindings& names) const {
  if (!buffer.spec->compared || buffer.count == 0) return;
  const Expression& when = *buffer.spec->compared;
  buffer.compared = runs_where(when, buffer.count, buffer.spec->components, names);
  if (buffer.compared->empty())
    throw SpecError(when.location(),
                    fmt::format("no element of {} is compared on {}: '{}' holds for none of {}", buffer.spec->name,
                                text(), when.text(), buffer.count / static_cast<std::size_t>(buffer.spec->components)));
}

std::size_t ProblemBuffers::compared_count(const Buffer& buffer) {
  const std::size_t count = buffer.compared ? count_of(*buffer.compared) : buffer.count;
  const auto& record = buffer.spec->record;
  return record ? count / record->bytes * numbers_in(*record) : count;
}

Comparison ProblemBuffers::compare(const Buffer& buffer, DevicePointer actual, DevicePointer expected, Within within) {
  if (const auto& record = buffer.spec->record)
    return compare_records(
        *record, buffer.compared, copy(buffer, actual).bytes, copy(buffer, expected).bytes,
        within == Within::tolerance ? buffer.tolerances : std::vector<Tolerance>(buffer.tolerances.size()));
  const Tolerance tolerance = within == Within::tolerance ? buffer.tolerances.front() : Tolerance{};
  if (!buffer.compared) return backend_.compare(actual, expected, buffer.type, buffer.count, tolerance);
  if (buffer.compared->size() > kMostRunsOnDevice)
    return compare_on_host(*buffer.compared, copy(buffer, actual), copy(buffer, expected), tolerance);
  Comparison all;
  for (const NumberRun& run : *buffer.compared) {
    const std::size_t begin = bytes_of(buffer.type, run.begin);
    const Comparison one =
        backend_.compare(actual + begin, expected + begin, buffer.type, run.end - run.begin, tolerance);
    if (all.mismatches == 0 && one.mismatches > 0) {
      all.first_index = run.begin + one.first_index;
      all.actual = one.actual;
      all.expected = one.expected;
    }
    all.mismatches += one.mismatches;
    all.largest_error = std::max(all.largest_error, one.largest_error);
  }
  return all;
}

void ProblemBuffers::take_answers() {
  for (const Buffer& buffer : buffers_)
    if (!buffer.expected_content.empty())
      backend_.upload(answer(buffer).expected.data(), buffer.expected_content.data(), buffer.expected_content.size());
}

/// The subject of messages about the expected elements of \p buffer.
std::string ProblemBuffers::answer_name(const Buffer& buffer) const {
  if (buffer.spec->answer) return "the answer in " + buffer.spec->answer->path;
  return std::string(reference_name(spec_));
}

void ProblemBuffers::fill(Buffer& buffer, const GuardedMemory& region) {
  if (buffer.count == 0) return;
  if (!buffer.is_filled_by_field) return buffer.fills.front().write(backend_, region.data(), used_ != 0);
  std::vector<std::byte>& records = buffer.records[used_];
  if (records.empty()) records = filled_records(buffer, used_);
  backend_.upload(region.data(), records.data(), records.size());
}

/// The backend fills, so that the numbers are the same on every one; padding is zero.
std::vector<std::byte> ProblemBuffers::filled_records(const Buffer& buffer, std::size_t which) {
  const RecordType& type = *buffer.spec->record;
  std::vector<std::byte> records(buffer.count);
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    const FilledNumbers& numbers = buffer.fills[i];
    std::vector<std::byte> bytes(bytes_of(numbers.type, numbers.count));
    const std::unique_ptr<DeviceMemory> memory = backend_.allocate(bytes.size());
    numbers.write(backend_, memory->address(), which != 0);
    backend_.download(bytes.data(), memory->address(), bytes.size());
    put_numbers(type, type.fields[i], bytes, records);
  }
  return records;
}

void ProblemBuffers::restore_inputs() {
  for (Buffer& buffer : buffers_) {
    if (buffer.is_work_space()) continue;
    buffer.actual.write_guards();
    if (buffer.is_output()) answer(buffer).expected.write_guards();
    if (!buffer.is_filled()) continue;
    fill(buffer, buffer.actual);
    if (buffer.is_read_only()) answer(buffer).fingerprint = fingerprint(buffer.actual);
  }
}

void ProblemBuffers::reset_for_reference() {
  // A reference that takes no parameters may be given work space whose size depends on them.
  const bool is_default = spec_.reference_kind() == ReferenceKind::default_configuration;
  const std::vector<LaunchSpec>& launches = is_default ? spec_.launches : spec_.reference;
  const bool needs_work_space = std::any_of(buffers_.begin(), buffers_.end(), [&](const Buffer& buffer) {
    return buffer.is_work_space() && std::any_of(launches.begin(), launches.end(), [&](const auto& launch) {
             return std::count(launch.arguments.begin(), launch.arguments.end(), buffer.spec->name) > 0;
           });
  });
  if (needs_work_space) size_work_space(spec_.default_configuration.value_or(Configuration{}));
  reset(0);
  fill_expected(kReferencePoisons[0]);
}

void ProblemBuffers::fill_expected(unsigned char poison) {
  for (Buffer& buffer : buffers_) {
    const GuardedMemory& expected = answer(buffer).expected;
    if (buffer.spec->role == BufferRole::out) set_bytes(expected.data(), poison, expected.bytes());
    if (buffer.spec->role == BufferRole::inout) fill(buffer, expected);
  }
}

void ProblemBuffers::compute_reference(const HostReference& reference) {
  HostBuffers host;
  for (const Buffer& buffer : buffers_)
    if (!buffer.is_work_space())
      host[buffer.spec->name] = copy(buffer, buffer.is_output() ? answer(buffer).expected : buffer.actual);
  reference(size_, host);
  for (const Buffer& buffer : buffers_) {
    if (!buffer.is_output() || buffer.count == 0) continue;
    const std::vector<std::byte>& bytes = host.at(buffer.spec->name).bytes;
    if (bytes.size() != answer(buffer).expected.bytes())
      throw Error(fmt::format("{}: the reference function changed the size of {} from {} to {} bytes", spec_.name,
                              buffer.spec->name, answer(buffer).expected.bytes(), bytes.size()));
    backend_.upload(answer(buffer).expected.data(), bytes.data(), bytes.size());
  }
}

void ProblemBuffers::accept_reference() {
  two_passes_[used_] = false;
  auto broken = damage();
  for (const Buffer& buffer : buffers_)
    if (!broken && buffer.is_output()) broken = broken_guard(buffer, answer(buffer).expected);
  if (broken) throw Error(fmt::format("{}: {} {} on {}", spec_.name, reference_name(spec_), *broken, text()));
  for (Buffer& buffer : buffers_) {
    if (!buffer.is_output() || buffer.count == 0) continue;
    answer(buffer).expected_fingerprint = fingerprint(answer(buffer).expected);
    const Comparison self = holds_floating(buffer) ? compare(buffer, answer(buffer).expected.data(),
                                                             answer(buffer).expected.data(), Within::nothing)
                                                   : Comparison{};
    if (self.mismatches > 0) {
      if (buffer.expected_content.empty() &&
          holds(buffer, answer(buffer).expected, self.first_index, kReferencePoisons[0]))
        refuse_unwritten(buffer, self);
      throw Error(fmt::format("{}: {} gives NaN at {}{} on {}. Is {} of the type {} that is declared here?", spec_.name,
                              answer_name(buffer), element_name(*buffer.spec, self.first_index), and_more(self), text(),
                              buffer.spec->name, type_text(buffer)));
    }
    if (has_integers_to_write(buffer)) choose_poison(buffer);
  }
}

/// \p found: the elements that were not written, or some of them.
void ProblemBuffers::refuse_unwritten(const Buffer& buffer, const Comparison& found) const {
  throw Error(
      fmt::format("{}: {} does not write {}{} on {}, or adds to what was there. Is the grid large enough, and `{}` as "
                  "long as `{}` and of the type {}? An `out` buffer holds nothing before: one that is read too is "
                  "`inout`, or filled by `prepare`",
                  spec_.name, reference_name(spec_), element_name(*buffer.spec, found.first_index), and_more(found),
                  text(), buffer.spec->name, buffer.spec->count.text(), type_text(buffer)));
}

bool ProblemBuffers::looks_unwritten() {
  return std::any_of(buffers_.begin(), buffers_.end(), [&](const Buffer& buffer) {
    if (!has_integers_to_write(buffer)) return false;
    set_bytes(buffer.actual.data(), kReferencePoisons[0], buffer.actual.bytes());
    return compare(buffer, buffer.actual.data(), answer(buffer).expected.data(), Within::nothing).mismatches <
           compared_count(buffer);
  });
}

void ProblemBuffers::poison_reference_again() {
  reset(0);
  for (const Buffer& buffer : buffers_) {
    if (!has_integers_to_write(buffer)) continue;
    const HostBuffer given = copy(buffer, answer(buffer).expected);
    backend_.upload(buffer.actual.data(), given.bytes.data(), given.bytes.size());
  }
  fill_expected(kReferencePoisons[1]);
}

void ProblemBuffers::check_written() {
  for (const Buffer& buffer : buffers_) {
    if (!has_integers_to_write(buffer)) continue;
    const Comparison found = compare(buffer, buffer.actual.data(), answer(buffer).expected.data(), Within::tolerance);
    // What differs otherwise is a reference that gives something else each time: no configuration will match it.
    if (found.mismatches > 0 && holds(buffer, answer(buffer).expected, found.first_index, kReferencePoisons[1]))
      refuse_unwritten(buffer, found);
  }
}

void ProblemBuffers::choose_poison(Buffer& buffer) {
  for (const unsigned char poison : kPoisons) {
    set_bytes(buffer.actual.data(), poison, buffer.actual.bytes());
    const Comparison unwritten =
        compare(buffer, buffer.actual.data(), answer(buffer).expected.data(), Within::tolerance);
    answer(buffer).poison = poison;
    if (unwritten.mismatches == compared_count(buffer)) return;
  }
  // An unwritten element equals at most one of two different poisons.
  answer(buffer).poison = kPoisons[0];
  two_passes_[used_] = true;
}

void ProblemBuffers::size_work_space(const Configuration& configuration) {
  if (work_space_for_ == configuration) return;
  work_space_for_.reset();  // until all of it is there
  const Bindings names = configuration.empty() ? bindings(spec_, size_, backend_.device().limits)
                                               : bindings(spec_, size_, backend_.device().limits, configuration);
  for (Buffer& buffer : buffers_) {
    if (!buffer.is_work_space()) continue;
    set_count(buffer, names);
    const std::size_t bytes = bytes_of(buffer.type, buffer.count);
    if (!buffer.actual.has_room(bytes)) {
      buffer.actual = {};  // first, so that both never exist at once
      try {
        buffer.actual = allocate(buffer);
      } catch (const Error&) {
        if (!two_inputs_) throw;
        if (used_ != 0) use_inputs(0);
        give_up_second_inputs();
        buffer.actual = allocate(buffer);
      }
    }
    buffer.actual.resize(bytes);
  }
  work_space_for_ = configuration;
}

void ProblemBuffers::reset(std::size_t pass) {
  for (Buffer& buffer : buffers_) {
    if (!buffer.actual.is_made()) continue;  // work space that the reference does not use
    switch (buffer.spec->role) {
      case BufferRole::in:
      case BufferRole::constant:
        break;
      case BufferRole::inout:
      case BufferRole::consumed:
        fill(buffer, buffer.actual);
        break;
      case BufferRole::out:
        set_bytes(buffer.actual.data(), poison_of(buffer, pass), buffer.actual.bytes());
        break;
      case BufferRole::scratch:
      case BufferRole::zeroed:
        reset_work_space(buffer);
        break;
    }
  }
}

void ProblemBuffers::reset_for_measuring() {
  for (Buffer& buffer : buffers_) {
    if (buffer.is_work_space()) reset_work_space(buffer);
    if (buffer.spec->role == BufferRole::inout || buffer.spec->role == BufferRole::consumed)
      fill(buffer, buffer.actual);
  }
}

void ProblemBuffers::reset_work_space(const Buffer& buffer) {
  buffer.actual.write_guards();
  // 0xff shows reads of what was never written.
  set_bytes(buffer.actual.data(), buffer.spec->role == BufferRole::zeroed ? 0 : 0xff, buffer.actual.bytes());
}

/// An element outside of \p buffer, \p bytes from its start.
std::string ProblemBuffers::outside(const Buffer& buffer, std::ptrdiff_t bytes) {
  const auto size = static_cast<std::ptrdiff_t>(info(buffer.type).bytes);
  const std::ptrdiff_t index = bytes / size - (bytes % size < 0 ? 1 : 0);
  const std::size_t count = buffer.spec->record ? buffer.count / buffer.spec->record->bytes : buffer.count;
  return fmt::format("{}, which has {} elements of {}", element_name(*buffer.spec, index), count, type_text(buffer));
}

std::optional<std::string> ProblemBuffers::broken_guard(const Buffer& buffer, const GuardedMemory& region) {
  const std::optional<std::ptrdiff_t> at = region.broken();
  if (!at) return std::nullopt;
  return fmt::format("writes out of bounds: {}", outside(buffer, *at));
}

std::optional<std::string> ProblemBuffers::place(DevicePointer address) const {
  const Buffer* nearest = nullptr;
  std::ptrdiff_t offset = 0;
  std::size_t least = kFarBytes;
  for (const Buffer& buffer : buffers_) {
    for (const GuardedMemory* region : {&buffer.actual, &buffer.answers[0].expected, &buffer.answers[1].expected}) {
      if (!region->is_made()) continue;
      const auto from_start = static_cast<std::ptrdiff_t>(address - region->data());
      const auto bytes = static_cast<std::ptrdiff_t>(region->bytes());
      if (from_start >= 0 && from_start < bytes) return std::nullopt;  // a fault of another kind
      const auto distance = static_cast<std::size_t>(from_start < 0 ? -from_start : from_start - bytes);
      if (distance >= least) continue;
      least = distance;
      nearest = &buffer;
      offset = from_start;
    }
  }
  if (nearest == nullptr) return std::nullopt;
  return outside(*nearest, offset);
}

std::optional<std::string> ProblemBuffers::damage() {
  for (Buffer& buffer : buffers_) {
    if (!buffer.actual.is_made()) continue;  // work space that the reference does not use
    if (auto broken = broken_guard(buffer, buffer.actual)) return broken;
    if (buffer.is_read_only() && fingerprint(buffer.actual) != answer(buffer).fingerprint)
      return fmt::format("writes to its input {}", buffer.spec->name);
  }
  for (Buffer& buffer : buffers_) {
    if (buffer.spec->role != BufferRole::zeroed || !buffer.actual.is_made() || buffer.actual.bytes() == 0) continue;
    const std::uint64_t after = fingerprint(buffer.actual);
    set_bytes(buffer.actual.data(), 0, buffer.actual.bytes());
    if (after != fingerprint(buffer.actual))
      return fmt::format("does not leave {} zero, as `zeroed` promises: the next run would start wrong",
                         buffer.spec->name);
  }
  return std::nullopt;
}

std::optional<std::string> ProblemBuffers::mismatch(std::size_t pass) {
  for (Buffer& buffer : buffers_) {
    if (!buffer.is_output() || buffer.count == 0) continue;
    const Comparison found = compare(buffer, buffer.actual.data(), answer(buffer).expected.data(), Within::tolerance);
    if (found.mismatches == 0) continue;
    const std::string element = element_name(*buffer.spec, static_cast<std::int64_t>(found.first_index));
    const std::string count = fmt::format("({} of {}{} elements differ)", found.mismatches, compared_count(buffer),
                                          buffer.compared ? " compared" : "");
    if (still_poisoned(buffer, found.first_index, pass))
      return fmt::format("{} was not written, expected {:.9g} {}", element, found.expected, count);
    std::string allowed;
    const Number number = number_at(buffer, found.first_index);
    if (info(number.type).is_floating)
      allowed = fmt::format(", tolerance {:.2g}",
                            number.tolerance.absolute + number.tolerance.relative * std::abs(found.expected));
    const char* const hint = adds_to_poison(buffer, found.first_index, pass)
                                 ? ": as if it, and what it is compared with, added to what was there; a buffer that "
                                   "is read before it is written is `inout`, or filled by `prepare`"
                                 : "";
    return fmt::format("{} is {:.9g}, expected {:.9g}{} {}{}", element, found.actual, found.expected, allowed, count,
                       hint);
  }
  return std::nullopt;
}

unsigned char ProblemBuffers::poison_of(const Buffer& buffer, std::size_t pass) const {
  return pass == 0 ? answer(buffer).poison : kPoisons[1];
}

/// That of \p element; of records that is the byte where the number begins.
ProblemBuffers::Number ProblemBuffers::number_at(const Buffer& buffer, std::size_t element) {
  const auto& record = buffer.spec->record;
  if (!record) return {buffer.type, bytes_of(buffer.type, element), buffer.tolerances.front()};
  const RecordField* const field = field_at(*record, element % record->bytes);
  if (field == nullptr) return {buffer.type, element, {}};
  return {field->type, element, buffer.tolerances[static_cast<std::size_t>(field - record->fields.data())]};
}

bool ProblemBuffers::holds_floating(const Buffer& buffer) {
  const auto& record = buffer.spec->record;
  if (!record) return info(buffer.type).is_floating;
  return std::any_of(record->fields.begin(), record->fields.end(),
                     [](const RecordField& field) { return info(field.type).is_floating; });
}

std::string ProblemBuffers::type_text(const Buffer& buffer) {
  return buffer.spec->record ? tuner::text(*buffer.spec->record) : std::string(info(buffer.type).name);
}

/// Whether \p element of an `out` buffer holds what reset() put there.
bool ProblemBuffers::still_poisoned(const Buffer& buffer, std::size_t element, std::size_t pass) const {
  return buffer.spec->role == BufferRole::out && holds(buffer, buffer.actual, element, poison_of(buffer, pass));
}

/// Whether \p element of an `out` buffer of integers differs from what is expected as what both began with differs.
bool ProblemBuffers::adds_to_poison(const Buffer& buffer, std::size_t element, std::size_t pass) const {
  const Number number = number_at(buffer, element);
  if (buffer.spec->role != BufferRole::out || info(number.type).is_floating) return false;
  const auto integer_at = [&](const GuardedMemory& region) {
    std::uint64_t value = 0;
    backend_.download(&value, region.data() + number.at, info(number.type).bytes);
    return value;
  };
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * info(number.type).bytes);
  const std::uint64_t repeated = 0x0101010101010101u;
  const std::uint64_t apart = integer_at(buffer.actual) - integer_at(answer(buffer).expected);
  return std::any_of(std::begin(kReferencePoisons), std::end(kReferencePoisons), [&](std::uint64_t poison) {
    return ((apart - (poison_of(buffer, pass) - poison) * repeated) & mask) == 0;
  });
}

/// Whether all bytes of \p element are \p value.
bool ProblemBuffers::holds(const Buffer& buffer, const GuardedMemory& region, std::size_t element,
                           unsigned char value) const {
  const Number number = number_at(buffer, element);
  std::vector<unsigned char> bytes(info(number.type).bytes);
  backend_.download(bytes.data(), region.data() + number.at, bytes.size());
  return std::all_of(bytes.begin(), bytes.end(), [&](unsigned char byte) { return byte == value; });
}

bool ProblemBuffers::inputs_intact() {
  return std::all_of(buffers_.begin(), buffers_.end(), [&](const Buffer& buffer) {
    if (buffer.is_work_space()) return true;  // reset() makes it anew
    if (buffer.actual.broken() || (buffer.is_output() && answer(buffer).expected.broken())) return false;
    return !buffer.is_read_only() || fingerprint(buffer.actual) == answer(buffer).fingerprint;
  });
}

bool ProblemBuffers::expected_intact() {
  return std::all_of(buffers_.begin(), buffers_.end(), [&](const Buffer& buffer) {
    return !buffer.is_output() || buffer.count == 0 ||
           fingerprint(answer(buffer).expected) == answer(buffer).expected_fingerprint;
  });
}

HostBuffer ProblemBuffers::copy(const Buffer& buffer, DevicePointer from) const {
  HostBuffer host{buffer.type, buffer.count, std::vector<std::byte>(bytes_of(buffer.type, buffer.count))};
  if (!host.bytes.empty()) backend_.download(host.bytes.data(), from, host.bytes.size());
  return host;
}

/// \p data of \p buffer by its name; of records, each field by its own.
void ProblemBuffers::add(HostBuffers& all, const Buffer& buffer, HostBuffer data) {
  const std::string& name = buffer.spec->name;
  if (const auto& record = buffer.spec->record) {
    for (const RecordField& field : record->fields)
      all[name + '.' + field.name] = numbers_of(*record, field, data.bytes);
  } else {
    all[name] = std::move(data);
  }
}

HostBuffers ProblemBuffers::outputs() const {
  HostBuffers all;
  for (const Buffer& buffer : buffers_)
    if (buffer.is_output()) add(all, buffer, copy(buffer, buffer.actual));
  return all;
}

HostBuffers ProblemBuffers::expected() const {
  HostBuffers all;
  for (const Buffer& buffer : buffers_)
    if (buffer.is_output()) add(all, buffer, copy(buffer, answer(buffer).expected));
  return all;
}

HostBuffers ProblemBuffers::expected_of_outputs() const {
  HostBuffers all;
  for (const Buffer& buffer : buffers_) {
    if (!buffer.is_output()) continue;
    HostBuffer expected = copy(buffer, answer(buffer).expected);
    if (buffer.compared) {
      const std::size_t size = info(buffer.type).bytes;
      HostBuffer merged = copy(buffer, buffer.actual);
      for (const NumberRun& run : *buffer.compared)
        std::memcpy(merged.bytes.data() + run.begin * size, expected.bytes.data() + run.begin * size,
                    (run.end - run.begin) * size);
      expected = std::move(merged);
    }
    add(all, buffer, std::move(expected));
  }
  return all;
}

std::vector<Launch::Constant> ProblemBuffers::constants(const Image& image, const Module& module) const {
  std::vector<Launch::Constant> all;
  for (const Buffer& buffer : buffers_) {
    if (buffer.spec->role != BufferRole::constant) continue;
    const std::optional<std::size_t> at = find_function(image, variable_expression(*buffer.spec));
    if (!at) continue;  // a reference may do without
    const Variable variable = module.variable(*at);
    if (variable.bytes < buffer.actual.bytes())
      throw Error(fmt::format("{}: constant buffer {}[{}] has {} bytes, but the variable {} of the program has {}",
                              spec_.file, buffer.spec->name, buffer.spec->count.text(), buffer.actual.bytes(),
                              buffer.spec->scope + buffer.spec->name, variable.bytes));
    all.push_back({variable, buffer.actual.data(), buffer.actual.bytes()});
  }
  return all;
}

std::vector<Launch::Array> ProblemBuffers::arrays(const LaunchSpec& launch, bool reference) const {
  std::vector<Launch::Array> all;
  for (std::size_t i = 0; i < textures_.size(); ++i) {
    const TextureSpec& texture = spec_.textures[i];
    if (std::count(launch.arguments.begin(), launch.arguments.end(), texture.name) == 0) continue;
    const Buffer& buffer = *textures_[i].buffer;
    const GuardedMemory& memory = reference && buffer.is_output() ? answer(buffer).expected : buffer.actual;
    // Of an input too: then damage() sees it.
    all.push_back({textures_[i].array, memory.data(), texture.is_surface});
  }
  return all;
}

std::vector<Argument> ProblemBuffers::arguments(const LaunchSpec& launch, const Configuration& configuration,
                                                bool reference) const {
  std::vector<Argument> result;
  result.reserve(launch.arguments.size());
  for (const BoundArgument& bound : bind_arguments(spec_, launch, size_, configuration)) {
    switch (bound.kind) {
      case BoundArgument::Kind::buffer: {
        const Buffer& buffer = buffers_[bound.index];
        result.push_back(
            Argument::of((reference && buffer.is_output() ? answer(buffer).expected : buffer.actual).data()));
        break;
      }
      case BoundArgument::Kind::size:
        result.push_back(number_argument(bound.type, size_.sizes.at(spec_.sizes[bound.index].name)));
        break;
      case BoundArgument::Kind::scalar: {
        const ScalarSpec& scalar = spec_.scalars[bound.index];
        const std::string* const given = captured_ ? captured_text(captured_->scalars, scalar.name) : nullptr;
        result.push_back(given ? captured_number(bound.type, *given) : scalar_argument(scalar, bound.type));
        break;
      }
      case BoundArgument::Kind::texture:
        result.push_back(Argument::of(textures_[bound.index].object));
        break;
      case BoundArgument::Kind::constant:
        result.push_back(bound.constant);
        break;
      case BoundArgument::Kind::computed: {
        const Bindings names = bindings(spec_, size_, backend_.device().limits, configuration);
        result.push_back(computed_argument(bound, names));
        break;
      }
    }
  }
  return result;
}

double ProblemBuffers::run_limit_s() const {
  const double floor_s = hang_floor_s(backend_, options_);
  if (best_run_s_ <= 0) return std::max(options_.first_run_s, floor_s);
  return std::max(floor_s, kHangFactor * best_run_s_);
}

void ProblemBuffers::saw_run(double seconds) {
  best_run_s_ = best_run_s_ > 0 ? std::min(best_run_s_, seconds) : seconds;
}

}  // namespace tuner
