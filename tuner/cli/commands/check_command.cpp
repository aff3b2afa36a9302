#include <tuner/cli/commands/program.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include <tuner/backend/traits.hpp>
#include <tuner/cli/input/kernel_options.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/signature.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/program_text.hpp>
#include <tuner/core/kernel/reference.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/measure/bound_arguments.hpp>
#include <tuner/measure/compiled_resources.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/measure/runner.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/winner_check.hpp>
#include <tuner/session/tuning/tuning.hpp>
#include <tuner/worker/isolated_evaluator.hpp>
#ifdef TUNER_HAS_CUDA
#include <tuner/backend/cuda/driver/nvrtc.hpp>
#include <tuner/cli/commands/machine_code.hpp>
#endif

namespace tuner::cli {
namespace {

/// The default problem shrinks to this, so that a check takes a second.
constexpr std::int64_t kCheckedBytes = std::int64_t{256} << 10;

/// How `tune init` begins a line that is a question.
constexpr std::string_view kQuestion = "// ? ";

constexpr int kVolta = 70;  // compute capability

/// A step that this machine cannot do, whatever the kernel.
class Skipped : public Error {
 public:
  using Error::Error;
};

/// \p limits with as many blocks at once as a large GPU has.
DeviceLimits of_large_gpu(DeviceLimits limits) {
  limits.sm_count = 132;
  limits.max_blocks_per_sm = 32;
  return limits;
}

/// The first lines of a compiler's output \p log, which are about the causes of the others.
std::string first_lines(std::string_view log) {
  constexpr std::ptrdiff_t most = 20;
  std::size_t end = 0;
  for (std::ptrdiff_t lines = 0; lines < most && end < log.size(); ++lines)
    end = std::min(log.find('\n', end), log.size() - 1) + 1;
  std::string text(log.substr(0, end));
  const std::string_view rest = trimmed(log.substr(end));
  if (rest.empty()) return text;
  return text + fmt::format("({} more lines; --json prints all)\n", std::count(rest.begin(), rest.end(), '\n') + 1);
}

#ifdef TUNER_HAS_CUDA
/// Does \p work in another process, because NVRTC may crash on a text that is wrong. Returns its text, or throws its
/// error.
std::string in_a_child(const std::function<std::string()>& work) {
  const int answer = ::memfd_create("answer", MFD_CLOEXEC);
  const pid_t child = answer < 0 ? -1 : ::fork();
  std::string said;
  if (child == 0) {
    try {
      said = 'r' + work();
    } catch (const std::exception& error) {
      said = std::string("t") + error.what();
    }
    ::_exit(::write(answer, said.data(), said.size()) < 0);
  }
  if (child < 0) return ::close(answer), work();
  int status = 0;
  ::waitpid(child, &status, 0);
  said.resize(static_cast<std::size_t>(::lseek(answer, 0, SEEK_END)));
  if (::pread(answer, said.data(), said.size(), 0) < 0) said.clear();
  ::close(answer);
  if (said.empty())
    throw Error(fmt::format("NVRTC ended its process{}: the text is most likely wrong, see the messages for the host",
                            WIFSIGNALED(status) ? fmt::format(" by signal {}", WTERMSIG(status)) : ""));
  if (said.front() == 't') throw Error(said.substr(1));
  return said.substr(1);
}
#endif

class Check {
 public:
  explicit Check(const Given& given) : given_(given), spec_(chosen_kernel(given)) {}

  int run() {
    answer_.fact(people("kernel"), fmt::format("{} ({})", spec_.name, spec_.program.file));
    answer_.data("kernel", spec_.name).data("file", spec_.program.file);
    for (const std::string& ignored : ignored_directives(spec_)) warnings_.push_back(ignored);
    step(std::string(kHostBackend), [&] { return run_on_host(); });
#ifdef TUNER_HAS_CUDA
    check_architectures();
#else
    answer_.fact(people("gpu"), "not compiled: this program was built without the CUDA headers");
#endif
    if (spec_.reference_kind() == ReferenceKind::none)
      step("tune", [&] {
        require_reference(spec_);
        return "";
      });
    list_questions();
    warn_of_text();
    for (const Json& warning : warnings_) answer_.text("warning: {}\n", printable(warning.get<std::string>()));
    answer_.data("steps", steps_).data("warnings", warnings_).data("ok", !failed_);
    return answer_.print(given_, failed_ ? kFailed : kDone);
  }

