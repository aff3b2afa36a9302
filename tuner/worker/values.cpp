#include <tuner/worker/values.hpp>

#include <array>
#include <stdexcept>
#include <utility>

namespace tuner::worker {
namespace {

template <typename... T>
void put_all(Writer& out, const T&... values) {
  (out.put(values), ...);
}
template <typename... T>
void get_all(Reader& in, T&... values) {
  (in.get(values), ...);
}

// One list of members serves writing and reading: they cannot drift apart.
template <typename Visitor, typename V>
void members(const Visitor& visit, V& value) requires std::is_same_v<std::remove_const_t<V>, DeviceKey> {
  visit(value.backend, value.compute_capability, value.sm_count, value.l2_bytes, value.memory_bus_bits,
        value.max_shared_bytes, value.registers_per_sm, value.cpu);
}
template <typename Visitor, typename V>
void members(const Visitor& visit, V& value) requires std::is_same_v<std::remove_const_t<V>, DeviceLimits> {
  visit(value.warp_size, value.sm_count, value.max_threads_per_block, value.max_block[0], value.max_block[1],
        value.max_block[2], value.max_grid[0], value.max_grid[1], value.max_grid[2], value.shared_bytes_per_block,
        value.max_shared_bytes, value.shared_bytes_per_sm, value.reserved_shared_bytes, value.registers_per_block,
        value.registers_per_sm, value.max_registers_per_thread, value.max_threads_per_sm, value.max_blocks_per_sm,
        value.compute_capability);
}
template <typename Visitor, typename V>
void members(const Visitor& visit, V& value) requires std::is_same_v<std::remove_const_t<V>, MeasureOptions> {
  visit(value.seed, value.cold, value.verify, value.guard_bytes, value.warm_up, value.min_samples, value.max_samples,
        value.target_width, value.max_seconds, value.finalist_rounds, value.finalist_samples, value.abandon_factor,
        value.abandon_samples, value.batch_below_ns, value.batch_ns, value.clock_step_ns, value.throttle_fraction,
        value.throttle_pause_s, value.throttle_budget_s, value.hang_floor_s, value.hang_factor, value.first_run_s);
}
template <typename Visitor, typename V>
void members(const Visitor& visit, V& value) requires std::is_same_v<std::remove_const_t<V>, Resources> {
  visit(value.registers, value.spill_bytes, value.stack_bytes, value.static_shared_bytes, value.constant_bytes,
        value.blocks_per_sm, value.occupancy);
}
template <typename Visitor, typename V>
void members(const Visitor& visit, V& value) requires std::is_same_v<std::remove_const_t<V>, CompileRequest> {
  visit(value.source, value.file_name, value.expressions, value.defines, value.architecture);
}
template <typename Visitor, typename V>
void members(const Visitor& visit, V& value) requires std::is_same_v<std::remove_const_t<V>, TrialTimes> {
  visit(value.compile, value.load, value.verify, value.measure, value.wait);
}
template <typename Visitor, typename V>
void members(const Visitor& visit, V& value) requires std::is_same_v<std::remove_const_t<V>, Measurement> {
  visit(value.samples_ns, value.median_ns, value.low_ns, value.high_ns, value.relative_noise, value.cold,
        value.throttled, value.converged, value.abandoned, value.clock_mhz, value.metrics);
}

template <typename T>
void write_members(Writer& out, const T& value) {
  members([&out](const auto&... each) { put_all(out, each...); }, value);
}
template <typename T>
void read_members(Reader& in, T& value) {
  members([&in](auto&... each) { get_all(in, each...); }, value);
}

}  // namespace

void write(Writer& out, const Configuration& value) {
  out.put(std::uint64_t{value.entries().size()});
  for (const auto& [name, entry] : value.entries()) {
    out.put(name);
    out.put(static_cast<std::uint8_t>(entry.is_integer() ? 0 : entry.is_boolean() ? 1 : 2));
    if (entry.is_string())
      out.put(entry.string());
    else
      out.put(entry.integer());
  }
}

void read(Reader& in, Configuration& value) {
  value = {};
  const auto count = in.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto name = in.get<std::string>();
    const auto type = in.get<std::uint8_t>();
    if (type > 2) throw ProtocolError("message has a value of unknown type");
    if (type == 2)
      value.set(name, in.get<std::string>());
    else if (const auto number = in.get<std::int64_t>(); type == 1)
      value.set(name, number != 0);
    else
      value.set(name, number);
  }
}

void write(Writer& out, const ProblemSize& value) { put_all(out, value.sizes, value.choices); }
void read(Reader& in, ProblemSize& value) { get_all(in, value.sizes, value.choices); }

void write(Writer& out, const Device& value) {
  write_members(out, value.key);
  write_members(out, value.limits);
  put_all(out, value.environment.driver, value.environment.compiler, value.name, value.index, value.read_ceiling,
          value.copy_ceiling);
}
void read(Reader& in, Device& value) {
  read_members(in, value.key);
  read_members(in, value.limits);
  get_all(in, value.environment.driver, value.environment.compiler, value.name, value.index, value.read_ceiling,
          value.copy_ceiling);
}

void write(Writer& out, const MeasureOptions& value) { write_members(out, value); }
void read(Reader& in, MeasureOptions& value) { read_members(in, value); }
void write(Writer& out, const Resources& value) { write_members(out, value); }
void read(Reader& in, Resources& value) { read_members(in, value); }
void write(Writer& out, const CompileRequest& value) { write_members(out, value); }
void read(Reader& in, CompileRequest& value) { read_members(in, value); }

void write(Writer& out, const CompiledFunction& value) {
  put_all(out, value.expression, value.symbol, value.resources);
}
void read(Reader& in, CompiledFunction& value) { get_all(in, value.expression, value.symbol, value.resources); }
void write(Writer& out, const Image& value) { put_all(out, value.code, value.functions, value.log); }
void read(Reader& in, Image& value) { get_all(in, value.code, value.functions, value.log); }
void write(Writer& out, const CompileError& value) { put_all(out, value.message, value.log); }
void read(Reader& in, CompileError& value) { get_all(in, value.message, value.log); }

void write(Writer& out, const Trial& value) {
  out.put(value.configuration);
  out.put(static_cast<std::uint8_t>(value.outcome.index()));
  if (const Measurement* measurement = value.measurement())
    write_members(out, *measurement);
  else if (const auto* error = std::get_if<CompileError>(&value.outcome))
    write(out, *error);
  else
    out.put(message(value.outcome));
  put_all(out, value.resources, value.verified);
  write_members(out, value.times);
}

void read(Reader& in, Trial& value) {
  in.get(value.configuration);
  const auto index = in.get<std::uint8_t>();
  switch (index) {
    case 0:
      read_members(in, value.outcome.emplace<Measurement>());
      break;
    case 1:
      in.get(value.outcome.emplace<CompileError>());
      break;
    case 2:
      in.get(value.outcome.emplace<LaunchError>().message);
      break;
    case 3:
      in.get(value.outcome.emplace<Timeout>().message);
      break;
    case 4:
      in.get(value.outcome.emplace<WrongResult>().message);
      break;
    case 5:
      in.get(value.outcome.emplace<Invalid>().reason);
      break;
    default:
      throw ProtocolError("message has an outcome of unknown kind");
  }
  get_all(in, value.resources, value.verified);
  read_members(in, value.times);
}

}  // namespace tuner::worker
