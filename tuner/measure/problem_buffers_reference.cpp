// Checks the results of the reference: that it wrote all of them, that they are numbers, and that they depend on the
// inputs alone.
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/reference.hpp>
#include <tuner/measure/problem_buffers.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/expressions.hpp>

namespace tuner {
namespace {

std::string and_more(const Comparison& found) {
  if (found.mismatches <= 1) return "";
  return fmt::format(" and {} more element{}", found.mismatches - 1, found.mismatches == 2 ? "" : "s");
}

}  // namespace

void ProblemBuffers::take_answers() {
  for (const ProblemBuffer& buffer : buffers_)
    if (!buffer.expected_content.empty())
      backend_.upload(buffer.answer().expected.data(), buffer.expected_content.data(), buffer.expected_content.size());
}

/// The subject of messages about the expected elements of \p buffer.
std::string ProblemBuffers::answer_name(const ProblemBuffer& buffer) const {
  if (buffer.spec->answer) return "the answer in " + buffer.spec->answer->path;
  return std::string(reference_name(spec_));
}

void ProblemBuffers::reset_for_reference() {
  // A reference without parameters may use work space whose size depends on parameters.
  const bool is_default = spec_.reference_kind() == ReferenceKind::default_configuration;
  const std::vector<LaunchSpec>& launches = is_default ? spec_.launches : spec_.verification.reference;
  const bool needs_work_space = std::ranges::any_of(buffers_, [&](const ProblemBuffer& buffer) {
    return buffer.spec->is_work_space() && std::ranges::any_of(launches, [&](const auto& launch) {
             return contains(spec_.taken_by(launch), buffer.spec->name);
           });
  });
  if (needs_work_space) size_work_space(spec_.default_configuration.value_or(Configuration{}));
  reset(0);
  fill_expected(kReferencePoisons[0]);
}

void ProblemBuffers::fill_expected(unsigned char poison) {
  reference_poison_ = poison;
  for (ProblemBuffer& buffer : buffers_) {
    const GuardedMemory& expected = buffer.answer().expected;
    if (buffer.spec->role == BufferRole::out) buffer.set_bytes(expected, poison);
    if (buffer.spec->role != BufferRole::inout) continue;
    buffer.fill(expected);
    buffer.answer().expected_fingerprint = buffer.fingerprint(expected);
  }
}

void ProblemBuffers::accept_reference(const std::function<void()>& run_reference) {
  two_passes_[used_] = false;
  if (problem_.chosen == VerifyProblem::Chosen::scalars) allow_cancellation();
  auto broken = damage();
  for (const ProblemBuffer& buffer : buffers_)
    if (!broken && buffer.spec->is_output()) broken = buffer.broken_guard(buffer.answer().expected);
  if (broken) throw Error(fmt::format("{}: {} {} on {}", spec_.name, reference_name(spec_), *broken, text()));
  bool has_results = false;
  changes_nothing_ = true;
  for (ProblemBuffer& buffer : buffers_) {
    if (!buffer.spec->is_output() || buffer.count == 0) continue;
    const std::uint64_t before = buffer.answer().expected_fingerprint;
    buffer.answer().expected_fingerprint = buffer.fingerprint(buffer.answer().expected);
    has_results = true;
    changes_nothing_ &= buffer.spec->role == BufferRole::inout && buffer.answer().expected_fingerprint == before;
    if (const Comparison self = buffer.expected_nan(); self.mismatches > 0) {
      if (buffer.expected_content.empty() &&
          buffer.holds(buffer.answer().expected, self.first_index, kReferencePoisons[0]))
        refuse_unwritten(buffer, self);
      if (run_reference) refuse_outside_reads(run_reference);
      throw ReferenceGivesNan(fmt::format(
          "{}: {} gives NaN at {}{} on {}. Is {} of the type {} that is declared here? If so, {}.", spec_.name,
          answer_name(buffer), element_name(*buffer.spec, self.first_index), and_more(self), text(), buffer.spec->name,
          buffer.type_text(),
          buffer.spec->answer ? "the file holds NaN"
                              : "the reference computes NaN, as by 0 / 0 or the root of a negative number"));
    }
    if (buffer.has_integers_to_write() && !buffer.choose_poison()) two_passes_[used_] = true;
  }
  changes_nothing_ &= has_results;
}

/// The terms of a sum may cancel for a scalar that tuner chose. Results are then as inexact as the largest of them.
void ProblemBuffers::allow_cancellation() {
  for (ProblemBuffer& buffer : buffers_) {
    if (!buffer.spec->is_output() || buffer.count == 0 || buffer.spec->record) continue;
    if (!info(buffer.type).is_floating) continue;
    buffer.tolerances.clear();
    choose_tolerances(buffer);
    Tolerance& tolerance = buffer.tolerances.front();
    tolerance.absolute += tolerance.relative * buffer.largest_expected();
  }
}

std::vector<WeakComparison> ProblemBuffers::find_weak_comparisons() {
  std::vector<WeakComparison> all;
  for (ProblemBuffer& buffer : buffers_) {
    if (!buffer.spec->is_output() || buffer.count == 0) continue;
    const auto passes = [&](const GuardedMemory& region, ProblemBuffer::Within within) {
      return buffer.compare(region, within).mismatches == 0;
    };
    const std::string& name = buffer.spec->name;
    const auto add = [&](const GuardedMemory& region, const std::string& what, const std::string& reason) {
      if (!passes(region, ProblemBuffer::Within::tolerance)) return;
      if (!all.empty() && all.back().output == name && all.back().by_tolerance) return;  // says enough
      const bool by_tolerance = !passes(region, ProblemBuffer::Within::nothing);
      all.push_back({name,
                     fmt::format("{} would count as right: {}", what,
                                 by_tolerance ? "the tolerance is larger than every difference; lower `tolerance`, or "
                                                "fill inputs with larger numbers"
                                              : reason),
                     by_tolerance});
    };
    buffer.set_bytes(buffer.actual, 0);
    add(buffer.actual, "a kernel that writes zeros", "every expected number is 0; choose other inputs (`fill`)");
    const bool zeros_pass = !all.empty() && all.back().output == name;
    if (!zeros_pass && buffer.repeat_expected())
      add(buffer.actual, "a kernel that writes one value everywhere",
          "all expected elements are equal; choose other inputs (`fill`)");
    if (buffer.spec->role == BufferRole::inout) {
      buffer.fill(buffer.actual);
      add(buffer.actual, "a kernel that does nothing",
          "every expected number is what was there before; choose other inputs (`fill`) or scalars");
    }
    for (const ProblemBuffer& input : buffers_) {
      if (!input.spec->is_input() || &input == &buffer || !input.is_read_only()) continue;
      const bool is_like =
          input.type == buffer.type && input.count >= buffer.count && input.spec->components == buffer.spec->components;
      if (is_like || (input.type != buffer.type && !zeros_pass && buffer.take_numbers_of(input)))
        add(is_like ? input.actual : buffer.actual, "a copy of " + input.spec->name,
            "every expected number is the input's");
    }
  }
  return all;
}

/// Whether the reference wrote NaN.
bool ProblemBuffers::expects_nan() const {
  return std::ranges::any_of(buffers_, [](const ProblemBuffer& buffer) {
    if (!buffer.spec->is_output() || buffer.count == 0) return false;
    const Comparison found = buffer.expected_nan();
    return found.mismatches > 0 && !buffer.holds(buffer.answer().expected, found.first_index, kReferencePoisons[0]);
  });
}

/// The reference gives NaN. Throws Error if it does not with zeros around an input, beyond whose end it then reads.
void ProblemBuffers::refuse_outside_reads(const std::function<void()>& run_reference) {
  for (const ProblemBuffer& buffer : buffers_) {
    if (!buffer.spec->is_input()) continue;
    reset_for_reference();
    buffer.memory(true).fill_guards_with_zeros();
    run_reference();
    if (expects_nan()) continue;
    throw Error(
        fmt::format("{}: {} reads outside of `{}[{}]`, which has {} elements, on {}: its results depend on what "
                    "is there. Is `{}` long enough?",
                    spec_.name, reference_name(spec_), buffer.spec->name, buffer.spec->count.text(),
                    buffer.count / static_cast<std::size_t>(buffer.spec->components), text(), buffer.spec->name));
  }
}

/// \p found: elements that were not written.
void ProblemBuffers::refuse_unwritten(const ProblemBuffer& buffer, const Comparison& found) const {
  throw Error(
      fmt::format("{}: {} does not write {}{} on {}, or adds to what was there. Is the grid large enough, and `{}` as "
                  "long as `{}` and of the type {}? An `out` buffer has no contents before: one that is read too is "
                  "`inout`, which `prepare` may fill",
                  spec_.name, reference_name(spec_), element_name(*buffer.spec, found.first_index), and_more(found),
                  text(), buffer.spec->name, buffer.spec->count.text(), buffer.type_text()));
}

bool ProblemBuffers::find_unwritten() {
  return std::ranges::any_of(buffers_, [&](const ProblemBuffer& buffer) {
    if (!buffer.has_integers_to_write()) return false;
    buffer.set_bytes(buffer.actual, kReferencePoisons[0]);
    return buffer.compare(ProblemBuffer::Within::nothing).mismatches < buffer.compared_count();
  });
}

void ProblemBuffers::poison_reference_again() {
  reset(0);
  for (const ProblemBuffer& buffer : buffers_) {
    if (!buffer.has_integers_to_write()) continue;
    const HostBuffer given = buffer.copy(buffer.answer().expected);
    backend_.upload(buffer.actual.data(), given.bytes.data(), given.bytes.size());
  }
  fill_expected(kReferencePoisons[1]);
}

void ProblemBuffers::check_written() {
  for (const ProblemBuffer& buffer : buffers_) {
    if (!buffer.has_integers_to_write()) continue;
    const Comparison found = buffer.compare(ProblemBuffer::Within::tolerance);
    // Any other difference means that the reference is not deterministic: then no configuration will match it.
    if (found.mismatches > 0 && buffer.holds(buffer.answer().expected, found.first_index, kReferencePoisons[1]))
      refuse_unwritten(buffer, found);
  }
}

}  // namespace tuner