 private:
  /// Adds what \p work did, or the message of its failure, and shows it at once.
  void step(const std::string& where, const std::function<std::string()>& work) {
    Json entry{{"where", where}};
    try {
      const std::string done = work();
      answer_.fact(people(where), done);
      entry.update({{"ok", true}, {"message", done}});
    } catch (const UsageError&) {
      throw;
    } catch (const std::exception& error) {
      const std::string message = error.what(), first = first_line(message);
      const bool is_for_gpus = dynamic_cast<const Skipped*>(&error) != nullptr ||
                               message.find(kInlinePtx) != std::string::npos || first.ends_with(kTensorCores) ||
                               first.ends_with(kForGpus) || first.ends_with(kGuardedCode);
      if (is_for_gpus) {
        answer_.fact(people(where), "skipped: " + printable(first));
        entry.update({{"ok", true}, {"skipped", true}, {"message", first}});
      } else {
        failed_ = true;
        answer_.fact(people(where), "failed: " + printable(first));
        if (message.size() > first.size())
          answer_.text(printable_lines(first_lines(std::string_view(message).substr(first.size() + 1))) + '\n');
        entry.update({{"ok", false}, {"message", message}});
      }
    }
    steps_.push_back(std::move(entry));
    answer_.show(given_);
  }

  /// Warns of what the text says and neither compiler nor the host backend sees.
  void warn_of_text() {
    const std::string code = code_of(program_text(spec_));
    for (const Signature& kernel : find_signatures(code))
      for (const NamedType& argument : kernel.arguments)
        if (has_word(argument.type, "CUtensorMap") && !has_word(argument.type, "__grid_constant__") &&
            argument.type.find_first_of("*&") == std::string::npos && !has_other_words(argument.type))
          warnings_.push_back(fmt::format(
              "parameter '{}' of {} is a CUtensorMap without __grid_constant__: copies through it fault on a GPU",
              argument.name, kernel.name));
    const bool is_dependent =
        std::ranges::any_of(spec_.launches, [](const LaunchSpec& launch) { return launch.dependent.has_value(); });
    // Of CUDA, of PTX, and of CUTLASS.
    constexpr std::string_view kWaits[] = {"cudaGridDependencySynchronize", "griddepcontrol",
                                           "wait_on_dependent_grids"};
    const auto waits = [&](const std::string& text) {
      return std::ranges::any_of(kWaits, [&](std::string_view word) { return text.find(word) != std::string::npos; });
    };
    const auto& includes = spec_.program.includes;
    const bool may_wait =
        waits(program_text(spec_)) ||
        (includes && (includes->unknown || std::ranges::any_of(includes->files, waits, &IncludedFile::text)));
    if (is_dependent && !may_wait)
      warnings_.push_back(
          "a launch is `dependent`, and no text of the kernel calls cudaGridDependencySynchronize(): it may read what "
          "the launch before it has not written yet");
  }
  /// Whether \p type has a word that may be a macro for `__grid_constant__`.
  static bool has_other_words(std::string_view type) {
    std::string text(type);
    for (const std::string_view word : {"const", "CUtensorMap", "struct", "__restrict__"})
      for (std::size_t at = 0; (at = find_word(text, word, at)) != std::string::npos;) text.erase(at, word.size());
    return !trimmed(text).empty();
  }

  /// The lines of the kernel file that `tune init` wrote as questions and that are still there.
  void list_questions() {
    Json questions = Json::array();
    std::string listed;
    std::int64_t line = 0;
    for (std::string_view rest = spec_.program.text; !rest.empty();) {
      const std::string_view one = trimmed(rest.substr(0, rest.find('\n')));
      rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
      ++line;
      if (!one.starts_with(kQuestion)) continue;
      const std::string_view question = one.substr(kQuestion.size());
      listed += fmt::format("  {}:{}: {}\n", spec_.program.file, line, question);
      questions.push_back({{"line", line}, {"question", question}});
    }
    if (!questions.empty())
      answer_.text("{} still open; remove the line of each that you have answered:\n{}",
                   questions.size() == 1 ? "1 question is" : fmt::format("{} questions are", questions.size()), listed);
    answer_.data("questions", questions);
  }

  /// That of `--config`, else the default, else the first valid one.
  Configuration configuration(const ProblemSize& size, const DeviceLimits& limits) const {
    const std::optional<Configuration> base =
        spec_.default_configuration ? spec_.default_configuration : first_valid(spec_, size, limits);
    if (!base) throw Error("no configuration is valid for " + size.text());
    return read_configuration(spec_, given_.text("config"), *base);
  }

