#include <tuner/measure/problem_buffers.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <ranges>

#include <fmt/format.h>

#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/tensor_maps.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/measure/sampler.hpp>

namespace tuner {
namespace {

constexpr std::size_t kFarBytes = std::size_t{16} << 30;  // an overflowing 32-bit index does not reach farther

/// With each placement, buffers begin so many bytes later: some pages, to keep their alignment.
constexpr std::size_t kMoveBytes = 5 * 4096;

const std::string* recorded_text(const std::map<std::string, std::string>& texts, const std::string& name) {
  const auto at = texts.find(name);
  return at == texts.end() ? nullptr : &at->second;
}

/// A struct with the numbers of \p scalar, which \p number_of(value, field, i) computes, and the addresses of buffers.
template <typename NumberOf, typename AddressOf>
Argument struct_argument(const ScalarSpec& scalar, const NumberOf& number_of, const AddressOf& address_of) {
  std::vector<std::byte> bytes(scalar.record->bytes);
  auto value = scalar.values.begin();
  for (const RecordField& field : scalar.record->fields) {
    std::byte* to = bytes.data() + field.offset;
    for (int i = 0; i < field.count; ++i, ++value, to += info(field.type).bytes) {
      const Argument one = field.pointer.empty() ? number_argument(field.type, number_of(*value, field, i))
                                                 : Argument::of(address_of(*value, field.pointer));
      std::copy_n(one.bytes, one.size, to);
    }
  }
  return Argument::of_struct(std::move(bytes));
}

/// \p names: makes the names of sizes and choices, if a number is computed. \p others: numbers of structs, instead.
/// \p address_of: see struct_argument().
template <typename Names, typename AddressOf>
Argument scalar_argument(const ScalarSpec& scalar, ElementType type, const Names& names,
                         const std::map<std::string, double>& others, const AddressOf& address_of) try {
  const auto number_of = [&](const ScalarValue& value) {
    return value.computed ? value.computed->evaluate_number(names()) : value.number;
  };
  if (!scalar.record) return number_argument(type, number_of(scalar.values.at(0)));
  const auto in_struct = [&](const ScalarValue& value, const RecordField& field, int i) {
    const auto other = others.empty() ? others.end() : others.find(number_name(scalar, field, i));
    return other != others.end() ? other->second : number_of(value);
  };
  return struct_argument(scalar, in_struct, address_of);
} catch (const Error& error) {
  throw SpecError(scalar.location, scalar.name + " = " + error.what());
}

}  // namespace

ProblemBuffers::ProblemBuffers(Backend& backend, const KernelSpec& spec, VerifyProblem problem,
                               const MeasureOptions& options, std::uint64_t seed, const RecordedLaunch* recorded)
    : backend_(backend), spec_(spec), options_(options), recorded_(recorded), problem_(std::move(problem)) {
  if (problem_.offset < 0)
    throw Error(fmt::format("{}: a verify offset of {} is negative", spec.program.file, problem_.offset));
  const Bindings names = bindings(spec_, size(), backend_.device().limits);
  buffers_.reserve(spec.buffers.size());
  for (const BufferSpec& buffer_spec : spec.buffers) {
    ProblemBuffer& buffer = buffers_.emplace_back();
    buffer.backend = &backend_;
    buffer.spec = &buffer_spec;
    buffer.unwritten = kUnwritten[(seed - options.seed) % std::size(kUnwritten)];
    buffer.type = resolved_type(spec_, size(), buffer_spec.type);
    if (buffer.spec->is_work_space()) continue;
    const FilledBy by{spec_, names, text(), options_};
    buffer.set_count(by);
    buffer.choose_fill(by, recorded_ ? recorded_text(recorded_->inputs, buffer_spec.name) : nullptr,
                       seed + 0x9e3779b97f4a7c15ULL * buffers_.size());
    choose_tolerances(buffer);
    buffer.actual = allocate(buffer);
    if (buffer.spec->is_output()) buffer.answer().expected = allocate(buffer);
    buffer.choose_compared(by);
    if (buffer.spec->is_output() && options_.verify) read_answer(buffer, by);
  }
  for (const TextureSpec& texture : spec_.textures) add_texture(texture, names);
  restore_inputs();
}

void ProblemBuffers::read_answer(ProblemBuffer& buffer, const FilledBy& by) const {
  const BufferSpec& output = *buffer.spec;
  if (recorded_ != nullptr && answers(spec_, *recorded_)) {
    const std::string* const file = recorded_text(recorded_->outputs, output.name);
    if (file == nullptr)
      throw Error(spec_.program.file + ": the recording does not contain the results in " + output.name);
    buffer.expected_content = read_numbers(options_, *file, buffer.type, buffer.count);
  } else if (output.answer && buffer.count > 0) {
    buffer.expected_content = numbers_from_file(by, output.name, "answer", output.answer->path, output.answer->location,
                                                buffer.type, buffer.count);
  }
}

ArrayShape ProblemBuffers::shape_of(const TextureSpec& spec, const ProblemBuffer& buffer, const Bindings& names) const {
  ArrayShape shape;
  shape.type = buffer.type;
  shape.components = buffer.spec->components;
  shape.is_fetched = spec.reading.fetched;
  shape.has_surfaces = std::ranges::any_of(
      spec_.textures, [&](const TextureSpec& other) { return other.is_surface && other.buffer == spec.buffer; });
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

/// Textures and surfaces of a buffer with the same shape share an array, so that data written through one is read
/// through the others.
void ProblemBuffers::add_texture(const TextureSpec& spec, const Bindings& names) {
  ProblemBuffer& buffer =
      *std::ranges::find_if(buffers_, [&](const ProblemBuffer& one) { return one.spec->name == spec.buffer; });
  const ArrayShape shape = shape_of(spec, buffer, names);
  auto at = std::ranges::find_if(buffer.arrays, [&](const auto& array) { return array.first == shape; });
  if (at == buffer.arrays.end() && shape.has_surfaces && !buffer.arrays.empty())
    throw SpecError(spec.location, fmt::format("{} shows {} in another shape than the textures and surfaces above, on "
                                               "{}: if one of them is a surface, all must have the same shape",
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

void ProblemBuffers::choose_tolerances(ProblemBuffer& buffer) const {
  const auto add = [&](ElementType type) {
    buffer.tolerances.push_back(tolerance_for(spec_, size(), backend_.device().limits, type));
  };
  if (!buffer.spec->record) return add(buffer.type);
  for (const RecordField& field : buffer.spec->record->fields) add(field.type);
}

void ProblemBuffers::want_two_inputs() {
  const bool differ = std::ranges::any_of(buffers_, [](const ProblemBuffer& buffer) {
    return buffer.spec->is_input() && std::ranges::any_of(buffer.fills, &FilledNumbers::are_random);
  });
  if (!differ) return;
  try {
    for (ProblemBuffer& buffer : buffers_) {
      if (buffer.spec->is_output()) buffer.answers[1].expected = allocate(buffer);
      if (buffer.is_filled_by_field && buffer.spec->is_input() && buffer.count > 0)
        buffer.records[1] = buffer.filled_records(1);
    }
    two_inputs_ = true;
  } catch (const Error&) {  // no room: uses one set
    give_up_second_inputs();
  }
}

void ProblemBuffers::give_up_second_inputs() {
  two_inputs_ = false;
  for (ProblemBuffer& buffer : buffers_) buffer.answers[1].expected = {};
}

void ProblemBuffers::use_inputs(std::size_t which) {
  if (used_ == which) return;
  used_ = which;
  for (ProblemBuffer& buffer : buffers_) buffer.used = which;
  restore_inputs();
}

std::string ProblemBuffers::text() const {
  std::string all = size().sizes_text();
  if (problem_.offset != 0) all += fmt::format("{}offset={}", all.empty() ? "" : " ", problem_.offset);
  if (problem_.moved != VerifyProblem::Moved::all) {
    std::string names;
    for (const BufferSpec& buffer : spec_.buffers)
      if (is_moved(buffer)) names += (names.empty() ? " of " : ", ") + buffer.name;
    all += names;
  }
  for (const auto& [name, value] : problem_.scalars)
    all += fmt::format("{}{}={}", all.empty() ? "" : " ", name, scalar_text(value));
  return all;
}

std::string ProblemBuffers::why_tried() const {
  switch (problem_.chosen) {
    case VerifyProblem::Chosen::by_file:
      return {};
    case VerifyProblem::Chosen::size:
      return fmt::format(
          "; tuner chose this size, as no `verify` line of the kernel file names a size, and results are also used "
          "for other sizes. If the kernel is for some sizes only, say for which, as in `#pragma tuner constraint "
          "multiples: {} % 32 == "
          "0`; "
          "or name the sizes to test, as in `#pragma tuner verify {}`",
          spec_.sizes.front().name, size().sizes_text());
    case VerifyProblem::Chosen::offset:
      return fmt::format(
          "; tuner chose pointers that are aligned to their elements only, as no `verify` line of the kernel file "
          "names a size or an offset. If the pointers of all calls are multiples of more bytes, say so: `#pragma tuner "
          "aligned {}`",
          std::max<std::int64_t>(16, 2 * spec_.alignment));
    case VerifyProblem::Chosen::scalars: {
      const auto name =
          std::ranges::find_if(problem_.scalars, [&](const auto& one) { return spec_.find_scalar(one.first); });
      return fmt::format(
          "; tuner chose {}, as results are used for every value of a floating scalar.{} `only` after the value of a "
          "`scalar` makes results count for it alone",
          problem_.scalars.size() == 1 ? "this value" : "these values",
          name == problem_.scalars.end()
              ? ""
              : fmt::format(" If others are meant, name them, as in `#pragma tuner verify {}=3`.", name->first));
    }
  }
  return {};
}

bool ProblemBuffers::is_moved(const BufferSpec& buffer) const {
  if (buffer.is_work_space()) return false;
  if (problem_.moved == VerifyProblem::Moved::all) return true;
  if (!is_movable(buffer)) return false;
  const std::ptrdiff_t at = std::count_if(spec_.buffers.data(), &buffer, is_movable);
  return (at % 2 != 0) == (problem_.moved == VerifyProblem::Moved::odd);
}

GuardedMemory ProblemBuffers::allocate(const ProblemBuffer& buffer) {
  const std::size_t shift =
      is_moved(*buffer.spec)
          ? bytes_of(buffer.type, static_cast<std::size_t>(problem_.offset * buffer.spec->components))
          : 0;
  const std::size_t floating = info(buffer.type).is_floating ? info(buffer.type).bytes : 0;
  return {
      backend_, bytes_of(buffer.type, buffer.count), shift + placement_ * kMoveBytes, options_.guard_bytes, ++regions_,
      floating};
}

void ProblemBuffers::move_to(std::uint32_t placement) {
  if (placement_ == placement) return;
  placement_ = placement;
  work_space_for_.reset();
  for (ProblemBuffer& buffer : buffers_) buffer.actual = {};  // all of them first, so that there is room
  for (auto buffer = buffers_.rbegin(); buffer != buffers_.rend(); ++buffer)
    if (!buffer->spec->is_work_space()) buffer->actual = allocate(*buffer);
  restore_inputs();
}

void ProblemBuffers::restore_inputs() {
  for (ProblemBuffer& buffer : buffers_) {
    if (buffer.spec->is_work_space()) continue;
    buffer.actual.write_guards();
    if (buffer.spec->is_output()) buffer.answer().expected.write_guards();
    if (!buffer.spec->is_input()) continue;
    buffer.fill(buffer.actual);
    if (buffer.is_read_only()) buffer.answer().fingerprint = buffer.fingerprint(buffer.actual);
  }
}

void ProblemBuffers::size_work_space(const Configuration& configuration) {
  if (work_space_for_ == configuration) return;
  work_space_for_.reset();  // until all of it is allocated
  const Bindings names = configuration.empty() ? bindings(spec_, size(), backend_.device().limits)
                                               : bindings(spec_, size(), backend_.device().limits, configuration);
  for (ProblemBuffer& buffer : buffers_) {
    if (!buffer.spec->is_work_space()) continue;
    buffer.set_count({spec_, names, text(), options_});
    const std::size_t bytes = bytes_of(buffer.type, buffer.count);
    if (!buffer.actual.has_room(bytes)) {
      buffer.actual = {};  // freed first, so that there is more room
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

void ProblemBuffers::poison_outputs_again(bool reference) {
  for (const ProblemBuffer& buffer : buffers_)
    if (buffer.spec->role == BufferRole::out)
      buffer.set_bytes(buffer.memory(reference), reference ? reference_poison_ : buffer.poison_of(pass_));
}

void ProblemBuffers::reset(std::size_t pass, bool over_results) {
  pass_ = pass;
  for (ProblemBuffer& buffer : buffers_) {
    if (!buffer.actual.is_made()) continue;  // work space that the reference does not need
    if (buffer.is_changed_input()) buffer.fill(buffer.actual);
    if (buffer.spec->role == BufferRole::out && !over_results) buffer.set_bytes(buffer.actual, buffer.poison_of(pass));
    if (buffer.spec->is_work_space()) reset_work_space(buffer);
  }
}

std::optional<std::vector<Refill>> ProblemBuffers::refills() {
  if (!has_room_for_originals_) return std::nullopt;
  std::vector<Refill> all;
  for (ProblemBuffer& buffer : buffers_) {
    if (!buffer.actual.is_made() || buffer.actual.bytes() == 0) continue;
    Refill refill{buffer.actual.data(), buffer.actual.bytes()};
    if (buffer.is_changed_input()) {
      try {
        if (!buffer.original.is_made()) {
          buffer.original = {backend_, buffer.actual.bytes(), 0, 0, ++regions_, 0};
          buffer.fill(buffer.original);
        }
      } catch (const Error&) {
        for (ProblemBuffer& other : buffers_) other.original = {};
        has_room_for_originals_ = false;
        return std::nullopt;
      }
      refill.from = buffer.original.data();
    } else if (buffer.spec->role == BufferRole::out) {
      refill.value = buffer.poison_of(0);
    } else if (buffer.spec->is_work_space()) {
      refill.value = buffer.work_space_byte();
    } else {
      continue;
    }
    all.push_back(refill);
  }
  return all;
}

bool ProblemBuffers::is_repeatable() const { return std::ranges::none_of(buffers_, &ProblemBuffer::is_changed_input); }

void ProblemBuffers::reset_work_space(const ProblemBuffer& buffer) {
  buffer.actual.write_guards();
  buffer.set_bytes(buffer.actual, buffer.work_space_byte());
}

std::optional<std::string> ProblemBuffers::place(DevicePointer address) const {
  const ProblemBuffer* nearest = nullptr;
  std::ptrdiff_t offset = 0;
  std::size_t least = kFarBytes;
  for (const ProblemBuffer& buffer : buffers_) {
    for (const GuardedMemory* region : {&buffer.actual, &buffer.answers[0].expected, &buffer.answers[1].expected}) {
      if (!region->is_made()) continue;
      const auto from_start = static_cast<std::ptrdiff_t>(address - region->data());
      const auto bytes = static_cast<std::ptrdiff_t>(region->bytes());
      if (from_start >= 0 && from_start < bytes) return std::nullopt;  // inside a buffer: another kind of fault
      const auto distance = static_cast<std::size_t>(from_start < 0 ? -from_start : from_start - bytes);
      if (distance >= least) continue;
      least = distance;
      nearest = &buffer;
      offset = from_start;
    }
  }
  if (nearest == nullptr) return std::nullopt;
  return nearest->outside(offset);
}

std::optional<std::string> ProblemBuffers::damage() {
  for (ProblemBuffer& buffer : buffers_) {
    if (!buffer.actual.is_made()) continue;  // work space that the reference does not need
    if (auto broken = buffer.broken_guard(buffer.actual)) return broken;
    if (buffer.is_read_only() && buffer.fingerprint(buffer.actual) != buffer.answer().fingerprint)
      return fmt::format("writes to its input {}", buffer.spec->name);
  }
  for (ProblemBuffer& buffer : buffers_) {
    if (buffer.spec->role != BufferRole::zeroed || !buffer.actual.is_made() || buffer.actual.bytes() == 0) continue;
    const std::uint64_t after = buffer.fingerprint(buffer.actual);
    buffer.set_bytes(buffer.actual, 0);
    if (after != buffer.fingerprint(buffer.actual))
      return fmt::format("does not leave {} zero, as `zeroed` promises: the next run would start wrong",
                         buffer.spec->name);
  }
  return std::nullopt;
}

std::optional<std::string> ProblemBuffers::mismatch(std::size_t pass) {
  for (const ProblemBuffer& buffer : buffers_)
    if (auto found = buffer.spec->is_output() ? buffer.mismatch(pass) : std::nullopt) return found;
  return std::nullopt;
}

bool ProblemBuffers::inputs_intact() {
  return std::ranges::all_of(buffers_, [&](const ProblemBuffer& buffer) {
    if (buffer.spec->is_work_space()) return true;  // reset() fills it again
    if (buffer.actual.broken() || (buffer.spec->is_output() && buffer.answer().expected.broken())) return false;
    return !buffer.is_read_only() || buffer.fingerprint(buffer.actual) == buffer.answer().fingerprint;
  });
}

bool ProblemBuffers::expected_intact() {
  return std::ranges::all_of(buffers_, [&](const ProblemBuffer& buffer) {
    return !buffer.spec->is_output() || buffer.count == 0 ||
           buffer.fingerprint(buffer.answer().expected) == buffer.answer().expected_fingerprint;
  });
}

HostBuffers ProblemBuffers::copies(bool reference) const {
  HostBuffers all;
  for (const ProblemBuffer& buffer : buffers_)
    if (buffer.spec->is_output()) buffer.add(all, buffer.copy(buffer.memory(reference)));
  return all;
}

HostBuffers ProblemBuffers::expected_of_outputs() const {
  HostBuffers all;
  for (const ProblemBuffer& buffer : buffers_) {
    if (!buffer.spec->is_output()) continue;
    HostBuffer expected = buffer.copy(buffer.answer().expected);
    if (buffer.compared) {
      const std::size_t size = info(buffer.type).bytes;
      HostBuffer merged = buffer.copy(buffer.actual);
      for (const NumberRun& run : *buffer.compared)
        std::memcpy(merged.bytes.data() + run.begin * size, expected.bytes.data() + run.begin * size,
                    (run.end - run.begin) * size);
      expected = std::move(merged);
    }
    buffer.add(all, std::move(expected));
  }
  return all;
}

std::vector<Launch::Constant> ProblemBuffers::constants(const Image& image, const Module& module) const {
  std::vector<Launch::Constant> all;
  for (const ProblemBuffer& buffer : buffers_) {
    if (buffer.spec->role != BufferRole::constant) continue;
    const std::optional<std::size_t> at = find_function(image, variable_expression(*buffer.spec));
    if (!at) continue;  // the reference does not use it
    const Variable variable = module.variable(*at);
    if (variable.bytes < buffer.actual.bytes())
      throw Error(fmt::format("{}: constant buffer {}[{}] has {} bytes, but the variable {} of the program has {}",
                              spec_.program.file, buffer.spec->name, buffer.spec->count.text(), buffer.actual.bytes(),
                              buffer.spec->scope + buffer.spec->name, variable.bytes));
    all.push_back({variable, buffer.actual.data(), buffer.actual.bytes()});
  }
  return all;
}

std::vector<Launch::Array> ProblemBuffers::arrays(const LaunchSpec& launch, bool reference) const {
  std::vector<Launch::Array> all;
  for (std::size_t i = 0; i < textures_.size(); ++i) {
    const TextureSpec& texture = spec_.textures[i];
    if (std::ranges::count(launch.arguments, texture.name) == 0) continue;
    const ProblemBuffer& buffer = *textures_[i].buffer;
    // A surface on an input is also copied back, so that damage() notices writes.
    all.push_back({textures_[i].array, buffer.memory(reference).data(), texture.is_surface});
  }
  return all;
}

DevicePointer ProblemBuffers::address_of(const ScalarValue& value, const std::string& pointer, bool reference) const {
  const auto at =
      std::ranges::find_if(buffers_, [&](const ProblemBuffer& one) { return one.spec->name == value.address; });
  if (at == buffers_.end()) return 0;  // null
  const bool is_plain = !at->spec->record && !at->spec->is_work_space() && !is_pointer_to_pointers(pointer);
  if (is_plain && !may_take(pointer, at->type, true))
    throw Error(fmt::format("'{}' is a buffer of {} on {}, but the struct has a {}", value.address, info(at->type).name,
                            text(), pointer));
  return at->memory(reference).data();
}

Argument ProblemBuffers::tensor_map(const TensorMapSpec& map, const Bindings& names, bool reference) const try {
  const auto buffer = std::ranges::find_if(buffers_, [&](const auto& one) { return one.spec->name == map.buffer; });
  return Argument::of(backend_.tensor_map(tuner::shape_of(map, buffer->type, names), buffer->memory(reference).data()));
} catch (const TensorMapError& error) {
  throw TensorMapError(fmt::format("tensor map '{}' on {}: {}", map.name, text(), error.what()));
}

Argument ProblemBuffers::argument(const BoundArgument& bound, const Configuration& configuration,
                                  bool reference) const {
  using Kind = BoundArgument::Kind;
  const auto names = [&] { return bindings(spec_, size(), backend_.device().limits, configuration); };
  if (bound.kind == Kind::buffer) return Argument::of(buffers_[bound.index].memory(reference).data());
  if (bound.kind == Kind::size) return number_argument(bound.type, size().sizes.at(spec_.sizes[bound.index].name));
  if (bound.kind == Kind::texture) return Argument::of(textures_[bound.index].object);
  if (bound.kind == Kind::tensor_map) return tensor_map(spec_.tensor_maps[bound.index], names(), reference);
  if (bound.kind == Kind::computed) return computed_argument(bound, names());
  if (bound.kind != Kind::scalar) return bound.constant;
  const ScalarSpec& scalar = spec_.scalars[bound.index];
  if (const auto* const given = recorded_ ? recorded_text(recorded_->scalars, scalar.name) : nullptr)
    return recorded_number(bound.type, *given);
  if (const auto at = problem_.scalars.find(scalar.name); at != problem_.scalars.end())
    return number_argument(bound.type, at->second);
  if (const auto at = size().choices.find(scalar.name); at != size().choices.end())
    return info(bound.type).is_floating ? number_argument(bound.type, number_of<double>(at->second).value_or(0))
                                        : recorded_number(bound.type, at->second);
  return scalar_argument(
      scalar, bound.type, names, problem_.scalars,
      [&](const ScalarValue& value, const std::string& pointer) { return address_of(value, pointer, reference); });
}

std::vector<Argument> ProblemBuffers::arguments(const LaunchSpec& launch, const Configuration& configuration,
                                                bool reference) const {
  std::vector<Argument> result;
  for (const BoundArgument& bound : bind_arguments(spec_, launch, size(), configuration))
    result.push_back(argument(bound, configuration, reference));
  return result;
}

double ProblemBuffers::run_limit_s() const {
  const double floor_s = hang_floor_s(backend_, options_);
  const double known_s = best_run_s_ > 0 ? best_run_s_ : expected_run_s_;
  return std::max(floor_s, known_s > 0 ? kHangFactor * known_s : options_.first_run_s);
}

void ProblemBuffers::record_run(double seconds) {
  last_run_s_ = seconds;
  best_run_s_ = best_run_s_ > 0 ? std::min(best_run_s_, seconds) : seconds;
}

}  // namespace tuner
