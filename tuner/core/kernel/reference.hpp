#pragma once
/// The launches whose results a kernel is compared with.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/kernel/launches.hpp>
#include <tuner/core/values/configuration.hpp>

namespace tuner {

struct DeviceLimits;
struct KernelSpec;
struct ProblemSize;

/// The subject of messages about the reference: "the reference", or "the default configuration, which is the
/// reference,".
std::string_view reference_name(const KernelSpec& spec);
/// Shown with results that were not compared with a ReferenceKind::kernel: the text of the kind; otherwise empty.
std::string weaker_reference(const KernelSpec& spec);
/// The configuration for the launches of the reference; empty if they take no parameters.
Configuration reference_configuration(const KernelSpec& spec);
/// The launches of the reference. Throws Error if the default configuration is the reference and cannot run.
std::vector<ResolvedLaunch> resolve_reference(const KernelSpec& spec, const ProblemSize& size,
                                              const DeviceLimits& limits);

}  // namespace tuner
