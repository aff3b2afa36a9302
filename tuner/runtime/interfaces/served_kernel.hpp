#pragma once
/// Implements tuner::Kernel: its plans, and how a call finds one; and a problem without a call.

#include <functional>
#include <memory>
#include <optional>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/kernel.hpp>
#include <tuner/runtime/background/renewal.hpp>
#include <tuner/runtime/call/call.hpp>
#include <tuner/runtime/call/plan_table.hpp>
#include <tuner/runtime/call/scalar_key.hpp>
#include <tuner/runtime/decide/by_context.hpp>
#include <tuner/runtime/decide/served_device.hpp>
#include <tuner/runtime/decide/serving.hpp>
#include <tuner/runtime/interfaces/launch_recorder.hpp>

namespace tuner::runtime {

class ServedKernel {
 public:
  /// \p use: of its calls; nothing: captured calls are nodes of graphs, and others are single launches.
  ServedKernel(std::shared_ptr<const KernelSpec> of, Choices chosen, std::optional<Use> used_as = std::nullopt)
      : spec(std::move(of)),
        recorder_(LaunchRecorder::wanted_for(spec->name)),
        choices(std::move(chosen)),
        use(used_as),
        scalar_keys_(*spec, choices) {}
  ServedKernel(const ServedKernel&) = delete;
  ServedKernel& operator=(const ServedKernel&) = delete;

  /// See Kernel. A call with a Value waits for its result.
  void launch(const Call& call);
  /// See tuner::record(). \p configuration: what \p launch launches; null: the caller's own kernel.
  void record(const Call& call, const std::function<void()>& launch, const Configuration* configuration = nullptr) {
    recorder_ ? recorder_->record(*spec, choices, call, launch, configuration) : launch();
  }
  /// Returns how many bytes of work space the call's plan needs.
  std::size_t prepare(const Call& call, std::size_t captures);
  /// See PlanTable. Called by Renewal.
  void renew(RenewedPlans which);

  /// \p given, completed with the choices that the kernel was made with.
  Choices completed(Choices given) const {
    given.insert(choices.begin(), choices.end());
    return given;
  }

  const std::shared_ptr<const KernelSpec> spec;

 private:
  const std::unique_ptr<LaunchRecorder> recorder_;  // next to `spec`, which every call reads; null: none

 public:
  const Choices choices;
  const std::optional<Use> use;

 private:
  ScalarKeys scalar_keys_;
  struct InContext {
    explicit InContext(ServedDevice& device_) : device(device_) {}
    ServedDevice& device;
    PlanTable plans;
  };
  struct PlannedCall;
  PlanKey key_for(const Call& call);
  [[gnu::always_inline]] inline void launch_on(PlannedCall& planned, const Call& call);  // on the path of every call

  /// Renewal knows the kernel while this lives.
  struct Registration final : Renewable {
    explicit Registration(ServedKernel& owner) : kernel(owner) { Renewal::process().add(*this); }
    ~Registration() { Renewal::process().remove(*this); }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    const std::string& name() const override { return kernel.spec->name; }
    void renew(RenewedPlans which) override { kernel.renew(which); }
    ServedKernel& kernel;
  };

  ByContext<InContext> contexts_;
  Registration registration_{*this};  // last: another thread uses the other members through it
};

/// A problem without a call, for explain(), run() and tune(), and the device for calls of this thread without pointers.
/// Its context is current while this object lives.
struct ServedProblem {
  /// Throws Error for wrong sizes or choices, and whatever Serving, CallContext and ServedDevice throw.
  ServedProblem(const ServedKernel& kernel, const Sizes& sizes, const Choices& choices)
      : size(problem_of(*kernel.spec, sizes, kernel.completed(choices))) {}

  const int ordinal = Serving::process().ordinal();  // first: refuses a forked child before anything is locked
  const Serving::Terms terms = Serving::process().terms();
  const ProblemSize size;
  const CallContext context{nullptr, ordinal};
  const BesideCaptures allowed{context.name()};
  ServedDevice& device = ServedDevice::of(context.name());
};

}  // namespace tuner::runtime

/// The part of a Kernel that its copies share.
struct [[gnu::visibility("hidden")]] tuner::Kernel::Served final : tuner::runtime::ServedKernel {
  using ServedKernel::ServedKernel;
};
