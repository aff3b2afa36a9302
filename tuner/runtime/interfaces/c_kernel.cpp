// The part of tuner.h about kernels, their tuning and their results.
#include <tuner/runtime/interfaces/c_interface.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <cache/records/json.hpp>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/device/metric.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/result/effort.hpp>
#include <tuner/core/values/configuration.hpp>
#include <tuner/core/result/objective.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/kernel.hpp>
#include <tuner/run.hpp>
#include <tuner/runtime/call/call.hpp>
#include <tuner/tune.hpp>

struct tuner_kernel {
  tuner::Kernel kernel;

  void launch(tuner::Stream stream, tuner::Workspace workspace, const tuner::Sizes& sizes,
              const tuner::detail::LaunchArgument* arguments, std::size_t count) const {
    kernel.launch_erased(stream, workspace, sizes, arguments, count);
  }
  std::size_t prepare(tuner::Stream stream, const tuner::Sizes& sizes, const tuner::detail::LaunchArgument* arguments,
                      std::size_t count, std::size_t captures) const {
    return kernel.prepare_erased(stream, sizes, arguments, count, captures);
  }
};

struct tuner_result {
  std::string configuration, json;
  double median_ns, low_ns, high_ns;
};

namespace tuner::runtime {
namespace {

static_assert(TUNER_MAX_ARGUMENTS == kMaxArguments);

detail::LaunchArgument number_or_pointer(const tuner_argument& given) {
  using Kind = detail::LaunchArgument::Kind;
  detail::LaunchArgument argument;
  switch (given.kind) {
    case TUNER_ARGUMENT_BUFFER:
      return pointer_to(given.type, given.value.buffer, given.is_const != 0);
    case TUNER_ARGUMENT_REAL:
      argument.kind = Kind::floating;
      argument.number = given.value.real;
      return argument;
    case TUNER_ARGUMENT_SIGNED:
    case TUNER_ARGUMENT_UNSIGNED:
      argument.kind = given.kind == TUNER_ARGUMENT_SIGNED ? Kind::signed_integer : Kind::unsigned_integer;
      argument.integer = given.value.natural;
      return argument;
    case TUNER_ARGUMENT_STRUCT:
      require(given.value.buffer, "a struct");
      argument.kind = Kind::structure;
      argument.pointer = given.value.buffer;
      argument.integer = given.bytes;
      return argument;
    default:
      break;
  }
  refuse("there is no kind of argument " + std::to_string(given.kind));
}

Sizes sizes_of(const std::int64_t* sizes, std::size_t count) {
  if (count > 0) require(sizes, "sizes");
  Sizes result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(sizes[i]);
  return result;
}

/// `T=float operation=max`.
Choices choices_of(const char* text) {
  Choices choices;
  if (text == nullptr) return choices;
  const Configuration parsed = Configuration::parse(text);
  for (const auto& [name, value] : parsed.entries()) choices[name] = value.text();
  return choices;
}

std::vector<std::string> names_in(const char* text) {
  const auto names = at_commas(text == nullptr ? "" : text);
  return std::vector<std::string>(names.begin(), names.end());
}

Use use_named(const char* name) {
  const std::optional<Use> use = name == nullptr ? Use::single : use_of(name);
  if (!use) refuse(unknown_name("use", name, names_of(kUses)));
  return *use;
}

Effort effort_of(const char* name) {
  const std::optional<Effort> effort = effort_named(name);
  if (!effort) refuse(unknown_name("effort", name, names_of(kEfforts)));
  return *effort;
}

/// A call in C++. Its arguments are on the stack, as a warm launch allocates nothing.
struct CallInCpp {
  Stream stream;
  Workspace workspace;
  Sizes sizes;
  const detail::LaunchArgument* arguments;
  std::size_t count;
};

/// Calls \p act with \p call, which has at most \p most arguments.
template <std::size_t most, typename Act>
[[gnu::noinline]] void act_on(const tuner_call& call, const Act& act) {
  std::array<detail::LaunchArgument, most> arguments;
  std::transform(call.arguments, call.arguments + call.argument_count, arguments.begin(), number_or_pointer);
  act(CallInCpp{call.stream,
                {call.workspace, call.workspace_bytes},
                sizes_of(call.sizes, call.size_count),
                arguments.data(),
                call.argument_count});
}

template <typename Act>
void with_call(const tuner_call* given, const Act& act) {
  require(given, "call");
  constexpr tuner_call defaults = TUNER_CALL;
  const tuner_call call = options_of(given, defaults);
  if (call.argument_count > 0) require(call.arguments, "arguments");
  if (call.argument_count > kMaxArguments)
    refuse("more than " + std::to_string(kMaxArguments) + " arguments in a launch");
  if (call.argument_count <= 32) return act_on<32>(call, act);
  if (call.argument_count <= 512) return act_on<512>(call, act);
  act_on<kMaxArguments>(call, act);
}

/// \p about: what only one of TuneResult and RunResult has.
template <typename Result>
tuner_result* callers_result(const Result& from, Json about) {
  about.update({{"configuration", from.configuration},
                {"median_ns", from.median_ns},
                {"low_ns", from.low_ns},
                {"high_ns", from.high_ns},
                {"metrics", from.metrics}});
  return new tuner_result{from.configuration, text_of_json(about), from.median_ns, from.low_ns, from.high_ns};
}

/// \p options may be null.
TuneOptions tune_options_of(const tuner_tune_options* options) {
  constexpr tuner_tune_options defaults = TUNER_TUNE_OPTIONS;
  const tuner_tune_options given = options_of(options, defaults);
  TuneOptions tuning;
  if (given.wall_time_s != 0) tuning.wall_time = std::chrono::duration<double>(given.wall_time_s);
  if (given.trials != 0) tuning.trials = given.trials;
  if (given.effort != nullptr) tuning.effort = effort_of(given.effort);
  if (given.strategy != nullptr) tuning.strategy = given.strategy;
  tuning.seed = given.seed;
  tuning.force = given.force != 0;
  tuning.isolated = given.isolated != 0;
  tuning.check_on_host = given.check_on_host != 0;
  tuning.metrics = names_in(given.metrics);
  tuning.use = use_named(given.use);
  if (given.on_trial != nullptr)
    tuning.on_trial = [tell = given.on_trial, user = given.user](std::size_t finished, double best_ns) {
      return tell(finished, best_ns, user) == 0;
    };
  return tuning;
}

Json json_of(const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); }

Json json_of(const RuleResult& result) {
  Json about{{"branches", Json::array()},
             {"choices", Json::array()},
             {"between", nullptr},
             {"trials", result.trials},
             {"from_cache", result.from_cache}};
  for (const RuleResult::Branch& branch : result.branches)
    about["branches"].push_back({{"condition", branch.condition}, {"configuration", branch.configuration}});
  for (const RuleResult::Choice& choice : result.choices)
    about["choices"].push_back({{"sizes", std::vector(choice.sizes.data(), choice.sizes.data() + choice.sizes.count())},
                                {"configuration", choice.configuration},
                                {"median_ns", json_of(choice.median_ns)},
                                {"regret", json_of(choice.regret)}});
  if (const std::optional<RegretBetween>& between = result.between)
    about["between"] = {{"median", between->median},
                        {"low", between->low},
                        {"high", between->high},
                        {"worst", between->worst},
                        {"sizes", between->sizes}};
  return about;
}

Json json_of(const RunLaunch& launch) {
  return {{"expression", launch.expression}, {"grid", launch.grid},
          {"block", launch.block},           {"shared_bytes", launch.shared_bytes},
          {"registers", launch.registers},   {"spill_bytes", launch.spill_bytes},
          {"occupancy", launch.occupancy},   {"limited_by", launch.limited_by},
          {"cluster", launch.cluster},       {"dependent", launch.dependent}};
}

std::string_view role_name(BufferRole role) {
  constexpr std::string_view names[] = {"in", "constant", "out", "inout", "consumed", "scratch", "zeroed"};
  return names[static_cast<std::size_t>(role)];
}

Json json_of(const KernelSpec& spec) {
  Json about{{"name", spec.name},
             {"choices", Json::array()},
             {"sizes", Json::array()},
             {"parameters", Json::array()},
             {"arguments", Json::array()}};
  for (const ChoiceSpec& choice : spec.choices)
    about["choices"].push_back({{"name", choice.name}, {"is_type", choice.is_type}, {"values", choice.values}});
  for (const SizeSpec& size : spec.sizes) {
    Json one{{"name", size.name}, {"type", info(size.type).name}};
    if (size.default_value) one["default"] = *size.default_value;
    about["sizes"].push_back(std::move(one));
  }
  for (const TuningParameter& parameter : spec.space.parameters())
    about["parameters"].push_back({{"name", parameter.name}, {"values", texts_of(parameter.values)}});
  for (const BufferSpec& buffer : spec.buffers) {
    if (buffer.is_work_space() || buffer.role == BufferRole::constant) continue;
    about["arguments"].push_back({{"name", buffer.name},
                                  {"role", role_name(buffer.role)},
                                  {"type", buffer.type},
                                  {"components", buffer.components},
                                  {"count", buffer.count.text()}});
  }
  for (const ScalarSpec& scalar : spec.scalars)
    about["arguments"].push_back({{"name", scalar.name}, {"role", "scalar"}, {"type", scalar.type}});
  return about;
}

}  // namespace

