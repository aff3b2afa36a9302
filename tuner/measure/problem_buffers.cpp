#include <tuner/measure/problem_buffers.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <tuner/core/error.hpp>
#include <tuner/measure/bound_arguments.hpp>
#include <tuner/measure/sampler.hpp>

namespace tuner {
namespace {

constexpr unsigned char kGuardByte = 0xc5;
constexpr std::size_t kPageBytes = 4096;
constexpr unsigned char kPoisons[] = {0xff, 0x5a, 0xa5, 0x96, 0x3c, 0x81};

std::size_t bytes_of(ElementType type, std::size_t count) { return count * info(type).bytes; }

}  // namespace

ProblemBuffers::ProblemBuffers(Backend& backend, const KernelSpec& spec, ProblemSize size, std::int64_t offset,
                               const MeasureOptions& options, std::uint64_t seed)
    : backend_(backend), spec_(spec), options_(options), size_(std::move(size)), offset_(offset) {
  if (offset_ < 0) throw Error(fmt::format("{}: a verify offset of {} is negative", spec.file, offset_));
  const Bindings names = bindings(spec_, size_, backend_.device().limits);
  buffers_.reserve(spec.buffers.size());
  for (const BufferSpec& buffer_spec : spec.buffers) {
    Buffer& buffer = buffers_.emplace_back();
    buffer.spec = &buffer_spec;
    buffer.type = resolved_type(spec_, size_, buffer_spec.type);
    buffer.seed = seed + 0x9e3779b97f4a7c15ULL * buffers_.size();
    if (buffer.is_work_space()) continue;
    buffer.tolerance = tolerance_for(spec_, size_, backend_.device().limits, buffer.type);
    set_count(buffer, names);
    buffer.actual = allocate(buffer);
    if (buffer.is_output()) buffer.expected = allocate(buffer);
  }
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

ProblemBuffers::Region ProblemBuffers::allocate(const Buffer& buffer) const {
  Region region;
  const std::size_t shift = buffer.is_work_space() ? 0 : bytes_of(buffer.type, static_cast<std::size_t>(offset_));
  region.front = options_.guard_bytes + shift;
  region.bytes = bytes_of(buffer.type, buffer.count);
  region.back = options_.guard_bytes;
  // Canaries to the end of the last page, behind which the host backend lets nobody write.
  if (options_.guard_bytes > 0) region.back += -(region.front + region.bytes + region.back) % kPageBytes;
  region.memory = backend_.allocate(std::max<std::size_t>(region.front + region.bytes + region.back, 1));
  return region;
}

void ProblemBuffers::write_guards(const Region& region) {
  if (region.front > 0) set_bytes(region.memory->address(), kGuardByte, region.front);
  if (region.back > 0) set_bytes(region.data() + region.bytes, kGuardByte, region.back);
}

void ProblemBuffers::set_bytes(DevicePointer to, unsigned char value, std::size_t bytes) {
  if (bytes > 0) backend_.fill_bytes(to, value, bytes);
}

std::uint64_t ProblemBuffers::fingerprint(DevicePointer from, std::size_t bytes) {
  return bytes > 0 ? backend_.fingerprint(from, bytes) : 0;
}

void ProblemBuffers::fill(const Buffer& buffer, const Region& region) {
  if (buffer.count > 0)
    backend_.fill(region.data(), buffer.type, buffer.count, buffer.spec->fill.value_or(Fill::by_default(buffer.type)),
                  buffer.seed);
}

void ProblemBuffers::restore_inputs() {
  for (Buffer& buffer : buffers_) {
    if (buffer.is_work_space()) continue;
    write_guards(buffer.actual);
    if (buffer.is_output()) write_guards(buffer.expected);
    if (!buffer.is_filled()) continue;
    fill(buffer, buffer.actual);
    if (buffer.spec->role == BufferRole::in)
      buffer.fingerprint = fingerprint(buffer.actual.data(), buffer.actual.bytes);
  }
}

void ProblemBuffers::reset_for_reference() {
  // The reference takes no parameters, but it may be given work space whose size depends on them.
  const bool needs_work_space = std::any_of(buffers_.begin(), buffers_.end(), [&](const Buffer& buffer) {
    return buffer.is_work_space() &&
           std::any_of(spec_.reference.begin(), spec_.reference.end(), [&](const auto& launch) {
             return std::count(launch.arguments.begin(), launch.arguments.end(), buffer.spec->name) > 0;
           });
  });
  if (needs_work_space) size_work_space(spec_.default_configuration.value_or(Configuration{}));
  reset(0);
  for (Buffer& buffer : buffers_) {
    if (buffer.spec->role == BufferRole::out) set_bytes(buffer.expected.data(), 0xff, buffer.expected.bytes);
    if (buffer.spec->role == BufferRole::inout) fill(buffer, buffer.expected);
  }
}

void ProblemBuffers::compute_reference(const HostReference& reference) {
  HostBuffers host;
  for (const Buffer& buffer : buffers_)
    if (!buffer.is_work_space())
      host[buffer.spec->name] = copy(buffer, buffer.is_output() ? buffer.expected : buffer.actual);
  reference(size_, host);
  for (const Buffer& buffer : buffers_) {
    if (!buffer.is_output() || buffer.count == 0) continue;
    const std::vector<std::byte>& bytes = host.at(buffer.spec->name).bytes;
    if (bytes.size() != buffer.expected.bytes)
      throw Error(fmt::format("{}: the reference function changed the size of {} from {} to {} bytes", spec_.name,
                              buffer.spec->name, buffer.expected.bytes, bytes.size()));
    backend_.upload(buffer.expected.data(), bytes.data(), bytes.size());
  }
}

void ProblemBuffers::accept_reference() {
  two_passes_ = false;
  auto broken = damage();
  for (const Buffer& buffer : buffers_)
    if (!broken && buffer.is_output()) broken = broken_guard(buffer, buffer.expected);
  if (broken) throw Error(fmt::format("{}: the reference {} on {}", spec_.name, *broken, text()));
  for (Buffer& buffer : buffers_) {
    if (!buffer.is_output() || buffer.count == 0) continue;
    buffer.expected_fingerprint = fingerprint(buffer.expected.data(), buffer.expected.bytes);
    if (info(buffer.type).is_floating) {
      const Comparison self =
          backend_.compare(buffer.expected.data(), buffer.expected.data(), buffer.type, buffer.count, {});
      if (self.mismatches > 0)
        throw Error(
            fmt::format("{}: the reference gives NaN at {}[{}] and {} more elements on {}, or does not write "
                        "them. Is `{}` as long as `{}`, and of the type {} that is declared here?",
                        spec_.name, buffer.spec->name, self.first_index, self.mismatches - 1, text(), buffer.spec->name,
                        buffer.spec->count.text(), info(buffer.type).name));
    } else if (buffer.spec->role == BufferRole::out) {
      choose_poison(buffer);
    }
  }
}

void ProblemBuffers::choose_poison(Buffer& buffer) {
  for (const unsigned char poison : kPoisons) {
    set_bytes(buffer.actual.data(), poison, buffer.actual.bytes);
    const Comparison unwritten =
        backend_.compare(buffer.actual.data(), buffer.expected.data(), buffer.type, buffer.count, {});
    buffer.poison = poison;
    if (unwritten.mismatches == buffer.count) return;
  }
  // An unwritten element equals at most one of two different poisons.
  buffer.poison = kPoisons[0];
  two_passes_ = true;
}

void ProblemBuffers::size_work_space(const Configuration& configuration) {
  if (work_space_for_ == configuration) return;
  const Bindings names = configuration.empty() ? bindings(spec_, size_, backend_.device().limits)
                                               : bindings(spec_, size_, backend_.device().limits, configuration);
  for (Buffer& buffer : buffers_) {
    if (!buffer.is_work_space()) continue;
    set_count(buffer, names);
    const std::size_t bytes = bytes_of(buffer.type, buffer.count);
    if (!buffer.actual.memory || buffer.actual.memory->bytes() < bytes + 2 * options_.guard_bytes) {
      buffer.actual = {};  // first, so that both never exist at once
      buffer.actual = allocate(buffer);
    }
    buffer.actual.bytes = bytes;
    buffer.actual.back =
        std::min(buffer.actual.memory->bytes() - buffer.actual.front - bytes, options_.guard_bytes + kPageBytes);
  }
  work_space_for_ = configuration;
}

void ProblemBuffers::reset(std::size_t pass) {
  for (Buffer& buffer : buffers_) {
    if (!buffer.actual.memory) continue;  // work space that the reference does not use
    switch (buffer.spec->role) {
      case BufferRole::in:
        break;
      case BufferRole::inout:
      case BufferRole::consumed:
        fill(buffer, buffer.actual);
        break;
      case BufferRole::out:
        set_bytes(buffer.actual.data(), poison_of(buffer, pass), buffer.actual.bytes);
        break;
      case BufferRole::scratch:
      case BufferRole::zeroed:
        reset_work_space(buffer);
        break;
    }
  }
}

void ProblemBuffers::reset_for_measuring() {
  for (const Buffer& buffer : buffers_) {
    if (buffer.is_work_space()) reset_work_space(buffer);
    if (buffer.spec->role == BufferRole::inout || buffer.spec->role == BufferRole::consumed)
      fill(buffer, buffer.actual);
  }
}

void ProblemBuffers::reset_work_space(const Buffer& buffer) {
  write_guards(buffer.actual);
  // 0xff shows reads of what was never written.
  set_bytes(buffer.actual.data(), buffer.spec->role == BufferRole::zeroed ? 0 : 0xff, buffer.actual.bytes);
}

/// An element outside of \p buffer, \p bytes from its start.
std::string ProblemBuffers::outside(const Buffer& buffer, std::ptrdiff_t bytes) {
  const auto size = static_cast<std::ptrdiff_t>(info(buffer.type).bytes);
  const std::ptrdiff_t index = bytes / size - (bytes % size < 0 ? 1 : 0);
  return fmt::format("{}[{}], which has {} elements of {}", buffer.spec->name, index, buffer.count,
                     info(buffer.type).name);
}

std::optional<std::string> ProblemBuffers::broken_guard(const Buffer& buffer, const Region& region) {
  std::vector<unsigned char> bytes(std::max(region.front, region.back));
  const auto is_broken = [](unsigned char byte) { return byte != kGuardByte; };
  if (region.front > 0) {
    backend_.download(bytes.data(), region.memory->address(), region.front);
    const auto begin = bytes.rend() - static_cast<std::ptrdiff_t>(region.front);
    const auto broken = std::find_if(begin, bytes.rend(), is_broken);
    if (broken != bytes.rend()) return fmt::format("writes out of bounds: {}", outside(buffer, -1 - (broken - begin)));
  }
  if (region.back > 0) {
    backend_.download(bytes.data(), region.data() + region.bytes, region.back);
    const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(region.back);
    const auto broken = std::find_if(bytes.begin(), end, is_broken);
    if (broken != end)
      return fmt::format("writes out of bounds: {}",
                         outside(buffer, static_cast<std::ptrdiff_t>(region.bytes) + (broken - bytes.begin())));
  }
  return std::nullopt;
}

std::optional<std::string> ProblemBuffers::place(DevicePointer address) const {
  const Buffer* nearest = nullptr;
  std::ptrdiff_t offset = 0;
  std::size_t least = std::size_t{1} << 30;
  for (const Buffer& buffer : buffers_) {
    for (const Region* region : {&buffer.actual, &buffer.expected}) {
      if (!region->memory) continue;
      const auto from_start = static_cast<std::ptrdiff_t>(address - region->data());
      const auto bytes = static_cast<std::ptrdiff_t>(region->bytes);
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
    if (!buffer.actual.memory) continue;  // work space that the reference does not use
    if (auto broken = broken_guard(buffer, buffer.actual)) return broken;
    const Region& region = buffer.actual;
    if (buffer.spec->role == BufferRole::in && fingerprint(region.data(), region.bytes) != buffer.fingerprint)
      return fmt::format("writes to its input {}", buffer.spec->name);
  }
  for (Buffer& buffer : buffers_) {
    if (buffer.spec->role != BufferRole::zeroed || !buffer.actual.memory || buffer.actual.bytes == 0) continue;
    const Region& region = buffer.actual;
    const std::uint64_t after = fingerprint(region.data(), region.bytes);
    set_bytes(region.data(), 0, region.bytes);
    if (after != fingerprint(region.data(), region.bytes))
      return fmt::format("does not leave {} zero, as `zeroed` promises: the next run would start wrong",
                         buffer.spec->name);
  }
  return std::nullopt;
}

std::optional<std::string> ProblemBuffers::mismatch(std::size_t pass) {
  for (Buffer& buffer : buffers_) {
    if (!buffer.is_output() || buffer.count == 0) continue;
    const Comparison found =
        backend_.compare(buffer.actual.data(), buffer.expected.data(), buffer.type, buffer.count, buffer.tolerance);
    if (found.mismatches == 0) continue;
    const std::string element = fmt::format("{}[{}]", buffer.spec->name, found.first_index);
    const std::string count = fmt::format("({} of {} elements differ)", found.mismatches, buffer.count);
    if (still_poisoned(buffer, found.first_index, pass))
      return fmt::format("{} was not written, expected {:.9g} {}", element, found.expected, count);
    std::string allowed;
    if (info(buffer.type).is_floating)
      allowed = fmt::format(", tolerance {:.2g}",
                            buffer.tolerance.absolute + buffer.tolerance.relative * std::abs(found.expected));
    return fmt::format("{} is {:.9g}, expected {:.9g}{} {}", element, found.actual, found.expected, allowed, count);
  }
  return std::nullopt;
}

unsigned char ProblemBuffers::poison_of(const Buffer& buffer, std::size_t pass) {
  return pass == 0 ? buffer.poison : kPoisons[1];
}

/// Whether \p element of an `out` buffer holds what reset() put there.
bool ProblemBuffers::still_poisoned(const Buffer& buffer, std::size_t element, std::size_t pass) {
  if (buffer.spec->role != BufferRole::out) return false;
  std::vector<unsigned char> bytes(info(buffer.type).bytes);
  backend_.download(bytes.data(), buffer.actual.data() + element * bytes.size(), bytes.size());
  return std::all_of(bytes.begin(), bytes.end(), [&](unsigned char byte) { return byte == poison_of(buffer, pass); });
}

bool ProblemBuffers::expected_intact() {
  return std::all_of(buffers_.begin(), buffers_.end(), [&](const Buffer& buffer) {
    return !buffer.is_output() || buffer.count == 0 ||
           fingerprint(buffer.expected.data(), buffer.expected.bytes) == buffer.expected_fingerprint;
  });
}

HostBuffer ProblemBuffers::copy(const Buffer& buffer, const Region& from) const {
  HostBuffer host{buffer.type, buffer.count, std::vector<std::byte>(from.bytes)};
  if (!host.bytes.empty()) backend_.download(host.bytes.data(), from.data(), host.bytes.size());
  return host;
}

HostBuffers ProblemBuffers::outputs() const {
  HostBuffers all;
  for (const Buffer& buffer : buffers_)
    if (buffer.is_output()) all[buffer.spec->name] = copy(buffer, buffer.actual);
  return all;
}

HostBuffers ProblemBuffers::expected() const {
  HostBuffers all;
  for (const Buffer& buffer : buffers_)
    if (buffer.is_output()) all[buffer.spec->name] = copy(buffer, buffer.expected);
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
        result.push_back(Argument::of((reference && buffer.is_output() ? buffer.expected : buffer.actual).data()));
        break;
      }
      case BoundArgument::Kind::size:
        result.push_back(number_argument(bound.type, size_.sizes.at(spec_.sizes[bound.index].name)));
        break;
      case BoundArgument::Kind::scalar:
        result.push_back(number_argument(bound.type, spec_.scalars[bound.index].value));
        break;
      case BoundArgument::Kind::constant:
        result.push_back(bound.constant);
        break;
    }
  }
  return result;
}

double ProblemBuffers::run_limit_s() const {
  const double floor_s = hang_floor_s(backend_, options_);
  if (best_run_s_ <= 0) return std::max(options_.first_run_s, floor_s);
  return std::max(floor_s, options_.hang_factor * best_run_s_);
}

void ProblemBuffers::saw_run(double seconds) {
  best_run_s_ = best_run_s_ > 0 ? std::min(best_run_s_, seconds) : seconds;
}

}  // namespace tuner
