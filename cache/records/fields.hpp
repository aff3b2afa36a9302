#pragma once
/// The fields of every record, named once. Code that stores, reads, sums, checks or prints records visits them. The
/// wisdom text and the database's columns use the same names. Private to this room.
///
/// A visitor is called as visitor(name, field, how) for each field, in this order.

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>

#include <cache/records/stored_records.hpp>

namespace tuner::cache {

// How a field differs from others of its type.
enum : unsigned {
  kPlain = 0,
  kOptional = 1,  ///< may be missing in a text.
  kRemark = 2,    ///< may change in the same record; no checksum covers it.
  kInstant = 4,   ///< milliseconds since 1970; a date in a text.
  kObject = 8,    ///< text that is a JSON object, and is written as an object.
  kProse = 16,    ///< may be long and contain any characters.
};

template <class T, class Record>
concept Like = std::same_as<std::remove_const_t<T>, Record>;

void visit_fields(Like<DeviceRecord> auto& r, auto&& field) {
  field("key", r.key, kPlain);
  field("name", r.name, kOptional | kRemark);
  field("backend", r.backend, kPlain);
  field("compute_capability", r.compute_capability, kPlain);
  field("sm_count", r.sm_count, kPlain);
  field("l2_bytes", r.l2_bytes, kPlain);
  field("memory_bus_bits", r.memory_bus_bits, kPlain);
  field("max_shared_bytes", r.max_shared_bytes, kPlain);
  field("registers_per_sm", r.registers_per_sm, kPlain);
  field("properties", r.properties, kOptional | kRemark | kObject);
}

void visit_fields(Like<EnvironmentRecord> auto& r, auto&& field) {
  field("driver", r.driver, kPlain);
  field("compiler", r.compiler, kPlain);
  field("tuner", r.tuner, kOptional);
  field("os", r.os, kOptional);
}

void visit_fields(Like<KernelRecord> auto& r, auto&& field) {
  field("kernel", r.name, kPlain);
  field("source", r.source_hash, kPlain);
  field("objective", r.objective, kOptional);
}

void visit_fields(Like<ProblemRecord> auto& r, auto&& field) {
  field("choices", r.choices, kPlain);
  field("sizes", r.sizes, kPlain);
}

void visit_fields(Like<ResourceRecord> auto& r, auto&& field) {
  field("registers", r.registers, kPlain);
  field("spill_bytes", r.spill_bytes, kPlain);
  field("stack_bytes", r.stack_bytes, kPlain);
  field("static_shared_bytes", r.static_shared_bytes, kPlain);
  field("constant_bytes", r.constant_bytes, kPlain);
  field("blocks_per_sm", r.blocks_per_sm, kPlain);
  field("occupancy", r.occupancy, kPlain);
  field("target", r.target, kOptional);
}

/// The fields of TimeRecord.
void visit_times(auto& r, auto&& field) {
  field("median_ns", r.median_ns, kPlain);
  field("low_ns", r.low_ns, kPlain);
  field("high_ns", r.high_ns, kPlain);
  field("noise", r.relative_noise, kPlain);
}

void visit_fields(Like<TrialRecord> auto& r, auto&& field) {
  field("configuration", r.configuration, kPlain);
  field("kind", r.kind, kPlain);
  field("message", r.message, kOptional | kProse);
  field("log", r.log, kOptional | kProse);
  visit_times(r, field);
  field("cold", r.cold, kPlain);
  field("throttled", r.throttled, kPlain);
  field("converged", r.converged, kPlain);
  field("abandoned", r.abandoned, kPlain);
  field("verified", r.verified, kPlain);
  field("clock_mhz", r.clock_mhz, kPlain);
  field("metrics", r.metrics, kPlain);
  field("times_s", r.times_s, kPlain);
  field("resources", r.resources, kOptional);
  field("samples_ns", r.samples_ns, kPlain);
  field("created", r.created_ms, kInstant);
}

/// A trial and its place in a session.
struct StoredTrial {
  std::string session;  ///< uuid
  std::int64_t seq = 0;
  TrialRecord trial;
};

void visit_fields(Like<StoredTrial> auto& r, auto&& field) {
  field("of", r.session, kPlain);
  field("trial", r.seq, kPlain);
  visit_fields(r.trial, field);
}

/// The kernel and the problem: for Context, QuarantineRecord and MissRecord.
void visit_subject(auto& r, auto&& field) {
  visit_fields(r.kernel, field);
  visit_fields(r.problem, field);
}

void visit_fields(Like<SessionRecord> auto& r, auto&& field) {
  visit_subject(r.key, field);
  field("session", r.uuid, kPlain);
  field("conditions", r.key.conditions, kPlain);
  field("strategy", r.strategy, kPlain);
  field("seed", r.seed, kPlain);
  field("origin", r.origin, kPlain);
  field("started", r.started_ms, kInstant);
  field("finished", r.finished_ms, kInstant | kOptional | kRemark);
  field("spent", r.spent, kOptional | kRemark | kObject);
}

void visit_fields(Like<BestRecord> auto& r, auto&& field) {
  visit_subject(r, field);
  field("configuration", r.configuration, kPlain);
  visit_times(r, field);
  field("samples", r.samples, kPlain);
  field("measured", r.measured_ms, kInstant);
  field("target", r.target, kOptional);
  field("checked", r.checked, kOptional | kProse);
  field("effort", r.effort, kOptional);
  field("rule", r.rule, kOptional);
}

void visit_identity(Like<QuarantineRecord> auto& r, auto&& field) {
  visit_subject(r, field);
  field("quarantined", r.configuration, kPlain);
  field("device_key", r.device_key, kPlain);
}
void visit_fields(Like<QuarantineRecord> auto& r, auto&& field) {
  visit_identity(r, field);
  field("reason", r.reason, kProse);
  field("created", r.created_ms, kInstant);
}

void visit_identity(Like<MissRecord> auto& r, auto&& field) {
  field("kernel", r.kernel.name, kPlain);
  field("choices", r.problem.choices, kPlain);
  field("sizes_from", r.sizes_from, kPlain);
  field("device_key", r.device_key, kPlain);
}
void visit_fields(Like<MissRecord> auto& r, auto&& field) {
  visit_subject(r, field);
  field("sizes_from", r.sizes_from, kPlain);
  field("device_key", r.device_key, kPlain);
  field("file", r.file, kPlain);
  field("served", r.served, kPlain);
  field("calls", r.calls, kPlain);
  field("each_ns", r.each_ns, kPlain);
  field("first_seen", r.first_ms, kInstant);
  field("last_seen", r.last_ms, kInstant);
}

// The device and software of a measurement: in a text, the header above its line.
auto& context_of(Like<BestRecord> auto& r) { return r; }
auto& context_of(Like<SessionRecord> auto& r) { return r.key; }

/// Everything in a record: the columns of its table.
void visit_all(auto& r, auto&& field) {
  if constexpr (requires { context_of(r); }) {
    visit_fields(context_of(r).device, field);
    visit_fields(context_of(r).environment, field);
  }
  visit_fields(r, field);
}

/// Differs between any two tunings: for SessionKey and BestRecord.
void visit_context(auto& r, auto&& field) {
  visit_subject(r, field);
  field("key", r.device.key, kPlain);
  visit_fields(r.environment, field);
}

// Distinguishes a record from all others of its kind.
void visit_identity(Like<BestRecord> auto& r, auto&& field) { visit_context(r, field); }
void visit_identity(Like<SessionRecord> auto& r, auto&& field) { field("session", r.uuid, kPlain); }
void visit_identity(Like<StoredTrial> auto& r, auto&& field) {
  field("of", r.session, kPlain);
  field("trial", r.seq, kPlain);
}

}  // namespace tuner::cache