// The attribute in tuner.h is that of the global names, not of these.
#pragma GCC visibility push(default)
extern "C" {

tuner_status tuner_kernel_from_file(const char* name_or_path, tuner_kernel** kernel) {
  return guarded([&] {
    require(name_or_path, "name_or_path", kernel, "kernel");
    *kernel = new tuner_kernel{Kernel::from_file(name_or_path)};
  });
}

tuner_status tuner_kernel_from_text(const char* text, const char* name, tuner_kernel** kernel) {
  return guarded([&] {
    require(text, "text", name, "name", kernel, "kernel");
    *kernel = new tuner_kernel{Kernel::from_source(text, name)};
  });
}

tuner_status tuner_kernel_with(const tuner_kernel* kernel, const char* choices, tuner_kernel** with) {
  return guarded([&] {
    require(kernel, "kernel", with, "with");
    *with = new tuner_kernel{kernel->kernel.with(choices_of(choices))};
  });
}

tuner_status tuner_kernel_used_as(const tuner_kernel* kernel, const char* use, tuner_kernel** used) {
  return guarded([&] {
    require(kernel, "kernel", used, "used");
    *used = new tuner_kernel{kernel->kernel.used_as(use_named(use))};
  });
}

void tuner_kernel_free(tuner_kernel* kernel) { delete kernel; }

const char* tuner_kernel_name(const tuner_kernel* kernel) {
  return kernel == nullptr ? "" : kernel->kernel.name().c_str();
}

tuner_status tuner_kernel_json(const tuner_kernel* kernel, char** json) {
  return guarded([&] {
    require(kernel, "kernel", json, "json");
    *json = callers_text(text_of_json(json_of(kernel->kernel.spec())));
  });
}

tuner_status tuner_kernel_launch(const tuner_kernel* kernel, const tuner_call* call) {
  return guarded([&] {
    require(kernel, "kernel");
    with_call(call, [&](const CallInCpp& made) {
      kernel->launch(made.stream, made.workspace, made.sizes, made.arguments, made.count);
    });
  });
}

tuner_status tuner_kernel_prepare(const tuner_kernel* kernel, const tuner_call* call, size_t captures,
                                  size_t* workspace_bytes) {
  return guarded([&] {
    require(kernel, "kernel");
    with_call(call, [&](const CallInCpp& made) {
      const std::size_t bytes = kernel->prepare(made.stream, made.sizes, made.arguments, made.count, captures);
      if (workspace_bytes != nullptr) *workspace_bytes = bytes;
    });
  });
}

tuner_status tuner_kernel_explain(const tuner_kernel* kernel, const int64_t* sizes, size_t size_count,
                                  const char* choices, char** sentence) {
  return guarded([&] {
    require(kernel, "kernel", sentence, "sentence");
    *sentence = callers_text(kernel->kernel.explain(sizes_of(sizes, size_count), choices_of(choices)));
  });
}

tuner_status tuner_kernel_elements(const tuner_kernel* kernel, const int64_t* sizes, size_t size_count,
                                   const char* choices, int64_t* counts, size_t count, size_t* needed) {
  return guarded([&] {
    require(kernel, "kernel", needed, "needed");
    if (count > 0) require(counts, "counts");
    const std::vector<std::int64_t> all = kernel->kernel.elements(sizes_of(sizes, size_count), choices_of(choices));
    *needed = all.size();
    std::copy_n(all.begin(), std::min(count, all.size()), counts);
  });
}

tuner_status tuner_kernel_tune(const tuner_kernel* kernel, const int64_t* sizes, size_t size_count, const char* choices,
                               const tuner_tune_options* options, tuner_result** result) {
  return guarded([&] {
    require(kernel, "kernel", result, "result");
    const TuneResult tuned =
        tuner::tune(kernel->kernel, sizes_of(sizes, size_count), choices_of(choices), tune_options_of(options));
    *result = callers_result(tuned, {{"trials", tuned.trials},
                                     {"tried", tuned.tried},
                                     {"valid", tuned.valid},
                                     {"failures", tuned.failures},
                                     {"from_cache", tuned.from_cache},
                                     {"effort", named(tuned.effort).name}});
  });
}

tuner_status tuner_kernel_tune_together(const tuner_kernel* kernel, const int64_t* sizes, size_t size_count,
                                        size_t problems, const char* choices, const tuner_tune_options* options,
                                        char** json) {
  return guarded([&] {
    require(kernel, "kernel", json, "json");
    if (problems > 0) require(sizes, "sizes");
    std::vector<Sizes> all;
    for (std::size_t i = 0; i < problems; ++i) all.push_back(sizes_of(sizes + i * size_count, size_count));
    const RuleResult found = tuner::tune_together(kernel->kernel, all, choices_of(choices), tune_options_of(options));
    *json = callers_text(text_of_json(json_of(found)));
  });
}

tuner_status tuner_kernel_run(const tuner_kernel* kernel, const int64_t* sizes, size_t size_count, const char* choices,
                              const tuner_run_options* options, tuner_result** result) {
  return guarded([&] {
    require(kernel, "kernel", result, "result");
    constexpr tuner_run_options defaults = TUNER_RUN_OPTIONS;
    const tuner_run_options given = options_of(options, defaults);
    RunOptions running;
    running.configuration = given.configuration == nullptr ? "" : given.configuration;
    running.verify = given.without_verification == 0;
    running.metrics = names_in(given.metrics);
    running.use = use_named(given.use);
    const RunResult ran = tuner::run(kernel->kernel, sizes_of(sizes, size_count), choices_of(choices), running);
    Json launches = Json::array();
    for (const RunLaunch& launch : ran.launches) launches.push_back(json_of(launch));
    *result = callers_result(
        ran,
        {{"verified", ran.verified}, {"limit", ran.limit}, {"reason", ran.reason}, {"launches", std::move(launches)}});
  });
}

const char* tuner_result_configuration(const tuner_result* result) {
  return result == nullptr ? "" : result->configuration.c_str();
}

double tuner_result_median_ns(const tuner_result* result, double* low_ns, double* high_ns) {
  if (low_ns != nullptr) *low_ns = result == nullptr ? 0 : result->low_ns;
  if (high_ns != nullptr) *high_ns = result == nullptr ? 0 : result->high_ns;
  return result == nullptr ? 0 : result->median_ns;
}

const char* tuner_result_json(const tuner_result* result) { return result == nullptr ? "" : result->json.c_str(); }

void tuner_result_free(tuner_result* result) { delete result; }

tuner_status tuner_metrics_json(char** json) {
  return guarded([&] {
    require(json, "json");
    Json list = Json::array();
    for (const NamedMetric& metric : named_metrics())
      list.push_back({{"name", metric.name}, {"unit", symbol(metric.unit)}, {"meaning", metric.meaning}});
    *json = callers_text(text_of_json(list));
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace tuner::runtime