  std::string run_on_host() {
    if (!spec_.tensor_maps.empty())
      throw Skipped(std::string("the kernel is given a tensor map") + kForGpus +
                    ": nothing has checked its results, its boxes and its strides");
    const Device device = choose_device(kHostBackend).device;
    ProblemOptions options = problem_options(given_);
    options.host_bytes = kCheckedBytes;
    const ProblemSize size = select_problem(spec_, options, device, "check");
    const DeviceLimits large = of_large_gpu(device.limits);
    const bool has_any = spec_.default_configuration || first_valid(spec_, size, device.limits);
    const Configuration chosen = configuration(size, has_any ? device.limits : large);
    if (const auto why = why_invalid(spec_, size, device.limits, chosen);
        why && !why_invalid(spec_, size, large, chosen))
      throw Skipped(*why + ": this machine has too few cores; check it on a GPU");
    MeasureOptions measure;
    measure.min_samples = measure.max_samples = 1;
    measure.first_run_s = 5;  // of a small problem; longer, it hangs
    IsolatedOptions workers;
    workers.backend = kHostBackend;
    workers.compile_workers = 1;
    workers.known_device = device;
    std::mutex adding;
    workers.warn = [&](std::string_view text) {
      const std::lock_guard lock(adding);
      warnings_.push_back(text);
    };
    IsolatedEvaluator evaluator(spec_, size, measure, workers);
    evaluator.submit(chosen, 0);
    const Trial trial = evaluator.next();
    const std::string what = fmt::format("{}  {}", size.text(), chosen.text());
    if (trial.measurement() == nullptr) {
      const bool differs = std::holds_alternative<WrongResult>(trial.outcome) && !depends_on_order(trial.outcome);
      const std::string_view doubt = differs ? doubt_about_host(spec_) : std::string_view();
      throw Error(fmt::format("{}: {}{}{}\n{}", kind(trial.outcome), message(trial.outcome), doubt.empty() ? "" : ": ",
                              doubt, what));
    }
    return fmt::format("{}: {}", verdict(trial, chosen), what);
  }

  /// The answer after a run of \p chosen without a failure.
  std::string verdict(const Trial& trial, const Configuration& chosen) const {
    if (!trial.verified) return "runs; nothing to compare with: the kernel has no reference";
    if (spec_.verification.default_is_reference && chosen == reference_configuration(spec_))
      return "runs; nothing else checks its result yet, as the default configuration is the reference";
    const std::string reference = weaker_reference(spec_);
    return reference.empty() ? "runs, and is right" : "runs as the " + reference + " does";
  }

#ifdef TUNER_HAS_CUDA
  /// The architectures that `--arch` names, else those of the GPUs of this machine, else a recent one.
  Texts architectures() const {
    Texts all = split(given_.texts("arch"), ',');
    if (all.empty()) try {
        for (const DeviceChoice& gpu : choose_each("all")) all.push_back(architecture_of(gpu.device.key));
      } catch (const Error&) {  // no GPU here
      }
    if (all.empty()) all.emplace_back("sm_90");
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  void check_architectures() {
    if (cuda::find_nvrtc() == nullptr && !given_.has("arch")) {
      answer_.fact(people("gpu"), "not compiled: NVRTC is missing; --arch sm_90 says where it was looked for");
      return;
    }
    for (const std::string& architecture : architectures())
      step(architecture, [&] { return in_a_child([&] { return compile_for(architecture); }); });
  }

  std::string compile_for(const std::string& architecture) const {
    const Device device = device_of(architecture);
    const ProblemSize size = select_problem(spec_, problem_options(given_), device, "check");
    const Configuration chosen = configuration(size, device.limits);
    const Image image = machine_code(code_request(spec_, size, device.limits, architecture, chosen));
    if (spec_.has_reference_program()) machine_code(reference_request(spec_, size, device.limits, architecture));
    if (const auto wrong = wrong_type(spec_, size, device.limits, chosen, image)) throw Error(*wrong);
    const Resources used = compiled_resources(spec_, size, device.limits, chosen, image);
    const std::string remark =
        device.limits.compute_capability < kVolta && returns_before_a_barrier(code_of(program_text(spec_)))
            ? "; a kernel returns before a barrier, which is legal only from sm_70 on"
            : "";
    const std::string target = used.target == architecture ? "" : " for " + used.target;
    return fmt::format("compiles{}: {} registers, {} spilled bytes a thread{}", target, used.registers,
                       used.spill_bytes, remark);
  }
#endif

  const Given& given_;
  KernelSpec spec_;
  Json steps_ = Json::array();
  Json warnings_ = Json::array();
  bool failed_ = false;
  Answer answer_{std::string_view("kernel").size()};
};

}  // namespace

Command check_command() {
  return {Options("Usage: tune check KERNEL [options]\n"
                  "Reads a kernel file, runs its default configuration once on the host backend for\n"
                  "a small problem, compares the result with the reference, and compiles for GPUs:\n"
                  "those of this machine, or --arch. Prints every message, and the questions of\n"
                  "`tune init` that are still in the file. Stores nothing.",
                  "  tune check ./mine.cu                    after each edit\n"
                  "  tune check ./mine.cu --arch sm_80 --arch sm_90\n"
                  "  tune check reduce --size n=1000 --config threads=64\n")
              .add("size type choice config arch kernel json")
              .arguments({"kernel"}),
          [](const Given& given) { return Check(given).run(); }};
}

}  // namespace tuner::cli
