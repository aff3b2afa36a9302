#pragma once
/// What stands behind a tuner::Kernel: its plans, and the way of a call to one.

#include <functional>
#include <memory>

#include <tuner/runtime/by_context.hpp>
#include <tuner/runtime/launch_captures.hpp>
#include <tuner/runtime/plan_table.hpp>
#include <tuner/runtime/renewal.hpp>
#include <tuner/runtime/served_device.hpp>

namespace tuner::runtime {

class ServedKernel {
 public:
  ServedKernel(std::shared_ptr<const KernelSpec> of, Choices chosen)
      : spec(std::move(of)), captures_(LaunchCaptures::wanted_for(spec->name)), choices(std::move(chosen)) {
    Renewal::process().add(*this);
  }
  ~ServedKernel() { Renewal::process().remove(*this); }
  ServedKernel(const ServedKernel&) = delete;
  ServedKernel& operator=(const ServedKernel&) = delete;

  /// See Kernel. A call with a Value waits for it.
  void launch(const Call& call);
  /// See tuner::capture().
  void capture(const Call& call, const std::function<void()>& launch);
  /// Answers with the bytes of work space of the call's plan.
  std::size_t prepare(const Call& call, std::size_t captures);
  /// See PlanTable. Renewal calls them.
  void renew();
  void renew_what_waits();

  /// \p given, and what the kernel was made with where they leave it open.
  Choices completed(Choices given) const {
    given.insert(choices.begin(), choices.end());
    return given;
  }

  const std::shared_ptr<const KernelSpec> spec;

 private:
  const std::unique_ptr<LaunchCaptures> captures_;  // beside `spec`, which every call reads; null: none

 public:
  const Choices choices;

 private:
  struct InContext {
    explicit InContext(ServedDevice& device_) : device(device_) {}
    ServedDevice& device;
    PlanTable plans;
  };
  struct Way;
  [[gnu::always_inline]] inline void launch_on(Way& way, const Call& call);  // on the path of every call
  void launch_captured(Way& way, const Call& call);

  ByContext<InContext> contexts_;
};

}  // namespace tuner::runtime
